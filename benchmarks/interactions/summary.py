"""What the record shows, in a few lines each."""

from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats


def summarize(path: Path) -> str:
    """Recovery, false discoveries on permuted targets, and recall beside others."""
    record = pd.read_csv(path)
    parts = {"recovery": _recovery, "fdr": _false_discoveries, "power": _power, "real": _power}
    return "\n\n".join(
        f"{task}\n{show(record[record.task == task])}"
        for task, show in parts.items()
        if (record.task == task).any()
    )


def _recovery(rows: pd.DataFrame) -> str:
    keys = ["problem", "columns", "rows", "method"]
    rows = rows.assign(rows=rows["rows"].replace(834, 833))
    found = rows.groupby(keys).agg(
        best_k=("best_k", "mean"),
        perfect=("best_k", lambda values: (values == 1).sum()),
        runs=("best_k", "size"),
        seconds=("seconds", "median"),
        cpu_seconds=("cpu_seconds", "median"),
        peak_gb=("peak_gb", "max"),
    )
    return str(found.round(3).to_string())


def _false_discoveries(rows: pd.DataFrame) -> str:
    wrong, p = int((rows.found > 0).sum()), rows.random_p
    both = stats.kstest(p, "uniform").pvalue
    small = stats.kstest(p, "uniform", alternative="greater").pvalue
    where = rows[rows.found > 0].problem.value_counts().to_dict()
    return (
        f"{wrong} of {len(rows)} tables with a false discovery: {where}\n"
        f"one p-value of each table, Kolmogorov-Smirnov: {both:.3f}; too small: {small:.3f}"
    )


def _power(rows: pd.DataFrame) -> str:
    found = rows.groupby("method").agg(
        tables=("recall", "size"),
        recall=("recall", "mean"),
        false_share=("false_share", "mean"),
        standard_error=("false_share", lambda values: values.std(ddof=1) / np.sqrt(len(values))),
        seconds=("seconds", "median"),
        cpu_seconds=("cpu_seconds", "median"),
    )
    by = rows.pivot_table(index="problem", columns="method", values=["recall", "false_share"])
    return f"{found.round(3).to_string()}\n\n{by.round(2).to_string()}"
