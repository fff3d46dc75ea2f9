"""The law: a call returns a valid result, or raises an error that states how to fix it."""

import re
import warnings
from dataclasses import dataclass, field

import pytest
from hypothesis import settings

from bestk import SelectionWarning

SHORTEST = 25  # characters of a message that states what was passed and what is accepted
ADVICE = re.compile(
    r"\b(must|should|needs?|choose|give|pass|use|expected|requires?|required|takes|convert|say|"
    r"only supported|or more|is more than|needed|at least|one of|did you mean|drop|rename|replace|"
    r"fill|read|exclude|leave|repeat|raise|divide|discretise|rescale|install)\b",
    re.IGNORECASE,
)
# messages of Python, numpy and others about their internals
INSIDES = re.compile(
    r"not supported (between|for the input types)|object is not|has no attribute|unhashable|"
    r"out of bounds|could not be broadcast|operand|ufunc|positional argument|truth value|"
    r"setting an array element|cannot convert|invalid literal|zero-size array|"
    r"must be real number|doesn't define|cannot reshape|inhomogeneous",
    re.IGNORECASE,
)
# messages of scikit-learn about tables, which its users know; and of files
KNOWN = re.compile(
    r"^(/\S+ (is|has) (not|no|two|empty) |Input ([Xy] )?contains|Unknown label type|"
    r"Found array with|Found input variables|"
    r"The '\w+' parameter of|Expected 2D array|could not convert string to float|"
    r"Number of labels|n_splits=|Cannot have number of splits|X has \d+ features|"
    r"Complex data not supported|no supported conversion for types)"
)
SCIKIT_LEARNS = ("A column-vector y was passed", "The least populated class in y has only")
OURS = r"k=\d+ is more than the \d+ features? to select from; all are selected"


@dataclass
class Tally:
    """The number of calls, and of those that raised an error."""

    tried: int = 0
    refused: int = 0
    where: dict = field(default_factory=dict)  # calls by name

    def __str__(self):
        return f"fuzz: {self.tried} calls tried, {self.refused} of them refused with advice"


TALLY = Tally()
REFUSED = "refused, with advice"


def attempt(call, *args, **options):
    """The result of a call, or ``REFUSED`` if it raised an error with advice; all else fails."""
    TALLY.tried += 1
    name = getattr(call, "__qualname__", type(call).__name__)
    TALLY.where[name] = TALLY.where.get(name, 0) + 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", OURS)
        warnings.simplefilter("ignore", SelectionWarning)
        for known in SCIKIT_LEARNS:
            warnings.filterwarnings("ignore", known)
        try:
            return call(*args, **options)
        except OSError as error:
            if not error.strerror:  # messages of the system about files are clear
                raise
            TALLY.refused += 1
            return REFUSED
        except (ValueError, TypeError) as error:
            TALLY.refused += 1
            if not is_helpful(error):
                raise AssertionError(f"no advice in {type(error).__name__}: {error}") from error
            return REFUSED


def is_helpful(error):
    """Whether a message states what is accepted, as far as a rule can tell."""
    message = str(error)
    if KNOWN.search(message):
        return True
    return len(message) >= SHORTEST and bool(ADVICE.search(message)) and not INSIDES.search(message)


def refused(call, *args, **options):
    """Fail unless a call raises an error with advice."""
    answer = attempt(call, *args, **options)
    if answer is not REFUSED:
        pytest.fail(f"not refused, but answered with {answer!r}")


def budget(share):
    """A number of examples, as a fraction of that of the profile."""
    return settings(max_examples=max(1, round(share * settings().max_examples)))
