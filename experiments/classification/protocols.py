"""The protocols: which values are selected from, and how the classifier is trained and tested."""

from dataclasses import dataclass, replace
from typing import Literal

from experiments.datasets import Dataset

WITH_STATES = ("colon", "leukemia", "lung", "lymphoma")  # from the page of mRMR, as three states
# What features are selected from: measured values cut by CAIM; where a version of three states
# exists, the states as they are, or the states cut by CAIM. A key of stored selections.
Source = Literal["paper", "authors", "states"]


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
        return self.source if name in WITH_STATES else "paper"


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
EVERY = PROTOCOLS | ABLATIONS


def with_values(found: Dataset, source: Source) -> Dataset:
    """The data set with the values that a source has: measured, or three states."""
    if source == "paper":
        return found
    if found.states is None:
        raise ValueError(f"{found.source} has no version of three states, X_disc")
    return replace(found, X=found.states)
