"""Text that is read as float64, watched for whole numbers that this would round."""

from typing import Any

from numpy.typing import NDArray

from bestk.data.files._arrow import WrongTypeError
from bestk.data.files._source import Source
from bestk.data.files._text import TextSource
from bestk.data.whole import beyond


def is_unsure(source: Source) -> bool:
    """Whether only the first rows of a text have said that a column is of floats."""
    return isinstance(source, TextSource) and not source.settled


def refuse_rounded(values: NDArray[Any], source: Source) -> None:
    """Say that columns may be of another type, where they hold numbers that may be rounded."""
    if values.dtype.kind == "f" and len(beyond(values)):
        raise WrongTypeError(f"{source.path} holds numbers beyond 2**53, which may be whole")
