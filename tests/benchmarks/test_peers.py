"""Probes of peers: a fair question has the right answer, and the record keeps it."""

import signal
from time import sleep

import numpy as np
import pytest

from benchmarks.peers import answers, record, tables
from benchmarks.peers.apart import LateError, alarm
from benchmarks.peers.peer import LacksError, Peer
from benchmarks.peers.probes import PROBES
from benchmarks.peers.registry import PEERS
from benchmarks.peers.times import time_peers


def picks_these(*columns, **more):
    return Peer("made up", "numpy", "pick(X, y, k)", lambda X, y, k: list(columns), **more)


def ask(probe, peer):
    return answers.ask(PROBES[probe], peer)


def test_the_telling_columns_of_the_table_say_most():
    from bestk import mutual_information

    order = np.argsort(-mutual_information(tables.codes(), tables.classes()))
    assert set(order[:2]) == set(tables.TELLING)


def test_a_peer_that_picks_the_telling_columns_has_found_them():
    assert ask("finds", picks_these(7, 1, 4)).answer == "yes"
    assert ask("finds", picks_these("column_7", "column_4")) == answers.yes("gives names")


@pytest.mark.parametrize(
    ("picks", "answer"), [((7, 1, 2), "partly"), ((0, 1, 2), "no"), (range(12), "no")]
)
def test_picking_others_or_all_is_not_finding(picks, answer):
    assert ask("finds", picks_these(*picks)).answer == answer


def test_an_error_of_the_peer_is_its_answer_in_one_line():
    def fail(X, y, k):
        raise ValueError("two\nlines of <thing object at 0x7f00> " + "and more " * 50)

    found = ask("pandas", Peer("made up", "numpy", "", fail))
    assert found.answer == "no"
    assert found.evidence.startswith("ValueError: two lines of <thing object> and more")
    assert len(found.evidence) == answers.LONGEST


def test_what_a_peer_lacks_is_told_in_its_own_words():
    for probe in ("forced in", "column groups", "stability"):
        assert ask(probe, picks_these(4, 7)) == answers.no("no parameter for it")
    assert ask("continuous target", picks_these(4, 7)) == answers.no("for classes only")
    assert ask("pipeline", picks_these(4, 7)) == answers.no("a function, not an estimator")


def test_weights_that_are_taken_but_change_nothing_are_no_weights():
    deaf = picks_these(4, 7, weigh=lambda X, y, k, w: [4])
    assert ask("sample weights", deaf).answer == "no"


def test_weights_that_must_be_whole_numbers_are_half_an_answer():
    def weigh(X, y, k, w):
        if not np.issubdtype(w.dtype, np.integer):
            raise TypeError("whole numbers, please")
        return [tables.TELLING[0] if w[0] > w[-1] else tables.TELLING[1]]

    assert ask("sample weights", picks_these(4, 7, weigh=weigh)).answer == "partly"


def test_picks_that_change_from_run_to_run_are_not_deterministic():
    turns = iter(range(10))
    restless = Peer("made up", "numpy", "", lambda X, y, k: [next(turns)])
    assert ask("deterministic", restless).answer == "partly"
    assert ask("deterministic", picks_these(1, 2)).answer == "yes"


def test_bestk_answers_the_questions_it_claims_to():
    ours = PEERS["bestk"]
    claimed = ("finds", "pandas", "polars", "sparse", "missing values", "strings",
               "continuous target", "forced in", "several targets", "column groups", "stability",
               "pipeline", "column limit", "own scorer", "pair matrix", "bound")  # fmt: skip
    assert {probe: ask(probe, ours).answer for probe in claimed} == dict.fromkeys(claimed, "yes")


def test_a_selector_that_keeps_all_columns_is_no_help_to_a_model_with_a_limit():
    from sklearn.feature_selection import SelectKBest, VarianceThreshold

    everything = picks_these(4, 7, make=lambda k: VarianceThreshold())
    assert ask("column limit", everything) == answers.no("a model of at most 1 columns gets 12")
    assert ask("own scorer", everything).answer == "no"
    some = picks_these(4, 7, make=lambda k: SelectKBest(k=k))
    assert ask("column limit", some).answer == "yes"
    assert ask("own scorer", some).answer == "partly"


def test_a_pipeline_is_exported_by_both_tools_or_partly():
    for package in ("skops", "skl2onnx", "onnxruntime"):
        pytest.importorskip(package)
    from sklearn.preprocessing import FunctionTransformer

    assert ask("export", PEERS["bestk"]) == answers.yes("skops; ONNX")
    first = picks_these(4, 7, make=lambda k: FunctionTransformer(lambda X: X[:, :2]))
    assert ask("export", first).answer in ("no", "partly")
    assert ask("export", picks_these(4, 7)).answer == "no"


def test_every_peer_is_named_once_and_says_how_it_is_called():
    assert all(name == peer.name and peer.usage for name, peer in PEERS.items())


def test_a_probe_that_takes_too_long_is_stopped():
    with pytest.raises(LateError), alarm(1):
        sleep(30)
    assert signal.alarm(0) == 0


def test_a_new_row_takes_the_place_of_the_old_one_of_the_same_probe(tmp_path):
    path = tmp_path / "peers.csv"
    old, other = (
        record.Row("a", "1", "", probe, "no", "", "run") for probe in ("pandas", "polars")
    )
    record.write([old, other], path)
    new = record.Row("a", "2", "", "pandas", "yes", "it, does", "run")
    assert record.write([new], path) == record.read(path) == [new, other]


def test_what_is_known_by_documentation_says_so():
    rows = record.documented()
    assert {row.basis for row in rows} == {"documentation"}
    assert {row.probe for row in rows} <= set(PROBES)
    assert not {row.peer for row in rows} & set(PEERS)


def test_the_record_holds_every_probe_of_every_peer():
    found = {(row.peer, row.probe) for row in record.read() if row.basis == "run"}
    apart = {"arfs MRMR", "dwave-scikit-learn-plugin"}  # not in the environment of the newer probes
    newer = {"several targets", "column groups", "stability"}
    newer |= {"column limit", "own scorer", "export"}
    asked = {(peer, probe) for peer in PEERS for probe in PROBES}
    assert {(a, b) for a, b in asked - found if not (a in apart and b in newer)} == set()


def test_a_timed_peer_has_a_row_with_seconds_and_a_failing_one_its_error():
    def fail(X, y, k):
        raise LacksError("nothing to run")

    quick = picks_these(1, criteria=lambda: {"first": lambda X, y, k: [1], "second": fail})
    first, second = time_peers([quick], rounds=1)
    assert first.probe == "time: first"
    assert float(first.answer) >= 0
    assert second.answer == "no"
    assert "nothing to run" in second.evidence
