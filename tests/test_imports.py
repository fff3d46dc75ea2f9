"""Private modules are imported by their own package only; pyproject.toml has the layers."""

import grimp


def package(module: str) -> str:
    """The top-level package of a module, such as ``bestk.solvers``."""
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
    graph.add_import(importer="bestk.selection.pipeline", imported="bestk.solvers._exact")
    graph.add_import(importer="bestk.solvers.search", imported="bestk.solvers._exact")
    graph.add_import(importer="bestk.solvers.search", imported="bestk._checks")
    assert private_imports(graph) == {("bestk.selection.pipeline", "bestk.solvers._exact")}
