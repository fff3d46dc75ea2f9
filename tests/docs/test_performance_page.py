"""The page of performance says what the records say, and nothing else."""

import csv
import re
from pathlib import Path

import performance_page
import pytest
from evidence import markup

ROOT = Path(__file__).parents[2]
RECORDS = ("counting", "selectors", "front_end", "solvers", "scale", "growth", "rows", "cluster",
           "gpu", "quality_times")  # fmt: skip


def page(folder):
    performance_page.write(folder / "generated")
    return (folder / "generated" / "performance.rst").read_text()


def lines_of(folder, name):
    with (folder / f"{name}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def rewrite(folder, name, lines):
    with (folder / f"{name}.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(lines[0]))
        writer.writeheader()
        writer.writerows(lines)


@pytest.mark.parametrize("name", RECORDS)
def test_each_record_is_told_with_its_machine_date_commit_and_command(results, name):
    text = page(results)
    assert f"``benchmarks/results/{name}.csv``" in text
    for line in lines_of(results, name):
        assert line["commit"] in text
        assert line.get("machine", line.get("cpu")) in text
    assert re.search(rf"Command: ``python -m benchmarks\S*``. Record: ``\S+{name}\.csv``", text)


def test_times_of_all_contenders_are_those_of_the_record(results):
    text = page(results)
    cases = [line for line in lines_of(results, "counting") if line["part"] == "cases"]
    cases = [line for line in cases if line["kind"] != "limit"]
    assert all(markup.seconds(float(line["seconds_min"])) in text for line in cases)
    selections = [line for line in lines_of(results, "selectors") if line["part"] == "peers"]
    selections = [line for line in selections if line["seconds_min"]]  # others failed
    assert all(markup.seconds(float(line["seconds_min"])) in text for line in selections)


def test_a_changed_record_changes_the_page(results):
    lines = lines_of(results, "counting")
    first = next(i for i, line in enumerate(lines) if line["contender"] == "bestk")
    before = page(results)
    lines[first]["seconds_min"] = "0.123456"
    rewrite(results, "counting", lines)
    assert f"123{markup.SPACE}ms" not in before.split("A whole selection")[0]
    assert f"123{markup.SPACE}ms" in page(results).split("A whole selection")[0]


def test_the_distance_to_the_limit_is_the_ratio_of_two_times_of_the_record(results):
    found = {(line["case"], line["contender"]): float(line["seconds_min"])
             for line in lines_of(results, "counting") if line["part"] == "cases"}  # fmt: skip
    case = next(iter(found))[0]
    ratio = found[case, "bestk"] / found[case, "limit: AND+popcount"]
    row = page(results).split("the whole call, table to matrix\n")[1].split("\n")[0]
    assert row.strip() == f"- {markup.digits(ratio, 2)}"


def test_a_faster_peer_is_said_to_be_faster(results):
    lines = lines_of(results, "selectors")
    peer = next(line for line in lines if line["part"] == "peers" and line["kind"] == "peer")
    peer["seconds_min"] = "1e-6"
    rewrite(results, "selectors", lines)
    section = page(results).split("Where other packages are faster\n")[1]
    assert f"{peer['contender']} takes 1{markup.SPACE}µs" in section


@pytest.mark.parametrize("name", RECORDS)
def test_a_missing_record_leaves_a_note_with_the_command_that_makes_it(results, name):
    (results / f"{name}.csv").unlink()
    text = page(results)
    assert re.search(
        rf"No record ``benchmarks/results/{name}\.csv``: run ``python -m benchmarks", text
    )


def test_an_empty_record_is_told_to_be_empty(results):
    path = results / "rows.csv"
    path.write_text(path.read_text().split("\n")[0] + "\n")
    assert "``benchmarks/results/rows.csv`` is empty" in page(results)


def test_every_picture_on_the_page_is_there(results):
    names = re.findall(r"image:: ../../benchmarks/results/(\S+)", page(results))
    assert names
    assert all((ROOT / "benchmarks" / "results" / name).exists() for name in names)


@pytest.mark.parametrize(
    ("value", "text"),
    [(2e-7, "0.2 µs"), (0.0015, "1.5 ms"), (0.9996, "1 s"), (12.34, "12.3 s"), (26923, "26,900 s")],
)
def test_times_are_written_with_a_unit_and_three_digits(value, text):
    assert markup.seconds(value).replace(markup.SPACE, " ") == text


def test_an_unchanged_page_is_not_written_again(tmp_path):
    path = tmp_path / "page.rst"
    markup.write(path, "text")
    before = path.stat().st_mtime_ns
    markup.write(path, "text")
    assert path.stat().st_mtime_ns == before
