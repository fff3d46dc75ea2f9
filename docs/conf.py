"""Configuration of the documentation."""

import sys
from pathlib import Path
from typing import Any

import bestk

sys.path.insert(0, str(Path(__file__).parents[1]))  # the experiments load data
sys.path.insert(0, str(Path(__file__).parent))
import gallery
import methods_page
import peers_page
import performance_page
import tested_page

project = "bestk"
author = "the bestk developers"
copyright = "2026, the bestk developers"
release = version = bestk.__version__
extensions = ["sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.mathjax", "numpydoc",
              "myst_parser", "sphinx_gallery.gen_gallery"]  # fmt: skip
autosummary_generate = True
numpydoc_show_class_members = False
sphinx_gallery_conf = gallery.settings()
html_theme = "pydata_sphinx_theme"
html_title = "bestk"
exclude_patterns = ["_build"]
nitpicky = False


def setup(app: Any) -> None:
    """Write the pages that are generated from the library and the benchmark records."""
    for page in (methods_page, performance_page, peers_page, tested_page):
        page.write(Path(__file__).parent / "generated")
    app.connect("source-read", gallery.say_what_was_not_run)
    app.connect("autodoc-process-docstring", gallery.list_examples, priority=900)  # after numpydoc
