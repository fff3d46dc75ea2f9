"""The public measures: a table and a target in, an array of nats out."""

from typing import Any, Literal

import numpy as np
from numpy.typing import DTypeLike, NDArray

from bestk._checks import choice
from bestk.data.codes import encode, read_continuous_target, read_target
from bestk.data.table import read_column, read_table
from bestk.information import measures
from bestk.information._fixed_point import Correction
from bestk.information._gaussian import GaussianSource
from bestk.information._scores import ScoredTable
from bestk.information.entropies import Entropies
from bestk.native.threads import threads

Floats = NDArray[np.float64]
Information = Literal["discrete", "gaussian"]
TargetKind = Literal["auto", "classes", "continuous"]


def mutual_information(X: Any, y: Any, **options: Any) -> Floats:
    """Mutual information of each column with the class, ``I(Xi; Y)``, in nats.

    Parameters
    ----------
    X : table of shape (n_samples, n_features)
        Discrete columns: whole numbers from 0 up, booleans, strings or categories. Numeric
        columns of any kind with ``information="gaussian"``.
    y : sequence of n_samples
        The classes.
    **options
        As for :func:`cmi_matrix`.

    Returns
    -------
    ndarray of shape (n_features,)

    Examples
    --------
    >>> mutual_information([[0, 1], [0, 0], [1, 1], [1, 0]], ["no", "no", "yes", "yes"])
    array([0.69314718, 0.        ])
    """
    options.pop("dtype", None)
    return measure_table(X, y, **options).mi()


def joint_mi_matrix(X: Any, y: Any, *, dtype: DTypeLike = np.float64, **options: Any) -> Floats:
    """Information of each pair of columns about the class, ``I(Xi, Xj; Y)`` at ``[i, j]``.

    The matrix is symmetric, with ``I(Xi; Y)`` on its diagonal.

    Parameters
    ----------
    X, y, dtype, **options
        As for :func:`cmi_matrix`.

    Returns
    -------
    ndarray of shape (n_features, n_features)

    Examples
    --------
    Neither column says anything about their exclusive or; both together say it all.

    >>> joint_mi_matrix([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0])
    array([[0.        , 0.69314718],
           [0.69314718, 0.        ]])
    """
    return measure_table(X, y, **options).joint_mi(dtype=dtype)


def cmi_matrix(
    X: Any,
    y: Any,
    *,
    symmetric: bool = False,
    dtype: DTypeLike = np.float64,
    **options: Any,
) -> Floats:
    """What each column adds to each other one: the matrix Q of the quadratic problem.

    ``Q[i, i] = I(Xi; Y)`` and ``Q[i, j] = I(Xj; Y | Xi)``, in nats.

    Parameters
    ----------
    X : table of shape (n_samples, n_features)
        A numpy array, pandas, polars or pyarrow table, sparse matrix or list of rows. With
        ``information="discrete"`` its columns are whole numbers from 0 up, booleans, strings
        or categories; discretise numbers first, for example with :class:`bestk.CAIM`.
    y : sequence of n_samples
        The classes, of any discrete type; numbers for a continuous target.
    symmetric : bool, default=False
        Give ``(Q + Q') / 2``, which has the same value x'Qx for every choice of columns.
    dtype : float64 (default) or float32
        Type of the result. Counts and sums are exact in both.
    information : {"discrete", "gaussian"}, default="discrete"
        Count the levels of discrete columns, or take numeric ones as jointly normal within and
        over classes, after a rank-to-normal transform.
    target : {"auto", "classes", "continuous"}, default="auto"
        What y is. "auto" takes numbers with a fractional part as continuous, which needs
        ``information="gaussian"``, and all else as classes.
    correction : {None, "miller-madow", "chance"}, default=None
        Take the bias of small samples from the estimates. "miller-madow" adds
        (occupied cells - 1) / 2m to each entropy. "chance" subtracts, from the information of
        each column and each pair, the exact average over all orders of the labels; what is
        left may be negative.
    missing : {"category", "error"}, default="category"
        Missing values are a level of their own, or refused. Gaussian information has no levels:
        there a missing value stands at the mean of its column and so says nothing.
    backend : {"auto", "native", "torch", "dask", "numpy"}, default="auto"
        Counting backend: "auto" is "native", compiled kernels on the CPU; "torch" uses a GPU and
        gives the same bits
        (``pip install 'bestk[gpu]'``), "torch:cuda" insists on one; "dask" uses the workers of the
        current ``distributed.Client`` (``pip install 'bestk[dask]'``), with
        the same bits again; "numpy" is the slow reference.
    n_jobs : int, default=None
        Threads: None and -1 for all cores.

    Returns
    -------
    ndarray of shape (n_features, n_features)

    References
    ----------
    H. Venkateswara, P. Lade, B. Lin, J. Ye, S. Panchanathan, "Efficient approximate solutions
    to mutual information based global feature selection", ICDM 2015.

    Examples
    --------
    A copy adds nothing to its original; the third column completes both.

    >>> X = [[0, 0, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1]]
    >>> cmi_matrix(X, ["a", "b", "c", "d"]).round(3)
    array([[0.693, 0.   , 0.693],
           [0.   , 0.693, 0.693],
           [0.693, 0.693, 0.693]])
    """
    entropies = measure_table(X, y, **options)
    Q = entropies.measure(measures.SYMMETRIC_CMI if symmetric else measures.CMI, dtype=dtype)
    np.fill_diagonal(Q, entropies.mi())
    return Q


def measure_table(
    X: Any,
    y: Any,
    *,
    information: Information = "discrete",
    target: TargetKind = "auto",
    correction: Correction | None = None,
    missing: str = "category",
    backend: str = "auto",
    n_jobs: int | None = None,
) -> Entropies:
    """Read a table and its target, and make their entropies ready."""
    choice(target, "target", ("auto", "classes", "continuous"))
    choice(information, "information", ("discrete", "gaussian"))
    if information == "gaussian":
        return _gaussian(X, y, target, correction, missing, n_jobs)
    if target == "continuous":
        raise ValueError(
            "a continuous target has no classes to count; pass information='gaussian', "
            "or discretise y, e.g. EqualFrequency().fit_transform(y.reshape(-1, 1))"
        )
    codes = encode(X, missing=missing)
    return Entropies.count(codes, read_target(y, codes.n_samples), backend, correction, n_jobs)


def _gaussian(
    X: Any,
    y: Any,
    target: TargetKind,
    correction: Correction | None,
    missing: str,
    n_jobs: int | None,
) -> Entropies:
    """Entropies of numeric columns; missing values take the mean of their column's scores."""
    table = read_table(X, missing=missing)
    values, places = table.numeric()
    if len(places) < table.n_features:
        first = int(np.argmax(table.kinds != "numeric"))
        raise ValueError(
            f"column {table.names[first]!r} is {table.kinds[first]}, and information='gaussian' is "
            "for numbers; drop it, encode it as numbers, or use information='discrete'"
        )
    if target == "continuous" or (target == "auto" and _is_fractional(y)):
        goal: Any = read_continuous_target(y, table.n_samples)
    else:
        goal = read_target(y, table.n_samples)
    with threads(n_jobs):
        source = GaussianSource(ScoredTable(values, goal), correction=correction)
        return Entropies(*source.singles(), source, correction is not None, n_jobs)


def _is_fractional(y: Any) -> bool:
    """Whether y is of numbers with a fractional part."""
    values = read_column(y).values
    return bool(values.dtype.kind == "f" and (values != np.floor(values)).any())
