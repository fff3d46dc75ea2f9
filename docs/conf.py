"""Configuration of the documentation."""

import bestk

project = "bestk"
author = "the bestk developers"
copyright = "2026, the bestk developers"
release = version = bestk.__version__
extensions = ["sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.mathjax", "numpydoc"]
autosummary_generate = True
numpydoc_show_class_members = False
html_theme = "pydata_sphinx_theme"
html_title = "bestk"
exclude_patterns = ["_build"]
nitpicky = False
