"""Fitted estimators of each release, pickled, with what they have to answer."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_wine
from sklearn.naive_bayes import GaussianNB

import bestk
from bestk import CAIM, MDLP, EqualFrequency, EqualWidth, SelectBestK, SelectBestKCV, Sigma, select

FOLDER = Path(__file__).parents[2] / "tests" / "golden" / "pickles"


def fitted() -> dict[str, Any]:
    """One of each kind of thing that people keep in a file."""
    X, y = load_wine(return_X_y=True)
    made = {
        "default": SelectBestK(k=4),
        "tpower": SelectBestK(k=4, method="tpower"),
        "jmi": SelectBestK(k=4, method="jmi"),
        "auto": SelectBestK(k="auto"),
        "cv": SelectBestKCV(GaussianNB(), ks=[2, 4, 6], cv=3),
        **{type(each).__name__: each for each in (CAIM(), MDLP(), Sigma())},
        **{type(each).__name__: each for each in (EqualWidth(), EqualFrequency())},
    }
    return {name: each.fit(X, y) for name, each in made.items()} | {
        "solution": select(X, y, k=4, method="tpower")
    }


def answers(things: dict[str, Any]) -> dict[str, Any]:
    """What each of them says of the table it was fitted to."""
    X, _ = load_wine(return_X_y=True)
    return {
        name: each.support if name == "solution" else np.asarray(each.transform(X))
        for name, each in things.items()
    }


def write() -> Path:
    """Keep the estimators and the answers of this version."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    things = fitted()
    path = FOLDER / f"{bestk.__version__}.pickle"
    path.write_bytes(pickle.dumps(things, protocol=4))
    np.savez_compressed(path.with_suffix(".npz"), **answers(things))
    return path
