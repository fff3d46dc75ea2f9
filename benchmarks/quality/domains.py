"""Made-up tables of particular fields: genes, words, pixels, surveys, processes, clinics, shops.

They are drawn like those of ``tables``: columns of no group are independent of the target and of
all relevant columns. Seeds 0-2 are for tuning and seeds 300-302 for judging; of the sorted names
every third family is for judging only. The rule was fixed before any result.
"""

from collections.abc import Callable
from hashlib import sha256
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.quality.problem import Half, Kind, Problem
from benchmarks.quality.tables import Draft, Floats

TUNE_SEEDS = range(3)
JUDGE_SEEDS = range(300, 303)
EVERY_THIRD = 3


def clicks(draft: Draft) -> NDArray[Any]:
    """Rare counts and categories of a shop, 5% buyers: 10 relevant columns of 60."""
    for _ in range(6):
        visits = _rare_counts(draft)
        draft.score += 0.8 * np.minimum(visits, 3)
        draft.add("relevant", [visits], group=True)
    for levels in (4, 12, 60, 100):
        draft.add("relevant", [draft.category(levels, 0.6)], group=True)
    for _ in range(38):
        draft.add("noise", [_rare_counts(draft)])
    for levels in (2, 3, 5, 8, 12, 20, 40, 60, 80, 100, 150, 200):
        draft.add("noise", [draft.category(levels)])
    return draft.classes(1.6, positives=0.05)


def clinic(draft: Draft) -> NDArray[Any]:
    """Laboratory values with gaps, rare conditions and codes: 12% events among 400 patients."""
    for direction in (1.0, -1.0, 0.8, -0.8, 0.6):
        value = draft.normal()
        draft.score += direction * value
        draft.add("laboratory", [draft.with_missing(np.exp(value), 0.15)], group=True)
    for share in (0.05, 0.1, 0.2):
        condition = draft.rng.random(draft.rows) < share
        draft.score += 1.5 * condition
        draft.add("condition", [condition.astype(float)], group=True)
    draft.add("ward", [draft.category(6, 0.6)], group=True)
    for values in np.exp(0.8 * draft.block(20, 0.4)).T:
        draft.add("noise", [draft.with_missing(values, 0.2)])
    for share in np.linspace(0.02, 0.3, 20):
        draft.add("noise", [(draft.rng.random(draft.rows) < share).astype(float)])
    for levels in (3, 5, 9, 14):
        draft.add("noise", [draft.category(levels)])
    return draft.classes(1.8, positives=0.12)


def counted_events(draft: Draft) -> NDArray[Any]:
    """A target of small counts: 8 relevant columns of 48, log-linear."""
    draft.relevant_blocks(8, 1, 0.0)
    draft.noise_blocks(5, 8, 0.6)
    rate = np.exp(0.2 + 0.5 * draft.standard_score())
    return draft.rng.poisson(rate).astype(float)


def expression(draft: Draft) -> NDArray[Any]:
    """120 samples of 3 types, 1,500 genes in pathways of 15: two pathways mark each type."""
    types = draft.rng.integers(3, size=draft.rows)
    for pathway in range(6):
        marked = types == pathway % 3
        values = draft.block(15, 0.5) + 1.2 * marked[:, np.newaxis]
        draft.add("relevant", [*np.exp(values).T], group=True)
    for _ in range(94):
        draft.add("noise", [*np.exp(draft.block(15, 0.5)).T])
    return types


def fingerprints(draft: Draft) -> NDArray[Any]:
    """250 molecules, 400 bits of which many repeat others with few errors; 8 groups count."""
    for _ in range(8):
        bit = draft.rng.random(draft.rows) < draft.rng.uniform(0.15, 0.5)
        draft.score += draft.rng.choice([-1.0, 1.0]) * bit
        draft.add("relevant", _repeats(draft, bit, 4), group=True)
    for _ in range(92):
        bit = draft.rng.random(draft.rows) < draft.rng.uniform(0.1, 0.5)
        draft.add("noise", _repeats(draft, bit, 4))
    return draft.numbers(0.6)


def near_copies(draft: Draft) -> NDArray[Any]:
    """Three strong columns with seven near copies each, six weak columns and 36 of noise."""
    for _ in range(3):
        strong = draft.normal()
        draft.score += 1.0 * strong
        copies = [strong + 0.02 * draft.normal() for _ in range(8)]
        draft.add("strong", copies, group=True)
    for _ in range(6):
        weak = draft.normal()
        draft.score += 0.45 * weak
        draft.add("weak", [weak], group=True)
    draft.noise_blocks(4, 9, 0.6)
    return draft.classes(2.0)


def pixels(draft: Draft) -> NDArray[Any]:
    """Five shapes in images of 16 x 16 pixels: three tiles of 4 x 4 show parts of the shapes."""
    shapes = draft.rng.integers(5, size=draft.rows)
    for tile in range(16):
        pattern = draft.block(16, 0.6)
        if tile < 3:
            brightness = draft.rng.normal(size=(5, 16))
            pattern += 0.4 * brightness[shapes]
        gray = np.clip(np.round(8 + 4 * pattern), 0, 16)
        draft.add("relevant" if tile < 3 else "noise", [*gray.T], group=tile < 3)
    return shapes


def process(draft: Draft) -> NDArray[Any]:
    """A plant: steps, hinges, optima and lines of 10 settings among 50, for a yield."""
    settings = draft.normal(10)
    steps = (settings[:, :3] > np.array([-0.5, 0.3, 0.8])).sum(axis=1)
    hinges = np.maximum(settings[:, 3:5] - 0.2, 0.0).sum(axis=1)
    optima = -(settings[:, 5:7] ** 2).sum(axis=1) / 2
    lines = settings[:, 7:] @ np.array([0.7, -0.6, 0.5])
    draft.score += 1.4 * steps + 1.2 * hinges + optima + lines
    for values in settings.T:
        draft.add("relevant", draft.disguise(values[:, np.newaxis])[:1], group=True)
    draft.noise_blocks(5, 8, 0.7)
    return draft.numbers(0.6)


def response_of_genes(draft: Draft) -> NDArray[Any]:
    """90 samples, 1,000 genes in pathways of 10: five pathways explain 60% of a response."""
    for _ in range(5):
        pathway = draft.normal()
        draft.score += draft.rng.choice([-1.0, 1.0]) * pathway
        genes = [pathway + 0.7 * draft.normal() for _ in range(10)]
        draft.add("relevant", genes, group=True)
    for _ in range(95):
        draft.add("noise", [*draft.block(10, 0.6).T])
    return draft.numbers(0.6)


def survey(draft: Draft) -> NDArray[Any]:
    """Answers from 1 to 5: 4 of 14 traits of four questions, a region and a job; three opinions."""
    for trait in range(14):
        opinion = draft.normal()
        relevant = trait < 4
        if relevant:
            draft.score += draft.rng.choice([-1.0, 1.0]) * opinion
        questions = [_answer(draft, opinion) for _ in range(4)]
        draft.add("relevant" if relevant else "noise", questions, group=relevant)
    draft.add("region", [draft.category(8, 0.7)], group=True)
    draft.add("job", [draft.category(25, 0.7)], group=True)
    for levels in (2, 3, 4, 6, 10, 18, 30):
        draft.add("noise", [draft.with_missing(draft.category(levels), 0.1)])
    opinion = 1.3 * draft.standard_score() + draft.rng.logistic(size=draft.rows)
    return np.digitize(opinion, np.quantile(opinion, [0.4, 0.75]))


def word_counts(draft: Draft) -> NDArray[Any]:
    """Counts of 400 words in 500 texts on four subjects: ten words are frequent in each."""
    subjects = draft.rng.integers(4, size=draft.rows)
    length = draft.rng.lognormal(0.0, 0.4, draft.rows)
    for subject in range(4):
        for rate in draft.rng.uniform(0.05, 0.4, 10):
            frequent = np.where(subjects == subject, 3.0, 1.0)
            draft.add("relevant", [_word(draft, rate * frequent)], group=True)
    for rank in range(360):
        rate = 3.0 / (rank + 2)
        draft.add("noise", [_word(draft, rate * (length if rank < 100 else 1.0))])
    return subjects


def yes_or_no(draft: Draft) -> NDArray[Any]:
    """Rules: the class is likely where two of three conditions hold; 12 columns count of 60."""
    for _ in range(4):
        values = draft.normal(3)
        holds = (values > 0.4).sum(axis=1) >= 2
        draft.score += 1.5 * holds
        for column in values.T:
            draft.add("relevant", draft.disguise(column[:, np.newaxis])[:1], group=True)
    draft.noise_blocks(6, 8, 0.6)
    return draft.classes(2.0)


def _rare_counts(draft: Draft) -> Floats:
    """Counts of which nine in ten are zero."""
    rate = 0.1 * draft.rng.lognormal(0.0, 0.8, draft.rows)
    return draft.rng.poisson(rate).astype(float)


def _word(draft: Draft, rate: Floats | float) -> Floats:
    return draft.rng.poisson(rate, draft.rows).astype(float)


def _repeats(draft: Draft, bit: NDArray[np.bool_], copies: int) -> list[Floats]:
    """A bit several times, with errors in 0 to 5% of the rows."""
    errors = np.linspace(0.0, 0.05, copies)
    flips = [draft.rng.random(draft.rows) < error for error in errors]
    return [np.where(flip, ~bit, bit).astype(float) for flip in flips]


def _answer(draft: Draft, opinion: Floats) -> Floats:
    """An answer from 1 to 5 that depends on an opinion; a few are missing."""
    heard = opinion + 0.8 * draft.normal()
    return draft.with_missing(np.digitize(heard, [-1.2, -0.4, 0.4, 1.2]) + 1.0, 0.03)


DOMAINS: dict[str, Callable[[Draft], NDArray[Any]]] = {
    "clicks": clicks,
    "clinic": clinic,
    "counted_events": counted_events,
    "expression": expression,
    "fingerprints": fingerprints,
    "near_copies": near_copies,
    "pixels": pixels,
    "process": process,
    "response_of_genes": response_of_genes,
    "survey": survey,
    "word_counts": word_counts,
    "yes_or_no": yes_or_no,
}
TRAINING_ROWS = {
    "clicks": 3000,
    "clinic": 400,
    "expression": 120,
    "fingerprints": 250,
    "near_copies": 600,
    "pixels": 500,
    "response_of_genes": 90,
    "word_counts": 500,
}  # all others have 1,200
REGRESSION = ("counted_events", "fingerprints", "process", "response_of_genes")
DEFAULT_ROWS = 1200


def is_judged_only(name: str) -> bool:
    """Whether no seed of a family is for tuning."""
    return sorted(DOMAINS).index(name) % EVERY_THIRD == EVERY_THIRD - 1


def half_of(name: str, seed: int) -> Half:
    """The half that a table belongs to."""
    return "tune" if seed in TUNE_SEEDS and not is_judged_only(name) else "judge"


def training_rows(name: str) -> int:
    """Rows to select from."""
    return TRAINING_ROWS.get(name, DEFAULT_ROWS)


def make(name: str, seed: int, rows: int | None = None) -> Problem:
    """A table of a family; the same seed and rows give the same table.

    Examples
    --------
    >>> table = make("near_copies", seed=0, rows=300)
    >>> table.X.shape, len(table.groups), len(table.relevant), len(table.noise)
    ((300, 66), 9, 30, 36)
    """
    key = int.from_bytes(sha256(name.encode()).digest()[:4], "big")
    draft = Draft(np.random.default_rng([key, seed]), rows or training_rows(name))
    y = DOMAINS[name](draft)
    kind: Kind = "numbers" if name in REGRESSION else "classes"
    half = half_of(name, seed)
    groups = tuple(draft.groups)
    return Problem(f"{name}-{seed}", _frame(draft), y, kind, source_of(half), half, groups, name)


def source_of(half: Half) -> str:
    """New tables for judging are told apart from those that were judged before."""
    return "made-up" if half == "tune" else "new made-up"


def _frame(draft: Draft) -> pd.DataFrame:
    """The columns in a random order."""
    names = draft.rng.permutation(list(draft.columns))
    return pd.DataFrame(draft.columns)[list(names)]


def names() -> list[tuple[str, int]]:
    """All tables of both halves, as families and seeds; seeds first, so that a part is balanced."""
    tune = [(name, seed) for seed in TUNE_SEEDS for name in DOMAINS if not is_judged_only(name)]
    return tune + [(name, seed) for seed in JUDGE_SEEDS for name in DOMAINS]
