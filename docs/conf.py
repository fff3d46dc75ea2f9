"""Configuration of the documentation."""

import sys
from pathlib import Path

import bestk

sys.path.insert(0, str(Path(__file__).parent))
import methods_page

project = "bestk"
author = "the bestk developers"
copyright = "2026, the bestk developers"
release = version = bestk.__version__
extensions = ["sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.mathjax", "numpydoc",
              "myst_parser"]  # fmt: skip
autosummary_generate = True
numpydoc_show_class_members = False
html_theme = "pydata_sphinx_theme"
html_title = "bestk"
exclude_patterns = ["_build"]
nitpicky = False


def setup(app: object) -> None:
    """Write the pages that are made from the library."""
    methods_page.write(Path(__file__).parent / "generated")
