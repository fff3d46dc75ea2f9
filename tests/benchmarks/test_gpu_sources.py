"""Pages quote figures of a GPU as those of the present code only while that code is unchanged."""

from pathlib import Path

import pytest

from benchmarks.scale.gpu_sources import hash_of_sources, note_part, read_record

ROOT = Path(__file__).parents[2]
# Pages that quote figures of a GPU, and the parts of ``benchmarks.scale.gpu`` that they are from.
PAGES = {
    "README.md": ("default", "products"),
    "docs/gpu.rst": ("default", "home", "products", "select", "streamed"),
    "docs/relevant.rst": ("relevant",),
}
NOTE = "The GPU code has changed since"


@pytest.mark.parametrize("page", PAGES)
def test_a_page_says_so_if_the_gpu_code_has_changed_since_its_figures_were_measured(page):
    record, now = read_record(), hash_of_sources()
    old = [part for part in PAGES[page] if record.get(part) != now]
    has_note = NOTE in " ".join((ROOT / page).read_text(encoding="utf-8").split())
    assert has_note == bool(old), (
        f"{page}: run python -m benchmarks.scale.gpu {' '.join(old)} on a GPU, update the figures "
        f"and delete the sentence that begins {NOTE!r}"
        if old
        else f"{page}: its figures belong to the present code; delete {NOTE!r} ..."
    )


def test_every_page_that_names_a_gpu_is_listed():
    pages = [ROOT / "README.md", *ROOT.glob("docs/*.rst"), *ROOT.glob("docs/*.md")]
    named = {
        path.relative_to(ROOT).as_posix() for path in pages if "H200" in path.read_text("utf-8")
    }
    assert named <= set(PAGES)


def test_docstrings_and_comments_are_no_part_of_the_sources(tmp_path):
    source = tmp_path / "_torch_part.py"
    source.write_text('def f():\n    """Say one thing."""\n    return 1\n')
    before = hash_of_sources(tmp_path)
    source.write_text('def f():\n    """Say another."""\n    return 1  # a comment\n')
    assert hash_of_sources(tmp_path) == before
    source.write_text('def f():\n    """Say another."""\n    return 2\n')
    changed = hash_of_sources(tmp_path)
    assert changed != before
    (tmp_path / "pairs.cu").write_text("__global__ void f() {}\n")
    assert hash_of_sources(tmp_path) != changed


def test_a_part_that_is_measured_belongs_to_the_present_sources(tmp_path):
    record = tmp_path / "gpu_sources.csv"
    record.write_text("part,sources\nhome,0\nselect,1\n")
    note_part("home", record)
    assert read_record(record) == {"home": hash_of_sources(), "select": "1"}
