"""Select, compare and report the features of a real table from the shell: ``make demo``."""

import csv
import shlex
import subprocess
import sys
from pathlib import Path

from sklearn.datasets import load_breast_cancer

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
        subprocess.run([sys.executable, "-m", "bestk", *shlex.split(command)], check=True)


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
