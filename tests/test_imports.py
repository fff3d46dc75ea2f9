"""Private modules are imported by their own package only; pyproject.toml has the layers."""

import sys

import grimp
import numpy as np
import pandas as pd

from bestk import SelectBestK

MAX_VISITED = 36  # modules that a plain fit runs code of


def package(module: str) -> str:
    """The top-level package of a module, such as ``bestk.bqp``."""
    return ".".join(module.split(".")[:2])


def private_imports(graph: grimp.ImportGraph) -> set[tuple[str, str]]:
    """Importer and private module, for every import from another top-level package."""
    return {
        (importer, module)
        for module in graph.modules
        if "._" in module.removeprefix("bestk.")
        for importer in graph.find_modules_that_directly_import(module)
        if package(importer) != package(module)
    }


def test_private_modules_are_imported_by_their_own_package_only():
    assert private_imports(grimp.build_graph("bestk", cache_dir=None)) == set()


def test_an_import_from_another_package_is_found():
    graph = grimp.ImportGraph()
    graph.add_import(importer="bestk.selectors.pipeline", imported="bestk.bqp.solvers._exact")
    graph.add_import(importer="bestk.bqp.path", imported="bestk.bqp.solvers._exact")
    graph.add_import(importer="bestk.bqp.path", imported="bestk._checks")
    assert private_imports(graph) == {("bestk.selectors.pipeline", "bestk.bqp.solvers._exact")}


def test_a_plain_fit_visits_few_modules():
    rng, visited = np.random.default_rng(0), set()
    X = pd.DataFrame(rng.normal(size=(200, 15)), columns=[f"c{i}" for i in range(15)])
    y = (X["c0"] + X["c3"] + rng.normal(size=200) > 0).astype(int)
    SelectBestK(10).fit(X, y)  # imports are done

    def visit(frame, event, arg):
        if event == "call":
            visited.add(frame.f_globals.get("__name__", ""))

    before = sys.getprofile()
    sys.setprofile(visit)
    try:
        SelectBestK(10).fit(X, y)
    finally:
        sys.setprofile(before)
    ours = {name for name in visited if name.startswith("bestk")}
    assert len(ours) <= MAX_VISITED, sorted(ours)
