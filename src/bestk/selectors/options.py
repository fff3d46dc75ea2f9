"""Options: every parameter of a selector, checked and resolved once."""

from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, Protocol

import numpy as np

from bestk.errors import ParameterError, UnknownNameError
from bestk.information.estimators import ESTIMATORS, BlockEstimator, Estimator, EstimatorSettings
from bestk.methods.forward import BlockForward
from bestk.methods.registry import get_method
from bestk.tables.dataset import NamedColumns, refuse_covariates_of_their_own


class SharedParameters(Protocol):
    """The parameters that all selectors of k features have; see :class:`bestk.SelectBestK`."""

    method: Any
    information: str
    discretizer: Any
    correction: Any
    categorical_features: Any
    target: str
    multioutput: str
    include: Any
    exclude: Any
    covariates: Any
    column_groups: Any
    k_counts: str
    bound: Any
    time_limit: float | None
    random_state: Any
    backend: str
    n_jobs: int | None
    verbose: Any


@dataclass(frozen=True, kw_only=True)
class Options:
    """All parameters of a selector, resolved; the only thing that later steps know about it."""

    method: Any
    """A :class:`Method`, or a selector, a ranking or a function of the user's own."""

    estimator: Estimator
    """What measures a dataset."""

    columns: NamedColumns
    """The columns that the user names for a purpose."""

    columns_are_codes: bool
    """Whether numbers are codes of categories, as with ``discretizer=None``."""

    target: str
    """What y is: "auto", "classes" or "continuous"."""

    multioutput: str
    """What several targets make: "sum", "min" or "union"."""

    k_counts_columns: bool
    """Whether k counts the columns of column groups, and not the groups."""

    bound: Any
    """Effort for an upper bound: "fast", "tight" or None."""

    time_limit: float | None
    """Seconds for the solver."""

    seed: int | None
    """The random seed of everything; None: results are the same each time."""

    n_jobs: int | None
    verbose: bool | int

    k: float | str | None = None
    """A number of features, a fraction of the columns, or "auto"; None where others choose it."""

    threshold: float | None = None
    """The least new information, in nats, that each selected feature must have."""

    scoring: Any = None
    """A scorer for k="auto"; None: log loss or mean squared error."""

    cv: Any = None
    """The folds of k="auto"; None: the default ones."""

    @classmethod
    def of(
        cls,
        parameters: SharedParameters,
        *,
        k: float | str | None = None,
        threshold: float | None = None,
        scoring: Any = None,
        cv: Any = None,
        target: str | None = None,
    ) -> "Options":
        """Resolve the parameters of a selector; ``target`` replaces that of the selector."""
        method = get_method(parameters.method)
        return cls(
            method=method,
            estimator=_estimator_of(method, parameters, k),
            columns=NamedColumns(
                include=parameters.include,
                exclude=parameters.exclude,
                covariates=parameters.covariates,
                categorical_features=parameters.categorical_features,
                column_groups=parameters.column_groups,
            ),
            columns_are_codes=(
                parameters.discretizer is None and parameters.information != "gaussian"
            ),
            target=parameters.target if target is None else target,
            multioutput=parameters.multioutput,
            k_counts_columns=parameters.k_counts == "columns",
            bound=parameters.bound,
            time_limit=parameters.time_limit,
            seed=seed_of(parameters.random_state),
            n_jobs=parameters.n_jobs,
            verbose=parameters.verbose,
            k=k,
            threshold=threshold,
            scoring=scoring,
            cv=cv,
        )

    def with_threads(self, n_jobs: int) -> "Options":
        """The same options, with so many threads."""
        return replace(self, n_jobs=n_jobs, estimator=self.estimator.with_threads(n_jobs))


def seed_of(random_state: Any) -> Any:
    """A number in place of a random state, which would give another one each time."""
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31))
    return random_state


def is_method(method: Any) -> bool:
    """Whether something selects from information, and not from a table."""
    return hasattr(method, "select_path")


def refuse_covariates(method: Any) -> None:
    """Refuse covariates with a method that does not adjust for them."""
    if not isinstance(method, BlockForward):
        raise ParameterError(
            f"covariates work with method='auto' alone, the default, and not with {method!r}: pass "
            "no method, or pass include= in place of covariates=, which selects these columns "
            "first, as the first of the k"
        )


def _estimator_of(method: Any, parameters: SharedParameters, k: float | str | None) -> Estimator:
    """The estimator that a user asks for, or the one that belongs to the method."""
    if parameters.covariates is not None:
        refuse_covariates_of_their_own(parameters.covariates)
        refuse_covariates(method)
    if parameters.information != "auto" and parameters.information not in ESTIMATORS:
        raise UnknownNameError("information", parameters.information, ("auto", *ESTIMATORS))
    settings = EstimatorSettings(
        discretizer=parameters.discretizer,
        correction=parameters.correction,
        backend=parameters.backend,
        n_jobs=parameters.n_jobs,
        worst=parameters.multioutput == "min",
        n_selected=int(k) if isinstance(k, Integral) else 0,
        time_limit=parameters.time_limit,
    )
    if isinstance(method, BlockForward):
        if parameters.information != "auto":
            raise ParameterError(
                f"information={parameters.information!r} does not go with method='auto', which "
                "reads every column as a block of numbers; leave it out, or pass another method, "
                "such as method='mrmr'"
            )
        return BlockEstimator(method.constants, settings)
    name_for_method = getattr(method, "information", "discrete")
    name = name_for_method if parameters.information == "auto" else parameters.information
    if name != "blend" and isinstance(settings.discretizer, str) and settings.discretizer == "auto":
        # The discretizer of the paper.
        settings = replace(settings, discretizer="caim")
    if name == "discrete" and name_for_method == "blend" and settings.correction is None:
        # A blend is corrected for chance; counts alone have to be, too.
        settings = replace(settings, correction="chance")
    return ESTIMATORS[name](settings)
