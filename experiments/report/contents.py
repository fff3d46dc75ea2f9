"""The results, read once for all sections of the report."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.solvers.record import Row
from experiments import discretisation, simulation
from experiments.classification import curves
from experiments.classification.curves import Curves
from experiments.classification.methods import NAMES
from experiments.classification.plan import PART, SEEDS
from experiments.classification.protocols import EVERY, PROTOCOLS
from experiments.classification.steps import FOLDS, LEAVE_ONE_OUT
from experiments.datasets import DATASETS
from experiments.options import the_13
from experiments.store import Store


@dataclass(frozen=True)
class Contents:
    """The stores of a folder of results."""

    folder: Path
    data: str | None = None

    @cached_property
    def store(self) -> Store:
        """The folds of the test of classification."""
        return Store(self.folder / "classification.jsonl")

    @cached_property
    def discretised(self) -> Store:
        """The folds of the study of discretisation."""
        return Store(self.folder / f"{discretisation.PART}.jsonl")

    @cached_property
    def simulated(self) -> list[Row]:
        """The rows of the simulations; none where they were not run."""
        if not (self.folder / "simulation.csv").exists():
            return []
        return simulation.open_ledger(self.folder).rows

    @cached_property
    def sets(self) -> list[str]:
        """The data sets of which something is stored, in the paper's order."""
        there = {key[0] for key, _ in self.store.under(PART)}
        order = [*the_13(self.data), *DATASETS]
        return [name for name in dict.fromkeys(order) if name in there]

    @cached_property
    def _curves(self) -> dict[str, dict[str, Curves]]:
        read = curves.read_curves
        return {protocol: {name: found for name in self.sets
                           if (found := read(self.store, name, protocol))}
                for protocol in EVERY}  # fmt: skip

    def curves(self, protocol: str) -> dict[str, Curves]:
        """Curves of each set in a protocol."""
        return self._curves[protocol]

    def real(self, protocol: str) -> dict[str, Curves]:
        """The same without stand-ins."""
        return only_real(self.curves(protocol))

    @cached_property
    def repeated(self) -> list[dict[str, Curves]]:
        """By seed: curves of the real sets that were cut into folds by every seed."""
        names = [name for name in self.real("authors") if DATASETS[name].m > LEAVE_ONE_OUT]
        found = {
            name: [curves.read_curves(self.store, name, "authors", s) for s in range(SEEDS)]
            for name in names
        }
        whole = [name for name, own in found.items() if all(map(_has_all_folds, own))]
        return [{name: found[name][seed] for name in whole} for seed in range(SEEDS)]

    def incomplete(self) -> list[str]:
        """What of the classification is still to be run, by protocol."""
        found = []
        for protocol in PROTOCOLS:
            if absent := [name for name in self.sets if name not in self.curves(protocol)]:
                found.append(f"{protocol}: {', '.join(absent)}")
            for name, own in self.curves(protocol).items():
                m = DATASETS[name].m
                wanted = m if m <= LEAVE_ONE_OUT else FOLDS
                there = min(curve.errors.shape[1] for curve in own.values())
                if there < wanted:
                    found.append(f"{protocol}: {name} ({there} of {wanted} folds)")
        return found

    def mean_error(self, protocol: str, name: str, method: str) -> float:
        """Mean over k and folds in percent; NaN where there is none."""
        own = self.curves(protocol).get(name, {})
        return float(own[method].mean.mean()) if method in own else np.nan

    def mean_errors(self, protocol: str) -> dict[str, float]:
        """By method, the least first: the mean error over the real sets; methods on all of them."""
        sets = self.real(protocol)
        methods = curves.methods_with_every_k(sets.values())
        found = {m: float(np.mean([self.mean_error(protocol, name, m) for name in sets]))
                 for m in methods if sets}  # fmt: skip
        return dict(sorted(found.items(), key=lambda pair: pair[1]))

    def selections(self, name: str, source: str = "paper") -> dict[str, Any]:
        """What each method selected from all rows."""
        keys = {method: (PART, name, source, "selection", method) for method in NAMES}
        return {method: self.store[key] for method, key in keys.items() if key in self.store}

    @property
    def hours(self) -> float:
        """Hours of one core that the rows of the classification took."""
        results = (result for _, result in self.store.under(PART))
        return sum(r.get("seconds", 0.0) for r in results if isinstance(r, dict)) / 3600

    def commits(self, *beginning: str) -> list[str]:
        """The commits that made the rows of the classification whose keys begin so."""
        return [start["commit"] for start in self.store.starts_of(PART, *beginning)]


def only_real(found: dict[str, Curves]) -> dict[str, Curves]:
    """Without stand-ins for sets that are not at hand."""
    return {name: own for name, own in found.items() if DATASETS[name].stands_in_for is None}


def _has_all_folds(own: Curves) -> bool:
    return bool(own) and all(curve.errors.shape[1] == FOLDS for curve in own.values())
