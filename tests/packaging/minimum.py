"""The lowest versions that pyproject.toml admits, as constraints for pip.

``python tests/packaging/minimum.py`` prints them; ``make minimum`` keeps them in minimum.txt.
"""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
FILE = Path(__file__).with_name("minimum.txt")
EXTRAS = ("cli", "plots", "report", "dask", "test")  # what the tests need, and so what is tested
HEAD = "# The lowest versions that pyproject.toml admits: written by `make minimum`, do not edit.\n"


def project() -> dict:
    """The project's table of pyproject.toml."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def lowest(requirement: str) -> str | None:
    """A requirement at its lower bound; None for extras of our own.

    Examples
    --------
    >>> lowest("dask[array]>=2025.1"), lowest("bestk[plots]")
    ('dask==2025.1', None)
    """
    found = re.match(r"([\w.-]+)(?:\[[\w,-]+\])?(?:>=([\w.]+))?$", requirement)
    if found is None or (found[2] is None and found[1] != "bestk"):
        raise ValueError(f"{requirement!r} has no lower bound; write it as name>=version")
    return None if found[1] == "bestk" else f"{found[1]}=={found[2]}"


def constraints() -> str:
    """All of them, a line each."""
    table = project()
    extras = table["optional-dependencies"]
    wanted = [*table["dependencies"], *(entry for name in EXTRAS for entry in extras[name])]
    lines = sorted({line for entry in wanted if (line := lowest(entry))}, key=str.lower)
    return HEAD + "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(constraints(), end="")
