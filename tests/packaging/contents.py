"""What is in a wheel and an sdist: ``python tests/packaging/contents.py dist``.

A second folder may hold a wheel that pip has made of the sdist: it is to be the same.
"""

import sys
import tarfile
import zipfile
from email.parser import Parser
from pathlib import Path

IN_WHEEL = {
    "bestk/__init__.py",
    "bestk/py.typed",
    "bestk/report/templates/page.html",
    "bestk/report/templates/style.css",
    "bestk/report/templates/page.js",
    "bestk/report/templates/heatmap.js",
}
IN_SDIST = {
    "pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md",
    "Makefile", "conftest.py", "hatch_build.py", "src/bestk/native/bestk.h",
    "src/bestk/py.typed", "src/bestk/report/templates/page.html",
    "tests/conftest.py", "tests/packaging/smoke.py", "docs/index.rst", "examples/demo.py",
    "benchmarks/__init__.py", "experiments/__init__.py", "hardening/__init__.py",
}  # fmt: skip
SMALL = 8_000_000  # bytes of an sdist: it has code and pictures, and no data


def check_wheel(path: Path) -> None:
    """The package, its page and its licence, and nothing else."""
    with zipfile.ZipFile(path) as wheel:
        names = set(wheel.namelist())
        info = next(name.split("/")[0] for name in names if ".dist-info/" in name)
        text = wheel.read(f"{info}/METADATA").decode()
        scripts = wheel.read(f"{info}/entry_points.txt").decode()
    assert names >= IN_WHEEL, f"not in the wheel: {sorted(IN_WHEEL - names)}"
    assert f"{info}/licenses/LICENSE" in names, "the licence is not in the wheel"
    others = {name for name in names if not name.startswith(("bestk/", info))}
    assert not others, f"in the wheel, and should not be: {sorted(others)}"
    tests = {name for name in names if any(part.startswith("test") for part in name.split("/"))}
    built = {name for name in names if name.endswith(".pyc")} | tests
    assert not built, f"in the wheel, and should not be: {sorted(built)}"
    n_libraries = sum("/_kernels" in name for name in names)
    assert n_libraries == (3 if "x86_64" in path.name or "amd64" in path.name else 1), n_libraries
    assert "-py3-none-" in path.name, f"{path.name} is not for every Python"
    assert "bestk = bestk.cli:main" in scripts
    check_metadata(text)


def check_metadata(text: str) -> None:
    """What an index shows of the project."""
    told = Parser().parsestr(text)
    assert told["License-Expression"] == "BSD-3-Clause"
    assert told["Description-Content-Type"] == "text/markdown"
    assert told.get_payload().startswith("# bestk"), "the readme is not the description"
    classifiers = told.get_all("Classifier")
    lowest = told["Requires-Python"].removeprefix(">=")
    versions = [
        name for name in classifiers if name.startswith("Programming Language :: Python :: 3.")
    ]
    assert versions[0].endswith(lowest), f"{versions[0]} is not the lowest, {lowest}"
    assert "Typing :: Typed" in classifiers


def check_sdist(path: Path) -> None:
    """All that its own tests need."""
    with tarfile.open(path) as sdist:
        sizes = {m.name.split("/", 1)[1]: m.size for m in sdist.getmembers() if m.isfile()}
    assert not any("/_kernels" in name for name in sizes), "a compiled library is in the sdist"
    assert sizes.keys() >= IN_SDIST, f"not in the sdist: {sorted(IN_SDIST - sizes.keys())}"
    built = [name for name in sizes if name.endswith(".pyc")]
    assert not built, f"in the sdist, and should not be: {built}"
    assert path.stat().st_size < SMALL, f"{path} has {path.stat().st_size} bytes"


def check_same(first: Path, second: Path) -> None:
    """Two wheels with the same files, but for libraries that are compiled by other compilers."""
    with zipfile.ZipFile(first) as one, zipfile.ZipFile(second) as other:
        files = [{entry.filename: entry.CRC for entry in each.infolist()} for each in (one, other)]
    odd = {name for name, _ in files[0].items() ^ files[1].items()}
    odd -= {name for name in files[0].keys() & files[1].keys() if "/_kernels" in name}
    odd = {name for name in odd if not name.endswith(("/RECORD", "/WHEEL"))}
    assert not odd, f"{first} and {second} differ in {sorted(odd)}"


def main(folder: Path, *others: Path) -> None:
    """Check the only wheel and the only sdist of a folder."""
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    check_wheel(wheel)
    check_sdist(sdist)
    for other in others:
        check_same(wheel, next(other.glob("*.whl")))
    for path in (wheel, sdist):
        print(f"{path}: as it should be, {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
