"""The modules that faults are put into, and the tests that should fail because of them."""

from pathlib import Path

ELSEWHERE = ("torch", "dask", "__main__")  # they need a GPU, a cluster or a process of their own

# The tests of each package, in ``tests``.
TESTS = {
    "bqp": "test_problem test_lazy test_bounds solvers",
    "cli": "test_cli test_cli_dry_run test_cli_doctor test_output_files",
    "tables": "test_table test_codes test_files test_whole_numbers test_wide_inputs "
    "streaming/test_files streaming/test_fit",
    "diagnosis": "selector/test_cautions selector/test_leaks selector/test_look "
    "selector/test_relevant selector/test_covariates",
    "discretize": "discretize",
    "evaluation": "evaluation",
    "information": "information/test_definition information/test_laws information/test_input "
    "information/test_summary information/test_gaussian information/test_gaussian_laws "
    "information/test_blend information/test_chance information/test_normal_scores "
    "information/test_tiles",
    "methods": "test_objectives test_criteria test_methods test_auto selector",
    "selectors": "test_entropy_reader test_auto selector streaming/test_fit",
}


def modules(root: Path) -> list[str]:
    """The paths of all modules in scope, below src."""
    src = root / "src"
    paths = [path for package in TESTS for path in sorted((src / "bestk" / package).rglob("*.py"))]
    names = [str(path.relative_to(src)) for path in paths]
    return [name for name in names if not any(word in name for word in ELSEWHERE)]


def related(root: Path, module: str) -> list[str]:
    """The test files of the package that a module belongs to."""
    tests = root / "tests"
    found = []
    for name in TESTS[Path(module).parts[1]].split():
        folder = tests / name
        found += sorted(folder.glob("test_*.py")) if folder.is_dir() else [tests / f"{name}.py"]
    return [str(path.relative_to(root)) for path in found if path.exists()]


def nearest(root: Path, module: str) -> list[str]:
    """The related tests that are named like the module; all of them if none is."""
    path = Path(module)
    stem = path.parent.name if path.stem == "__init__" else path.stem.strip("_")
    named = [path for path in related(root, module) if stem in Path(path).stem]
    return named or related(root, module)
