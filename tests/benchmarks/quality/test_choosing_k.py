"""How k="auto" is compared with other k."""

from benchmarks.quality import choosing_k


def test_auto_stands_beside_every_k_below_the_number_of_columns(tmp_path, monkeypatch, capsys):
    def first_columns(settings, rows, k):
        return list(range(3 if k == "auto" else k))

    monkeypatch.setattr(choosing_k, "select_own", first_columns)
    out = tmp_path / "k.csv"
    assert choosing_k.main(["--sets", "credit-0", "--out", str(out)]) == 0
    lines = out.read_text().splitlines()
    assert [line.split(",")[2:4] for line in lines[1:]] == [
        ["1", "1"], ["2", "2"], ["5", "5"], ["10", "10"], ["20", "20"], ["auto", "3"]
    ]  # fmt: skip
    assert "credit-0" in capsys.readouterr().out


def test_the_line_of_a_table_names_the_k_of_auto_and_the_best():
    rows = [{"set": "a", "rule": 1, "k": 1, "auc": 0.6, "log_loss": 0.1},
            {"set": "a", "rule": 5, "k": 5, "auc": 0.8, "log_loss": 0.9},
            {"set": "a", "rule": "auto", "k": 2, "auc": 0.7, "log_loss": 0.5}]  # fmt: skip
    assert "auto: k =   2, 0.700; best: k =   5, 0.800" in choosing_k.describe(rows)
