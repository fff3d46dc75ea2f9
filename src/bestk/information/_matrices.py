"""The public measures: a table and a target in, an array of nats out."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from bestk._checks import choice
from bestk._typing import Floats
from bestk.errors import ParameterError
from bestk.information import measures
from bestk.information.entropies import Entropies
from bestk.information.entropy_reader import EntropyReader
from bestk.tables.codes import encode
from bestk.tables.frames import read_table
from bestk.tables.target import TARGETS, drop_weightless, parse_target, read_classes
from bestk.tables.weights import read_weights


def mutual_information(X: Any, y: Any, **options: Any) -> Floats:
    """Mutual information of each column with the class, ``I(Xi; Y)``, in nats.

    Parameters
    ----------
    X, y, **options
        As for :func:`cmi_matrix`.

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

    Examples
    --------
    Neither column alone has information about their exclusive or; together they determine it.

    >>> joint_mi_matrix([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0])
    array([[0.        , 0.69314718],
           [0.69314718, 0.        ]])
    """
    return measure_table(X, y, **options).joint_mi(dtype=dtype)


def cmi_matrix(
    X: Any, y: Any, *, symmetric: bool = False, dtype: DTypeLike = np.float64, **options: Any
) -> Floats:
    """Information of each column beyond each other one: the matrix Q of the quadratic problem.

    ``Q[i, i] = I(Xi; Y)`` and ``Q[i, j] = I(Xj; Y | Xi)``, in nats.

    Parameters
    ----------
    X : table of shape (n_samples, n_features)
        A numpy array, pandas, polars or pyarrow table, sparse matrix or list of rows. With
        ``information="discrete"`` its columns are whole numbers from 0 up, booleans, strings
        or categories; discretise numbers first, for example with :class:`bestk.CAIM`. A missing
        value is a level of its own; in Gaussian information it takes the mean of its column.
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
        What y is, as for :class:`bestk.SelectBestK`; numbers need ``information="gaussian"``.
    correction : {None, "miller-madow", "chance"}, default=None
        Subtract the small-sample bias from estimates by counts. "miller-madow" adds
        (occupied cells - 1) / 2m to each entropy. "chance" subtracts, from the information of
        each column and each pair, the exact average over all orders of the labels; what is
        left may be negative.
    backend : {"auto", "native", "torch", "dask"}, default="auto"
        Counting backend; all give the same bits. "auto" is "native", compiled kernels on the CPU;
        "torch" uses a GPU (``pip install 'bestk[gpu]'``), "torch:cuda" insists on one; "dask" uses
        the workers of the current ``distributed.Client`` (``pip install 'bestk[dask]'``).
    n_jobs : int, default=None
        Threads: None and -1 for all cores.
    sample_weight : array-like of shape (n_samples,), default=None
        How much each row counts, as for :meth:`bestk.SelectBestK.fit`.

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
    information: str = "discrete",
    target: str = "auto",
    sample_weight: Any = None,
    **options: Any,
) -> Entropies:
    """Read a table and its target, and make their entropies ready; see :func:`cmi_matrix`."""
    choice(target, "target", TARGETS)
    choice(information, "information", ("discrete", "gaussian"))
    if information == "discrete" and target == "continuous":
        raise ParameterError(
            "a continuous target has no classes to count; pass information='gaussian', "
            "or discretise y, e.g. EqualFrequency().fit_transform(y.reshape(-1, 1))"
        )
    table = read_table(X)
    if information == "gaussian":
        parsed = parse_target(y, table.n_samples, target, sample_weight)
        table, (parsed,) = drop_weightless(table, (parsed,))
        return EntropyReader(information, target=target, **options).measure(table, parsed).entropies
    weights = read_weights(sample_weight, table.n_samples)
    whole = replace(read_classes(y, table.n_samples), weights=weights)
    table, (counted,) = drop_weightless(table, (whole,))
    return Entropies.count(encode(table), counted.classes, **options)
