"""Which packages are here, and whether they are as new as bestk asks for."""

import re
from dataclasses import asdict, dataclass
from importlib import metadata
from typing import Any

EXTRAS = {
    "files": "Parquet, Feather and Arrow files",
    "plots": "pictures",
    "gpu": "counting on a GPU",
    "dask": "counting on a cluster",
}
COMPILER = ("llvmlite", "numba")  # what we use through another, and that other


@dataclass(frozen=True)
class Package:
    """A package that bestk uses, as it is installed."""

    name: str
    version: str | None  # None: it is not installed
    minimum: str | None  # None: none is declared
    extra: str | None  # what to ask for to get it; None: bestk cannot do without

    @property
    def is_old(self) -> bool:
        """Whether it is older than what is declared."""
        if self.version is None or self.minimum is None:
            return False
        return as_numbers(self.version) < as_numbers(self.minimum)

    @property
    def install(self) -> str:
        """The command that mends what is wrong with it."""
        if self.extra:
            return f"pip install 'bestk[{self.extra}]'"
        return f"pip install --upgrade '{self.name}{f'>={self.minimum}' if self.minimum else ''}'"

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        needs = self.version is None or self.is_old
        return asdict(self) | {"is_old": self.is_old, "install": self.install if needs else None}


def find_packages() -> list[Package]:
    """All packages that the metadata of bestk name, those that it cannot do without first."""
    wanted = list(map(read_requirement, metadata.requires("bestk") or ()))
    name, parent = COMPILER
    wanted.append((name, _minimum_of(name, parent), None))
    return [_found(*each) for extra in (None, *EXTRAS) for each in wanted if each[2] == extra]


def _found(name: str, minimum: str | None, extra: str | None) -> Package:
    try:
        return Package(name, metadata.version(name), minimum, extra)
    except metadata.PackageNotFoundError:
        return Package(name, None, minimum, extra)


def _minimum_of(name: str, parent: str) -> str | None:
    """What another package asks for."""
    try:
        wanted = map(read_requirement, metadata.requires(parent) or ())
    except metadata.PackageNotFoundError:
        return None
    return next((minimum for other, minimum, _ in wanted if other == name), None)


def read_requirement(line: str) -> tuple[str, str | None, str | None]:
    """The name, the least version and the extra of a line of metadata.

    Examples
    --------
    >>> read_requirement("numpy>=2.0")
    ('numpy', '2.0', None)
    >>> read_requirement('dask[array]<2027,>=2025.1; extra == "dask"')
    ('dask', '2025.1', 'dask')
    """
    name = re.match(r"[\w.-]+", line)
    minimum = re.search(r">=\s*([\w.]+)", line.split(";")[0])
    extra = re.search(r"""extra\s*==\s*['"]([\w-]+)""", line)
    return (
        name[0] if name else line,
        minimum[1] if minimum else None,
        extra[1] if extra else None,
    )


def as_numbers(version: str) -> tuple[int, ...]:
    """The numbers that a version begins with, to be compared.

    Examples
    --------
    >>> as_numbers("2.13.0+cpu"), as_numbers("0.50.0dev0") < as_numbers("0.50.1")
    ((2, 13), True)
    """
    found = re.match(r"\d+(\.\d+)*", version)
    numbers = [int(part) for part in found[0].split(".")] if found else [0]
    while len(numbers) > 1 and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)


def python_minimum() -> str | None:
    """The least version of Python that is declared."""
    wanted = metadata.metadata("bestk")["Requires-Python"] or ""
    return read_requirement(f"python{wanted}")[1]
