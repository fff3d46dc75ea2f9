"""The page of peers says what was tried, and marks what was not."""

import csv
import re

import peers_page
import pytest
from evidence import peers


@pytest.fixture
def lines(results):
    with (results / "peers.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def page(folder):
    peers_page.write(folder / "generated")
    return (folder / "generated" / "peers.rst").read_text()


def test_every_peer_stands_there_with_its_version_and_date(results, lines):
    text = page(results)
    for line in lines:
        assert peers.shown(line["peer"]) in text
        assert line["version"] in text
        assert line["released"].replace("-", peers.HYPHEN) in text


def test_what_is_by_documentation_is_under_its_own_heading(results, lines):
    before, after = page(results).split("From documentation only\n")
    for name in peers.names(lines, "documentation"):
        assert f"- {name}\n" not in before
        assert f"- {name}\n" in after


@pytest.mark.parametrize(("heading", "heads"), [("Inputs", peers.TAKES), ("Features", peers.DOES)])
def test_answers_are_those_of_the_record(results, lines, heading, heads):
    after = page(results).split(f"\n{heading}\n")[1]
    table = re.split(r"^-+$", after, flags=re.MULTILINE)[1]
    for name in peers.names(lines, "run"):
        row = table.split(f"- {peers.shown(name)}\n")[1].split("* -")[0]
        cells = [cell.split("\n")[0].strip(" *") for cell in row.split("     -")[1:]]
        assert cells == [peers.answer(lines, name, probe)["answer"] for probe in heads]


def test_an_error_message_cannot_break_the_markup():
    told = {"peer": "a", "probe": "pandas", "answer": "no", "basis": "run"}
    text = peers.seen([told | {"evidence": "TypeError: `x_` *is* |not|"}], "run")
    assert r"TypeError: \`x\_\` \*is\* \|not\|" in text.replace(peers.BREAK, "")


def test_a_no_without_a_story_is_left_out_of_what_was_seen():
    told = {"peer": "a", "probe": "forced in", "answer": "no", "basis": "run"}
    assert "forced in" not in peers.seen([told | {"evidence": "no parameter for it"}], "run")


def test_times_go_from_the_fastest_to_the_slowest(lines):
    seconds = [float(line["answer"]) for line in peers.timed(lines)]
    assert seconds == sorted(seconds)
    assert len(seconds) > 5


def test_peers_tried_beside_other_packages_are_named(results, lines):
    older = {line["peer"] for line in lines if "numpy 1." in line["beside"]}
    sentence = page(results).split("Run with ")[1].split("\n\n")[0]
    assert older
    assert all(name in sentence for name in older)


def test_a_missing_record_leaves_a_note_with_the_command_that_makes_it(results):
    (results / "peers.csv").unlink()
    assert "run ``python -m benchmarks.peers``" in page(results)
