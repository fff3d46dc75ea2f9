"""From a selector's options, a table and its target to the selected features."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bestk._typing import Floats, Indices
from bestk.bqp.solution import Solution
from bestk.bqp.solvers import Effort
from bestk.errors import ParameterError
from bestk.information.adjustment import Adjustment
from bestk.information.block_information import MeasuredBlocks, measure_blocks
from bestk.information.constants import BlockConstants
from bestk.information.covariates import adjustment_for
from bestk.information.reading import Measured, Reading, cost_of_reading
from bestk.methods.foreign import Foreign, Grouped, read_groups
from bestk.methods.forward import BlockForward
from bestk.methods.method import Method
from bestk.methods.registry import get_method
from bestk.methods.targets import join_measured, unite
from bestk.tables import rows
from bestk.tables.table import Table, find_constant, find_features
from bestk.tables.target import ClassTarget, Target, Targets, drop_weightless, parse_targets


def _no_columns() -> Indices:
    return np.empty(0, np.int64)


def is_method(method: Any) -> bool:
    """Whether something selects from entropies, and not from a table."""
    return hasattr(method, "select_path")


def settle(options: Any) -> Reading:
    """How a table is read for a selector: as it asks for, or as belongs to its method."""
    method, discretizer = get_method(options.method), options.discretizer
    if options.covariates is not None and not isinstance(method, BlockForward):
        raise ParameterError(
            f"covariates work with method='auto' alone, the default, and not with {method!r}: pass "
            "no method, or pass include= in place of covariates=, which selects these columns "
            "first, as the first of the k"
        )
    own = getattr(method, "information", "discrete")
    information = own if options.information == "auto" else options.information
    if own == "blocks" and information != own:
        raise ParameterError(
            f"information={information!r} does not go with method='auto', which reads every column "
            "as a block of numbers; leave it out, or pass another method, such as method='mrmr'"
        )
    if information not in {"blend", "blocks"} and discretizer == "auto":
        discretizer = "caim"  # as in the paper
    correction = options.correction
    if information == "discrete" and own == "blend":  # counts have to do without it
        correction = correction or "chance"
    return Reading(
        information, discretizer, correction, target=options.target, backend=options.backend,
        n_jobs=options.n_jobs,
    )  # fmt: skip


def seed_of(random_state: Any) -> Any:
    """A number in place of a random state, which would give another one each time."""
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31))
    return random_state


def enough_rows(targets: Targets) -> int:
    """The number of rows that the default needs: more where most are of one class."""
    classes = [target.counts for target in targets if isinstance(target, ClassTarget)]
    shares = [1.0 - counts.max() / counts.sum() for counts in classes]
    return max(rows.ENOUGH_ROWS, *(int(rows.ENOUGH_RARE_ROWS / share) for share in shares), 0)


def find_covariates(covariates: Any, table: Table) -> Indices:
    """The places, in rising order, of the columns of a table that are to be adjusted for."""
    if getattr(covariates, "ndim", 1) > 1 or isinstance(covariates, Mapping):
        raise ParameterError(
            f"the parameter covariates names columns of X, by name, index or mask, and is a "
            f"{type(covariates).__name__}; pass a table of covariates to fit(X, y, covariates=), "
            "or add its columns to X, and pass their names"
        )
    return np.unique(find_features(covariates, table))


@dataclass(frozen=True)
class Columns:
    """The columns that options name."""

    allowed: Indices
    included: Indices
    categorical: Indices
    groups: Indices | None = None  # of each column of the table
    covariates: Indices = field(
        default_factory=_no_columns
    )  # that are adjusted for, and never selected

    @classmethod
    def of(cls, options: Any, table: Table) -> "Columns":
        """Find them in a table."""
        excluded = find_features(options.exclude, table)
        included = np.array(list(dict.fromkeys(find_features(options.include, table))), np.int64)
        covariates = find_covariates(options.covariates, table)
        for kind, others in (("included", included), ("excluded", excluded)):
            if len(both := np.intersect1d(covariates, others)):
                raise ParameterError(
                    f"column {table.names[both[0]]!r} is both a covariate and {kind}; a covariate "
                    "is adjusted for and never selected, so choose one"
                )
        groups = None
        if options.column_groups is not None:  # a group is in or out as a whole
            groups = read_groups(options.column_groups, table)
            _refuse_split_groups(groups, covariates, table)
            excluded = np.flatnonzero(np.isin(groups, groups[excluded]))
            included = np.flatnonzero(np.isin(groups, groups[included]))
        if len(both := np.intersect1d(included, excluded)):
            raise ValueError(
                f"column {table.names[both[0]]!r} is both included and excluded; choose one"
            )
        allowed = np.delete(np.arange(table.n_features), np.union1d(excluded, covariates))
        if not len(allowed):
            gone = "a covariate or excluded" if len(covariates) else "excluded"
            raise ValueError(f"every column is {gone}; leave at least one to select from")
        categorical = find_features(options.categorical_features, table)
        return cls(allowed, included, categorical, groups, covariates)

    def adjustment(
        self, table: Table, targets: Targets, constants: BlockConstants
    ) -> Adjustment | None:
        """What is to be subtracted from all columns; None without covariates."""
        if not len(self.covariates):
            return None
        categorical = np.flatnonzero(np.isin(self.covariates, self.categorical))
        return adjustment_for(table.keep(self.covariates), categorical, targets, constants)

    def varying(self, table: Table) -> Indices:
        """The allowed columns without those of one value; all, if no others are left."""
        constant = np.setdiff1d(find_constant(table), self.included, assume_unique=True)
        kept = np.setdiff1d(self.allowed, constant, assume_unique=True)
        return kept if len(kept) else self.allowed

    def reading(self, options: Any, kept: Indices) -> Reading:
        """How the kept columns are to be read."""
        places = np.flatnonzero(np.isin(kept, self.categorical))
        return replace(settle(options), categorical_features=places)


def _refuse_split_groups(groups: Indices, covariates: Indices, table: Table) -> None:
    """Refuse groups of columns of which only some are covariates."""
    with_covariates = np.flatnonzero(np.isin(groups, groups[covariates]))
    others = np.setdiff1d(with_covariates, covariates)
    if len(others):
        raise ParameterError(
            f"column {table.names[others[0]]!r} is in a group with a covariate, and a group is "
            "selected or adjusted for as a whole; name all of its columns in covariates, or none"
        )


@dataclass(frozen=True)
class Task:
    """A table, read and measured, from which some method is to select features."""

    table: Table  # all rows, or a sample of very many
    allowed: Indices  # the features that were measured, in the order of the entropies
    read: Measured | MeasuredBlocks
    method: Any  # a Method, or a selector, ranking or function for Foreign
    include: list[int]  # places among the allowed
    effort: Effort
    constant: Indices  # features of one value, or screened out: selected if no others are left
    targets: Targets = ()  # of each row of the table
    groups: Indices | None = None  # of each column of the table: selected as a whole
    by_columns: bool = False  # whether k counts columns, although there are groups
    union: bool = False  # whether features are selected for each target by itself
    covariates: Indices = field(
        default_factory=_no_columns
    )  # columns that are adjusted for, and never selected
    screened: Floats | None = None  # relevance of every column, where not all were measured
    notes: tuple[str, ...] = ()  # on how the table and the target were read

    @classmethod
    def of(cls, options: Any, table: Table, y: Any, columns: Columns | None = None) -> "Task":
        """Read a table as a selector's parameters say.

        y may be targets that are parsed, with the weights of the rows: rows of weight 0 are not in
        the table of the task.
        """
        targets = parse_targets(y, table.n_samples, options.target)
        table, targets = drop_weightless(table, targets)
        most = n_rows = table.n_samples
        if n_rows > rows.ENOUGH_ROWS and settle(options).information in {"blend", "blocks"}:
            most = enough_rows(targets)
        if n_rows > rows.MIN_LONG_ROWS or n_rows > most:
            table, drawn = rows.draw_rows(table, most, options.random_state)
            if drawn is not None:
                table, targets = table.take(drawn), tuple(target.take(drawn) for target in targets)
        columns, screened = columns or Columns.of(options, table), None
        kept = columns.varying(table)
        reading = columns.reading(options, kept)
        part = table if len(kept) == table.n_features else table.keep(kept)
        worst = options.multioutput == "min"
        more_notes: tuple[str, ...] = ()
        method = get_method(options.method)
        read: Measured | MeasuredBlocks
        if isinstance(method, BlockForward):
            k = getattr(options, "k", None)  # which SelectBestKCV chooses
            blocks = measure_blocks(
                reading,
                part,
                targets,
                method.constants,
                included=np.searchsorted(kept, columns.included),
                most=int(k) if isinstance(k, Integral) else 0,
                grouped=columns.groups is not None,
                worst=worst,
                time_limit=options.time_limit,
                adjustment=columns.adjustment(table, targets, method.constants),
            )
            read, more_notes = blocks.measured, blocks.notes
            if len(blocks.kept) < len(kept):
                screened = np.zeros(table.n_features)
                screened[kept] = blocks.relevance
                kept = kept[blocks.kept]
        else:
            reads = [reading.measure(part, target) for target in targets]
            read = reads[0] if len(reads) == 1 else join_measured(reads, worst)
        spent = len(targets) * cost_of_reading(len(kept), table.n_samples, read.levels)
        task = cls.measured(options, table, columns, kept, read, spent)
        found = [target.note for target in targets]
        union = len(targets) > 1 and options.multioutput == "union"
        notes = (*table.notes, *filter(None, found), *more_notes)
        return replace(task, targets=targets, union=union, notes=notes, screened=screened)

    @classmethod
    def of_rows(cls, options: Any, table: Table, targets: Targets, rows: Indices) -> "Task":
        """Read some rows of a table."""
        return cls.of(options, table.take(rows), tuple(target.take(rows) for target in targets))

    @classmethod
    def measured(
        cls, options: Any, table: Table, columns: Columns, kept: Indices, read: Any,
        spent: float = 0.0,
    ) -> "Task":  # fmt: skip
        """What to select from, once the kept columns have been measured.

        ``spent``: the operations that this took, as many as a default bound may take.
        """
        effort = Effort(seed_of(options.random_state), options.time_limit, options.bound, spent)
        include = np.searchsorted(kept, columns.included).tolist()
        constant = np.setdiff1d(columns.allowed, kept, assume_unique=True)
        return cls(
            table, kept, read, get_method(options.method), include, effort, constant,
            groups=columns.groups, by_columns=options.k_counts == "columns",
            covariates=columns.covariates,
        )  # fmt: skip

    def count(self, columns: Indices) -> int:
        """The number of columns, or of their groups, as k counts them."""
        if self.groups is None:
            return len(columns)
        whole = np.isin(self.groups, self.groups[columns])
        return int(whole.sum()) if self.by_columns else len(np.unique(self.groups[columns]))

    @property
    def most(self) -> int:
        """The number of features to select from; of groups, those with columns that vary."""
        return self.varying + (len(self.constant) if self.groups is None else 0)

    @property
    def varying(self) -> int:
        """The number of features to select from that are not constant."""
        return self.count(self.allowed)

    @property
    def least(self) -> int:
        """The number of features to include."""
        return self.count(self.allowed[self.include])

    @property
    def target(self) -> Target | None:
        """The target, if there is one only."""
        return self.targets[0] if len(self.targets) == 1 else None

    @property
    def parts(self) -> "list[Task]":
        """A task for each target."""
        reads: Sequence[Measured | MeasuredBlocks] = self.read.of_targets()
        return [
            replace(self, read=read, targets=(target,), union=False)
            for read, target in zip(reads, self.targets, strict=True)
        ]

    def solution(self, k: int) -> Solution:
        """The k features, with the information of each."""
        if self.union:
            return self.described(unite([part.solution(k) for part in self.parts]))
        wanted = min(k, self.varying)
        found = self._method().select(self.read.entropies, wanted, self.include, self.effort)
        return self.described(self._placed(found, k))

    def path(self, ks: list[int]) -> list[Solution]:
        """Features for every k, by their places in the table; without bounds and details."""
        if self.union:
            return list(map(unite, zip(*(part.path(ks) for part in self.parts), strict=True)))
        effort, fewer = self.effort._replace(bound=None), [min(k, self.varying) for k in ks]
        once = sorted(set(fewer))
        solutions = self._method().select_path(self.read.entropies, once, self.include, effort)
        found = dict(zip(once, solutions, strict=True))
        return [self._placed(found[n], k) for n, k in zip(fewer, ks, strict=True)]

    def supports(self, reads: Sequence[Measured], k: int) -> list[Indices]:
        """The k features for each of several measurements of the same columns, best first."""
        parts, effort = [read.entropies for read in reads], self.effort._replace(bound=None)
        found = self._method().select_each(parts, min(k, self.varying), self.include, effort)
        return [self._placed(each, k).support for each in found]

    def _method(self) -> Method:
        if self.groups is not None:
            known, labels = np.unique(self.groups[self.allowed], return_inverse=True)
            return Grouped(self.method, labels, np.bincount(self.groups)[known], self.by_columns)
        if is_method(self.method):
            return self.method
        return Foreign(self.method, self.table, self.allowed, self.targets)

    def relevance(self) -> NDArray[np.float64]:
        """I(xi; y) of every column of the table: 0 for constant ones, NaN for excluded ones.

        With covariates, given these; they have NaN.
        """
        relevance = np.full(self.table.n_features, np.nan)
        relevance[self.constant] = 0.0 if self.screened is None else self.screened[self.constant]
        relevance[self.allowed] = self.read.entropies.mi()
        return relevance

    def _placed(self, solution: Solution, k: int) -> Solution:
        """The solution by the places of the table; constant features are added last."""
        support = self.allowed[solution.support]
        added = self.constant[: max(0, k - len(solution.support))]
        if self.groups is not None:
            added = self.constant[np.isin(self.groups[self.constant], self.groups[support])]
        parts = solution.details.get("contribution", np.full(len(solution.support), np.nan))
        details = {**solution.details, "contribution": np.append(parts, np.zeros(len(added)))}
        support = np.append(support, added)
        return replace(solution, support=support, names=self.table.names, details=details)

    def described(self, solution: Solution) -> Solution:
        """The solution with the information of each feature: 0 for constant ones, the last."""
        varying = solution.support[~self.table.mask(self.constant)[solution.support]]
        found = pair_details(self.read, np.searchsorted(self.allowed, varying))
        if more := len(solution.support) - len(varying):
            found = {name: np.pad(values, (0, more)) for name, values in found.items()}
        return replace(solution, details={**solution.details, **found})


def pair_details(read: Measured | MeasuredBlocks, support: Indices) -> Mapping[str, Any]:
    """Information of selected features about y, in nats; ``pairs`` is I(xj; y | xi) at [i, j]."""
    relevance = read.entropies.mi()[support]
    pairs = read.entropies.cmi_among(support)
    np.fill_diagonal(pairs, relevance)
    others = pairs + np.diag(np.full(len(support), np.inf))
    new = others.min(axis=0) if len(support) > 1 else relevance
    return {"relevance": relevance, "new_information": new, "pairs": pairs}
