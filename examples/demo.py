"""Select, compare and report the features of a real table from the shell: ``make demo``."""

import csv
import shlex
from pathlib import Path

from sklearn.datasets import load_breast_cancer

from bestk.cli import main as bestk

COMMANDS = (
    "select demo.csv --target diagnosis -k 5",
    "select demo.csv --target diagnosis -k 5 --method exact",
    "compare demo.csv --target diagnosis -k 5 --method auto --method maxrel --method jmi "
    "--method tpower",
    "report demo.csv --target diagnosis -k 5 -o demo.html",
)


def main() -> None:
    write_table(Path("demo.csv"))
    print("demo.csv: 569 biopsies, 30 measurements each, and the diagnosis")
    for command in COMMANDS:
        print(f"\n$ bestk {command}\n", flush=True)
        try:
            bestk(shlex.split(command))
        except SystemExit as end:  # as every command ends
            if end.code:
                raise


def write_table(path: Path) -> None:
    """A table as people have them: a line of names, a column of labels."""
    data = load_breast_cancer()
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow([*data.feature_names, "diagnosis"])
        for row, label in zip(data.data, data.target, strict=True):
            rows.writerow([*row.tolist(), data.target_names[label]])


if __name__ == "__main__":
    main()
