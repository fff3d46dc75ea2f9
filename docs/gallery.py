"""The gallery of examples: which are run, their order, and a note on those that are not."""

import json
import re
from pathlib import Path
from typing import Any

from experiments.datasets import available

EXAMPLES = Path(__file__).parents[1] / "examples"
FOLDERS = ("first_steps", "tables", "going_further")
USES = "generated/examples"  # the names of the library that each example uses
DATA = re.compile(r"""datasets\.load\(["'](\w+)["']\)""")
NOT_RUN = """.. note::

   This page was built without the data set "{name}", so the example was not run. To see its
   results, set ``BESTK_DATA`` to a folder that contains {name}.npz.

"""


def absent() -> dict[str, str]:
    """The examples whose data set is missing, with its name."""
    named = {path.stem: DATA.findall(path.read_text()) for path in EXAMPLES.glob("*/plot_*.py")}
    return {stem: name for stem, names in named.items() for name in names if not available(name)}


def settings() -> dict[str, Any]:
    """The configuration of sphinx-gallery; files that do not match its pattern are not run."""
    skipped = "".join(rf"(?!{stem}\.py)" for stem in sorted(absent()))
    return {
        "examples_dirs": "../examples",
        "gallery_dirs": "auto_examples",
        "filename_pattern": rf"[/\\]{skipped}plot_",
        "ignore_pattern": r"demo\.py",
        "subsection_order": [f"../examples/{folder}" for folder in FOLDERS],
        "backreferences_dir": USES,
        "doc_module": ("bestk",),
        "image_srcset": ["2x"],
        "remove_config_comments": True,
        "min_reported_time": 10**6,  # times differ from build to build
        "write_computation_times": False,
        "show_signature": False,
    }


def say_what_was_not_run(app: Any, docname: str, source: list[str]) -> None:
    """Add a note at the top of the page of an example whose data set is missing."""
    name = absent().get(Path(docname).name)
    ran = "image-sg" in source[0]  # in an earlier build
    if docname.startswith("auto_examples/") and name and not ran:
        source[0] = NOT_RUN.format(name=name) + source[0]


def list_examples(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """List the examples that use a class or function below its docstring."""
    uses = Path(app.srcdir, USES, "backreferences_all.json")
    if what in ("class", "function") and uses.exists() and name in json.loads(uses.read_text()):
        lines += ["", ".. rubric:: Gallery examples", "", f".. minigallery:: {name}", ""]
