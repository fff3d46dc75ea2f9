"""The gallery of examples: which are run, in which order, and what is said where they are not."""

import json
import re
from pathlib import Path
from typing import Any

from experiments.datasets import available

EXAMPLES = Path(__file__).parents[1] / "examples"
FOLDERS = ("first_steps", "tables", "going_further")
USES = "generated/examples"  # which names of the library each example uses
DATA = re.compile(r"""datasets\.load\(["'](\w+)["']\)""")
NOT_RUN = """.. note::

   This page was built without the data set "{name}": the example is shown, and was not run. With
   {name}.npz in the folder that ``BESTK_DATA`` names, its results and pictures appear.

"""


def absent() -> dict[str, str]:
    """The examples that load a data set that is not here, and the name of the set."""
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
    """Put a note on top of the page of an example whose data are absent."""
    name = absent().get(Path(docname).name)
    ran = "image-sg" in source[0]  # in an earlier build, where they were not
    if docname.startswith("auto_examples/") and name and not ran:
        source[0] = NOT_RUN.format(name=name) + source[0]


def list_examples(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """After the text of a class or a function: the examples that use it."""
    uses = Path(app.srcdir, USES, "backreferences_all.json")
    if what in ("class", "function") and uses.exists() and name in json.loads(uses.read_text()):
        lines += ["", ".. rubric:: In the gallery", "", f".. minigallery:: {name}", ""]
