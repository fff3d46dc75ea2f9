"""Modules that write pages import each other by their plain names, as Sphinx does."""

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]

collect_ignore = ["auto_examples"]  # copies of the examples, which have tests of their own
