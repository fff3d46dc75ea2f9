"""Numeric columns on a device: sorted, cut, coded and turned into scores where they are counted."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from bestk._cached import cached_property
from bestk._typing import Array, Floats, Indices
from bestk.discretize import ColumnCuts, log_tables
from bestk.information._scores import Explained, normal_scores, unit_score
from bestk.information.backends._torch_table import DeviceCodes
from bestk.tables.target import ClassTarget, NumericTarget, Target

TIE = 1e-12  # scores closer than this, relative to their scale, are equal
BUFFER_BYTES = 2**25  # that travel to the device together
SORTED_VALUES = {"cuda": 2**28, "cpu": 2**20}  # times classes, that are cut together


@dataclass(frozen=True)
class DeviceColumns:
    """The numbers of a table on a device, NaN where missing."""

    values: Tensor  # (feature, sample), samples in order of their classes
    target: ClassTarget
    order: Indices  # of the samples

    @classmethod
    def of(cls, values: Array, target: ClassTarget, device: Any) -> "DeviceColumns":
        """Copy the columns of an array."""
        order = target.order
        if min(values.strides) < 0 or not values.flags.writeable:  # which torch does not take
            values = values.copy()
        rows = _to_device(torch.from_numpy(values), device)
        chosen = rows.index_select(0, torch.from_numpy(order).to(device))
        return cls(chosen.T.to(torch.float64, copy=True).contiguous() + 0.0, target, order)

    @cached_property
    def missing(self) -> Tensor:
        """The number of missing values of each column."""
        return self.values.isnan().sum(1)

    def cut(self, ways: Sequence[int | None]) -> list[ColumnCuts]:
        """The cuts of all columns: by MDLP where a way is None, or else in bins of equal frequency.

        The same as by the kernels of the discretisers; MDLP takes sums in another order, and
        scores that differ by less than rounding are ties to both.
        """
        found: list[list[Any]] = [[] for _ in ways]
        for columns in self._sorted():
            for own, n_bins in zip(found, ways, strict=True):
                edges = columns.cut_by_entropy() if n_bins is None else columns.quantiles(n_bins)
                own.append(columns.cuts(*edges))
        gaps = (self.missing > 0).cpu().numpy()
        flat = [[np.concatenate(each) for each in zip(*own, strict=True)] for own in found]
        return [ColumnCuts(values, counts, None, gaps) for values, counts in flat]

    def _sorted(self) -> "Iterator[_Sorted]":
        (n, m), sizes = self.values.shape, self.target.counts
        most = SORTED_VALUES[self.values.device.type]
        width = max(1, most // (m * (1 + len(sizes))))
        small = np.uint8 if len(sizes) < 2**8 else np.int32
        classes = np.repeat(np.arange(len(sizes), dtype=small), sizes)
        labels = torch.from_numpy(classes).to(self.values.device)
        tables = log_tables(m, len(sizes))
        logs = [torch.from_numpy(table).to(labels.device) for table in tables]
        for first in range(0, n, width):
            x = self.values[first : first + width]
            known = m - self.missing[first : first + width]
            values, order = x.sort(dim=1, stable=True)  # NaN last
            values.masked_fill_(values.isnan(), torch.inf)
            yield _Sorted(values, labels[order], known, len(sizes), logs)

    def code(self, cuts: ColumnCuts) -> DeviceCodes:
        """Count for each value the cuts below it; NaN takes the code after the last."""
        most, device = int(cuts.counts.max()), self.values.device
        table = np.full((len(cuts.counts), most + 1), np.inf)
        table[np.arange(most + 1) < cuts.counts[:, np.newaxis]] = cuts.values
        found = torch.searchsorted(torch.from_numpy(table).to(device), self.values, out_int32=True)
        codes = found.to(torch.uint8)
        if cuts.gaps.any():
            last = torch.from_numpy(cuts.counts + 1).to(device, torch.uint8)
            codes = torch.where(self.values.isnan(), last[:, None], codes)
        return DeviceCodes(codes, cuts.counts + 1 + cuts.gaps)


def _to_device(values: Tensor, device: Any) -> Tensor:
    """Copy through pinned memory: a part is written to it while the one before travels."""
    if device.type == "cpu" or values.nbytes < BUFFER_BYTES:
        return values.to(device)
    values = values if values.T.is_contiguous() else values.contiguous()
    out = torch.empty_like(values, device=device)
    source, to = (values, out) if values.is_contiguous() else (values.T, out.T)
    height = max(1, BUFFER_BYTES // (source.shape[1] * source.element_size()))
    shape = 2, height, source.shape[1]
    buffers = torch.empty(shape, dtype=values.dtype, pin_memory=True)
    events = torch.cuda.Event(), torch.cuda.Event()
    for k, (part, place) in enumerate(zip(source.split(height), to.split(height), strict=True)):
        events[k % 2].synchronize()
        place.copy_(buffers[k % 2, : len(part)].copy_(part), non_blocking=True)
        events[k % 2].record()
    return out


@dataclass(frozen=True)
class _Sorted:
    """Some columns in order; a cut at place p separates the values before p from the others."""

    values: Tensor  # (column, place); infinite where missing
    labels: Tensor  # classes, ascending among equal values
    known: Tensor  # values of each column that are not missing
    n_classes: int
    logs: list[Tensor]  # see log_tables

    def cuts(self, columns: Tensor, places: Tensor) -> tuple[Floats, Indices]:
        """The values of the cuts at some places, column by column, and how many each has."""
        order = (columns * self.values.shape[1] + places).argsort()
        columns, places = columns[order], places[order]
        low, high = self.values[columns, places - 1], self.values[columns, places]
        middle = 0.5 * low + 0.5 * high
        middle = torch.where((low <= middle) & (middle < high), middle, low)
        counts = torch.bincount(columns, minlength=len(self.values))
        return middle.cpu().numpy(), counts.cpu().numpy()

    def quantiles(self, n_bins: int) -> tuple[Tensor, Tensor]:
        """Columns and places of cuts after the least values with i / n_bins at or below them."""
        known = self.known[:, None]
        steps = torch.arange(1, n_bins, device=known.device)
        ranks = (steps * known + n_bins - 1) // n_bins
        last = self.values.gather(1, (ranks - 1).clamp_(min=0))
        places = torch.searchsorted(self.values, last, right=True)
        kept = places < known
        kept[:, 1:] &= places[:, 1:] > places[:, :-1]
        columns, at = kept.nonzero(as_tuple=True)
        return columns, places[columns, at]

    def cut_by_entropy(self) -> tuple[Tensor, Tensor]:
        """Columns and places of the cuts of MDLP: intervals are split while that saves bits."""
        n, m = self.values.shape
        boundary, below = self._boundaries(), self._counts_below()
        columns = torch.arange(n, device=self.known.device)
        first, stop = torch.zeros_like(columns), self.known
        at_once = max(1, SORTED_VALUES[columns.device.type] // m)
        found = [(columns[:0], columns[:0])]
        while len(columns):
            parts = zip(*(each.split(at_once) for each in (columns, first, stop)), strict=True)
            best = [self._best_cut(boundary, below, *part) for part in parts]
            cut, worth = (torch.cat(each) for each in zip(*best, strict=True))
            columns, first, stop, cut = columns[worth], first[worth], stop[worth], cut[worth]
            found.append((columns, cut))
            first, stop = torch.cat([first, cut]), torch.cat([cut, stop])
            columns = torch.cat([columns, columns])
        every, places = (torch.cat(each) for each in zip(*found, strict=True))
        return every, places

    def _boundaries(self) -> Tensor:
        """Whether a cut may be at a place: not inside a value, nor where one class goes on."""
        values, labels = self.values, self.labels
        out = torch.zeros(values.shape, dtype=torch.bool, device=values.device)
        new, change = values[:, 1:] > values[:, :-1], labels[:, 1:] != labels[:, :-1]
        tied = ~new
        if bool(((~tied).sum(1) < self.known - 1).any()):  # then values have several samples
            place = torch.arange(values.shape[1], device=values.device).expand(values.shape)
            ends = place.masked_fill(torch.nn.functional.pad(tied, (0, 1)), values.shape[1])
            last = ends.flip(1).cummin(1).values.flip(1).clamp_(max=values.shape[1] - 1)
            starts = place.masked_fill(torch.nn.functional.pad(tied, (1, 0)), 0)
            head = labels.gather(1, starts.cummax(1).values)
            mixed = head != labels.gather(1, last)  # a value has samples of several classes
            change = change | mixed[:, 1:] | mixed[:, :-1]
        out[:, 1:] = new & change
        return out

    def _counts_below(self) -> list[Tensor]:
        """Of each class, the samples before each place."""
        pad = torch.nn.functional.pad
        return [
            pad((self.labels == c).cumsum(1, dtype=torch.int32), (1, 0))
            for c in range(self.n_classes)
        ]

    def _best_cut(
        self, boundary: Tensor, below: list[Tensor], columns: Tensor, first: Tensor, stop: Tensor
    ) -> tuple[Tensor, Tensor]:
        """The best cut of some intervals, and whether it is worth its bits."""
        xlogx, logs, classes = self.logs
        first, stop = first[:, None], stop[:, None]
        place = torch.arange(boundary.shape[1], device=columns.device)
        score = -xlogx[(place - first).clamp_(min=0)]
        score -= xlogx[(stop - place).clamp_(min=0)]
        for own in below:
            before = own[columns]
            start, end = before.gather(1, first), before.gather(1, stop)
            score += xlogx[(before[:, :-1] - start).clamp_(min=0)]
            score += xlogx[(end - before[:, :-1]).clamp_(min=0)]
        inside = boundary[columns] & (place > first) & (place < stop)
        score.masked_fill_(~inside, -torch.inf)
        tie = TIE * xlogx[self.known[columns]]
        largest = score.amax(1)
        at = (score >= (largest - tie)[:, None]).to(torch.uint8).argmax(1, keepdim=True)
        split = torch.stack([own[columns[:, None], at] for own in below])
        low, high = (
            torch.stack([own[columns[:, None], end] for own in below]) for end in (first, stop)
        )
        mixes = [self._mix(each[..., 0]) for each in (split - low, high - split, high - low)]
        left, right, both = (present * entropy / size for size, present, entropy in mixes)
        size, present, entropy = mixes[-1]
        delta = classes[present] - both + (left + right)
        saved = entropy + score.gather(1, at)[:, 0]
        limit = logs[(size - 1).clamp_(min=0)] + delta + tie
        return at[:, 0], (largest > -torch.inf) & (saved > limit)

    def _mix(self, counts: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """The size of some samples, their number of classes, and their entropy times the size."""
        xlogx, size = self.logs[0], counts.sum(0)
        total = torch.zeros(size.shape, dtype=torch.float64, device=size.device)
        for own in counts:
            total += xlogx[own]
        return size, (counts > 0).sum(0), xlogx[size] - total


class DeviceScores:
    """Standard scores of numeric columns on a device; see ScoredTable."""

    def __init__(self, columns: DeviceColumns, target: Target) -> None:
        x = columns.values
        self.n_rows = self.n_samples = int(x.shape[1])
        self.one = unit_score(self.n_rows)
        self.values = torch.cat([_standardise(part, self.one) for part in x.split(2**13)])
        z = self.values
        self.sums, self.squares = z.sum(1).cpu().numpy(), (z * z).sum(1).cpu().numpy()
        self._target = target
        if isinstance(target, NumericTarget):
            numbers = target.numbers[:, np.newaxis]
            self._target_scores = normal_scores(numbers, "standard")[0, columns.order]
        self.explained = self._explain(z, self.sums)

    def _explain(self, z: Tensor, sums: Floats) -> Explained:
        """What the target explains of columns of these scores and sums."""
        if isinstance(self._target, ClassTarget):
            counts = self._target.counts
            parts = [part.sum(1) for part in z.split(counts.tolist(), dim=1)]
            return Explained.by_class(counts, torch.stack(parts).cpu().numpy())
        scores = self._target_scores
        products = (z @ torch.from_numpy(scores).to(z)).cpu().numpy()
        return Explained.by_number(scores, sums, products)


def _standardise(x: Tensor, one: float) -> Tensor:
    """Whole numbers of mean 0 and variance one^2, as by the kernel: operation by operation."""
    missing = x.isnan()
    low = x.masked_fill(missing, torch.inf).amin(1, keepdim=True)
    high = x.masked_fill(missing, -torch.inf).amax(1, keepdim=True)
    middle, half = 0.5 * low + 0.5 * high, 0.5 * high - 0.5 * low
    known = (~missing).sum(1, keepdim=True)
    out = ((x - middle) / half).masked_fill_(missing, 0.0)
    rounded = (out * one).round_().masked_fill_(missing, 0.0)
    mean = rounded.sum(1, keepdim=True) / (one * known)
    rounded = ((out - mean) * (0.5 * one)).round_().masked_fill_(missing, 0.0)
    squares = (rounded * rounded).sum(1, keepdim=True)
    scale = one * (x.shape[1] / squares).sqrt() * (0.5 * one)
    out = ((out - mean) * scale).round_().masked_fill_(missing, 0.0)
    return out.masked_fill_(~(half > 0.0), 0.0)
