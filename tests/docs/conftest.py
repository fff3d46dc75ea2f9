"""Pages are written by modules of ``docs``, which import each other by their plain names."""

import shutil
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs"))


@pytest.fixture
def results(tmp_path, monkeypatch):
    """A copy of the records that a test may change."""
    from evidence import records

    for path in records.RESULTS.glob("*.csv"):
        shutil.copy(path, tmp_path)
    monkeypatch.setattr(records, "RESULTS", tmp_path)
    return tmp_path
