"""The modules that faults are put into, and the tests that should see them."""

from pathlib import Path

PLACES = (
    *("bestk/information", "bestk/solvers", "bestk/bounds", "bestk/evaluation"),
    *("bestk/discretize", "bestk/objectives.py", "bestk/criteria.py"),
)
ELSEWHERE = ("torch", "dask")  # they have runs of their own

# The tests nearest to a module, by the beginning of its path: the longest that fits counts.
NEAREST = {
    "bestk/bounds": "test_bounds solvers/test_sdp",
    "bestk/bounds/_leading": "solvers/test_large test_bounds",
    "bestk/criteria": "test_criteria",
    "bestk/discretize": "discretize/test_errors discretize/test_laws discretize/test_plain_python",
    "bestk/discretize/_base": "discretize/test_errors discretize/test_laws "
    "discretize/test_scikit_learn",
    "bestk/discretize/_caim": "discretize/test_caim discretize/test_laws",
    "bestk/discretize/_coded": "discretize/test_coded",
    "bestk/discretize/_mdlp": "discretize/test_mdlp discretize/test_laws",
    "bestk/discretize/_scheme": "discretize/test_caim discretize/test_mdlp discretize/test_laws "
    "discretize/test_plain_python",
    "bestk/discretize/_sigma": "discretize/test_unsupervised discretize/test_laws",
    "bestk/discretize/_unsupervised": "discretize/test_unsupervised discretize/test_laws",
    "bestk/evaluation": "evaluation/test_curves",
    "bestk/evaluation/_classifier": "evaluation/test_error_curves",
    "bestk/evaluation/_compare": "evaluation/test_compare",
    "bestk/evaluation/_curves": "evaluation/test_curves",
    "bestk/evaluation/_error_curves": "evaluation/test_error_curves",
    "bestk/evaluation/_keep": "evaluation/test_keep",
    "bestk/evaluation/_shared": "evaluation/test_shared evaluation/test_error_curves",
    "bestk/evaluation/_stability": "evaluation/test_stability",
    "bestk/evaluation/_study": "evaluation/test_error_curves",
    "bestk/information": "information/test_definition information/test_laws information/test_input",
    "bestk/information/_blend": "information/test_blend",
    "bestk/information/_chance": "information/test_chance streaming/test_counts",
    "bestk/information/_gaussian": "information/test_gaussian information/test_gaussian_laws",
    "bestk/information/_normal_scores": "information/test_normal_scores information/test_gaussian",
    "bestk/information/_tiles": "information/test_tiles information/test_gaussian_laws",
    "bestk/information/backends": "information/test_definition information/test_summary "
    "information/test_laws",
    "bestk/objectives": "test_objectives",
    "bestk/solvers": "solvers/test_referee",
    "bestk/solvers/_auto": "solvers/test_simple solvers/test_referee",
    "bestk/solvers/_base": "solvers/test_simple solvers/test_referee",
    "bestk/solvers/_branch": "solvers/test_exact",
    "bestk/solvers/_burer_monteiro": "solvers/test_sdp",
    "bestk/solvers/_exact": "solvers/test_exact",
    "bestk/solvers/_fixed": "solvers/test_fixed",
    "bestk/solvers/_greedy": "solvers/test_simple solvers/test_sampled",
    "bestk/solvers/_islands": "solvers/test_walks solvers/test_search",
    "bestk/solvers/_linear": "solvers/test_simple solvers/test_sampled",
    "bestk/solvers/_lowrank": "solvers/test_lowrank",
    "bestk/solvers/_referee": "solvers/test_referee solvers/test_fixed solvers/test_large",
    "bestk/solvers/_sdp": "solvers/test_sdp",
    "bestk/solvers/_search": "solvers/test_search",
    "bestk/solvers/_simplex": "solvers/test_simplex solvers/test_large",
    "bestk/solvers/_spectral": "solvers/test_simple solvers/test_large",
    "bestk/solvers/_spheres": "solvers/test_sdp",
    "bestk/solvers/_swap": "solvers/test_swap",
    "bestk/solvers/_tabu": "solvers/test_walks solvers/test_search",
    "bestk/solvers/_tpower": "solvers/test_simple solvers/test_sampled solvers/test_large",
}
# What else may see a fault that those let pass.
RELATED = {
    "bestk/bounds": "solvers/test_exact solvers/test_referee",
    "bestk/criteria": "test_objectives test_methods",
    "bestk/discretize": "discretize test_reading",
    "bestk/evaluation": "evaluation selector/test_choose_k selector/test_selector_cv",
    "bestk/information": "information/test_definition information/test_laws information/test_input "
    "information/test_summary information/test_gaussian information/test_gaussian_laws "
    "information/test_blend test_objectives test_criteria",
    "bestk/objectives": "test_criteria test_methods selector/test_selector",
    "bestk/solvers": "solvers test_bounds selector/test_default",
}


def modules(root: Path) -> list[str]:
    """The paths of all modules in scope, below src."""
    src = root / "src"
    paths = [p for place in PLACES for p in [src / place, *sorted((src / place).rglob("*.py"))]]
    names = [str(p.relative_to(src)) for p in paths if p.suffix == ".py"]
    return [n for n in names if not any(word in n for word in ELSEWHERE)]


def nearest(module: str) -> list[str]:
    """The tests nearest to a module."""
    return _paths(_longest(NEAREST, module))


def related(module: str) -> list[str]:
    """Those and every other test of what it belongs to."""
    return list(dict.fromkeys([*nearest(module), *_paths(_longest(RELATED, module))]))


def _longest(tests: dict[str, str], module: str) -> str:
    return tests[max((start for start in tests if module.startswith(start)), key=len)]


def _paths(tests: str) -> list[str]:
    ends = {name: "" if "test_" not in name else ".py" for name in tests.split()}
    return [f"tests/{name}{end}" for name, end in ends.items()]
