"""Files with damaged bytes, and commands of odd words: read, or refused with advice."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestk.tables.files import load
from bestk.tables.sources import open_source
from hardening.arguments.words import TABLES, run_command, spell
from hardening.readers.seeds import SUFFIXES, make_seeds

from .law import REFUSED, attempt, budget, refused

SEEDS = make_seeds()
DAMAGE = st.tuples(st.integers(0, 10**4), st.integers(0, 255))
ARROW = next(seed[1:] for seed in SEEDS if SUFFIXES[seed[0]] == ".arrow")


def load_first(path):
    """Load a file, whose first column is the target."""
    source = open_source(path)
    return load(source, next(iter(source.types)))


@budget(4)
@given(seed=st.sampled_from(SEEDS), damage=st.lists(DAMAGE, max_size=4), cut=st.integers(0, 10**4))
def test_a_damaged_file_is_read_or_refused_with_advice(tmp_path_factory, seed, damage, cut):
    content = bytearray(seed[1:])
    for at, byte in damage:
        content[at % len(content)] = byte
    path = tmp_path_factory.getbasetemp() / f"damaged{SUFFIXES[seed[0]]}"
    path.write_bytes(content if cut % 2 else content[: cut % len(content)])
    loaded = attempt(load_first, path)
    if loaded is not REFUSED:
        rows = loaded.table.n_samples
        assert len(loaded.y) == rows
        assert all(len(block.values) == rows for block in loaded.table.blocks)


@pytest.mark.parametrize(
    ("was", "becomes"),
    [
        (b"\0\0\0\0\1\0\0\0\2\0\0\0", b"\0\0\0\0\xff\xff\xff\x7f\2\0\0\0"),  # where words end
        (
            b"\0\0\0\0\1\0\0\0\0\0\0\0\0\0\0\0",
            b"\0\0\0\0\1\0\0\1\0\0\0\0\0\0\0\0",
        ),  # codes of words
    ],
)
def test_an_arrow_file_whose_offsets_lead_elsewhere_is_refused(tmp_path, was, becomes):
    path = tmp_path / "t.arrow"
    places = [at for at in range(len(ARROW)) if ARROW.startswith(was, at)]
    assert places
    path.write_bytes(ARROW[: places[-1]] + becomes + ARROW[places[-1] + len(was) :])
    refused(load_first, path)


@budget(1)
@given(data=st.binary(min_size=1, max_size=10))
def test_a_command_of_odd_words_does_its_work_or_says_what_is_wrong(tmp_path_factory, data):
    folder = tmp_path_factory.getbasetemp()
    for name, text in TABLES.items():
        (folder / name).write_text(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        run_command(spell(data))
