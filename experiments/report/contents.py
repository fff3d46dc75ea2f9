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
from experiments.classification.plan import PART
from experiments.classification.steps import FOLDS, LEAVE_ONE_OUT
from experiments.datasets import DATASETS
from experiments.options import the_13
from experiments.store import Store

PROTOCOLS = ("paper", "nested", "states")


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
        return {
            protocol: {
                name: found
                for name in self.sets
                if (found := curves.read_curves(self.store, name, protocol))
            }
            for protocol in PROTOCOLS
        }

    def curves(self, protocol: str) -> dict[str, Curves]:
        """Curves of each set in a protocol."""
        return self._curves[protocol]

    def real(self, protocol: str) -> dict[str, Curves]:
        """The same without stand-ins."""
        found = self.curves(protocol)
        return {n: own for n, own in found.items() if DATASETS[n].stands_in_for is None}

    def incomplete(self) -> list[str]:
        """Sets of which folds are still to be run, by protocol."""
        found = []
        for protocol in PROTOCOLS:
            for name, own in self.curves(protocol).items():
                m = DATASETS[name].m
                wanted = m if m <= LEAVE_ONE_OUT else FOLDS
                there = min(curve.errors.shape[1] for curve in own.values())
                if there < wanted:
                    found.append(f"{name}, {protocol} ({there} of {wanted} folds)")
        nested = self.curves("nested")
        if without := [name for name, own in nested.items() if "sdp" not in own]:
            found.append(f"SDP inside folds (on {len(without)} of {len(nested)} sets not run)")
        if self.sets and not self.curves("states"):
            found.append("the versions of three states (not run)")
        return found

    def mean_error(self, protocol: str, name: str, method: str) -> float:
        """Mean over k and folds in percent; NaN where there is none."""
        own = self.curves(protocol).get(name, {})
        return float(own[method].mean.mean()) if method in own else np.nan

    def selections(self, name: str, protocol: str = "paper") -> dict[str, Any]:
        """What each method selected from all rows."""
        keys = {method: (PART, name, protocol, "selection", method) for method in NAMES}
        return {method: self.store[key] for method, key in keys.items() if key in self.store}
