"""The tables to select from: numbers, and their codes."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from benchmarks.counting.cases import Case, after_caim, cases
from benchmarks.selectors.options import Options
from bestk.discretize import CAIM


def leukemia(options: Options) -> Case:
    """7070 genes of 72 patients, two classes."""
    return with_numbers(cases(options.data, options.quick)["leukemia"]())


def gisette_like(options: Options) -> Case:
    """6000 images, about 5000 columns, two classes."""
    return with_numbers(cases(options.data, options.quick)["gisette_like"]())


def breast_cancer(options: Options) -> Case:
    """30 columns of 569 patients, two classes."""
    from sklearn.datasets import load_breast_cancer

    raw, y = load_breast_cancer(return_X_y=True)
    return Case("breast_cancer", "breast cancer", CAIM().fit_transform(raw, y), y, raw)


def madelon(options: Options) -> Case:
    """500 columns of which 20 matter, two classes."""
    return with_numbers(after_caim("madelon", options.data, 2000, 500))


def multifeat(options: Options) -> Case:
    """649 measures of 2000 written digits, ten classes."""
    return with_numbers(after_caim("multifeat", options.data, 2000, 649))


TABLES: dict[str, Callable[[Options], Case]] = {
    make.__name__: make for make in (breast_cancer, madelon, multifeat, leukemia, gisette_like)
}


def with_numbers(case: Case) -> Case:
    """The case with numbers that have its codes, where it is made up and has none."""
    if case.raw is not None:
        return case
    noise = np.random.default_rng(0).random(case.X.shape, dtype=np.float32)
    return replace(case, raw=case.X + noise)
