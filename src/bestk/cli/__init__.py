"""The ``bestk`` command, which needs the packages of the extra ``cli``."""

import sys
from importlib.util import find_spec

MISSING = [name for name in ("click", "rich", "pyarrow") if find_spec(name) is None]

if MISSING:

    def main() -> None:
        """Print how to install the missing packages."""
        names = ", ".join(MISSING)
        text = f"the bestk command needs {names}; run: pip install 'bestk[cli]'"
        print(f"bestk: error: {text}", file=sys.stderr)
        sys.exit(2)
else:
    from bestk.cli._main import main as main
