"""How long to try: a moment in every test run, hours with ``--hypothesis-profile=long``."""

import json
import os
from pathlib import Path

from hypothesis import HealthCheck, settings

from .law import TALLY

settings.register_profile(
    "long",
    deadline=None,
    max_examples=int(os.environ.get("BESTK_FUZZ_EXAMPLES", "3000")),
    derandomize=False,
    print_blob=True,
    suppress_health_check=list(HealthCheck),
)


def pytest_terminal_summary(terminalreporter):
    if TALLY.tried:
        terminalreporter.write_line(f"{TALLY}")


def pytest_sessionfinish():
    """Leave the numbers where a long trial finds them."""
    if path := os.environ.get("BESTK_FUZZ_TALLY"):
        Path(path).write_text(json.dumps(vars(TALLY)))
