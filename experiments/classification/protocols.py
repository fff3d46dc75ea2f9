"""The protocols: which values are selected from, and how the classifier is trained and tested."""

from dataclasses import dataclass, replace
from itertools import permutations
from typing import Literal

import numpy as np

from experiments.datasets import Dataset

WITH_STATES = ("colon", "leukemia", "lung", "lymphoma")  # from the page of mRMR, as three states
# What features are selected from: measured values cut by CAIM; where a version of three states
# exists, the states as they are, or the states cut by CAIM; Promoter's letters as numbers in some
# order, cut by CAIM. A key of stored selections.
Source = str
LETTERS = "acgt"  # Promoter's, in the order of its codes
ORDERS = tuple("".join(p) for p in permutations(LETTERS) if p < p[::-1])


@dataclass(frozen=True)
class Protocol:
    """How features are selected, and how the classifier is trained and tested."""

    title: str
    source: Source
    svm: Literal["mixed", "liblinear", "svc"]
    scaling: Literal["all", "train"]  # rows over which columns are standardised
    nested: bool = False  # features are selected inside each fold

    def source_of(self, name: str) -> Source:
        """What the features of a data set are selected from."""
        return self.source if name in WITH_STATES or self.source in ORDERS else "paper"


AUTHORS = Protocol("the authors' pipeline", "authors", "liblinear", "all")
PROTOCOLS = {
    "authors": AUTHORS,
    "paper": Protocol("the text as it reads", "paper", "mixed", "train"),
    "nested": Protocol("features selected inside each fold", "paper", "mixed", "train", True),
}
ABLATIONS = {
    "one-vs-one": replace(AUTHORS, title="pairs of classes, hinge loss (LIBSVM)", svm="svc"),
    "train-scaled": replace(AUTHORS, title="z-scores over the training rows", scaling="train"),
    "caim": replace(AUTHORS, title="states cut by CAIM", source="states"),
    "measured": replace(AUTHORS, title="measured values cut by CAIM", source="paper"),
}
CODINGS = {
    f"coded-{order}": replace(AUTHORS, title=f"letters in the order {order}", source=order)
    for order in ORDERS
}
EVERY = PROTOCOLS | ABLATIONS | CODINGS


def with_values(found: Dataset, source: Source) -> Dataset:
    """The data set with the values that a source has: measured, states, or letters as numbers."""
    if source == "paper":
        return found
    if source in ORDERS:
        places = np.array([source.index(letter) for letter in LETTERS])
        return replace(found, X=places[found.X], nominal=False)
    if found.states is None:
        raise ValueError(f"{found.source} has no version of three states, X_disc")
    return replace(found, X=found.states)
