"""Numeric columns on a device: sorted, cut, coded and turned into scores where they are counted."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import pad

from bestk._cached import cached_property
from bestk._typing import Array, Floats, Indices
from bestk.discretize import ColumnCuts, log_tables
from bestk.information._scores import Explained, normal_scores, unit_score
from bestk.information.backends._torch_table import DeviceCodes
from bestk.tables.target import ClassTarget, Target

# Sums that differ by less than this part of their scale are equal: they are ties for MDLP.
TIE = 1e-12

# Bytes that travel to the device together.
BUFFER_BYTES = 2**25

# Values of columns, times classes, that are sorted and cut together.
SORTED_VALUES = {"cuda": 2**28, "cpu": 2**20}

# Columns that are turned into scores together.
SCORED_COLUMNS = 2**13


@dataclass(frozen=True)
class DeviceColumns:
    """The numbers of a table on a device."""

    values: Tensor
    """``[feature, sample]``, samples in order of their classes; NaN where missing."""

    target: ClassTarget

    order: Indices
    """The row of the table that each sample is."""

    @classmethod
    def of(cls, values: Array, target: ClassTarget, device: torch.device) -> "DeviceColumns":
        """Copy the columns of an array ``[row, feature]`` to a device."""
        if min(values.strides) < 0 or not values.flags.writeable:
            values = values.copy()  # torch takes no such array
        rows = _to_device(torch.from_numpy(values), device)
        order = target.order
        rows_by_class = rows.index_select(0, torch.from_numpy(order).to(device))
        columns = rows_by_class.T.to(torch.float64, copy=True).contiguous()
        columns = columns + 0.0  # -0.0 becomes 0.0, as in the codes of the host
        return cls(columns, target, order)

    @cached_property
    def missing(self) -> Tensor:
        """The number of missing values of each column."""
        return self.values.isnan().sum(1)

    def cut(self, bins: Sequence[int | None]) -> list[ColumnCuts]:
        """The cuts of all columns for each of ``bins``: into so many bins of equal frequency.

        None stands for MDLP. They are the cuts of the discretizers of the host; MDLP takes sums in
        another order, and scores that differ by less than rounding are ties to both.
        """
        values: list[list[Floats]] = [[] for _ in bins]
        counts: list[list[Indices]] = [[] for _ in bins]
        for columns in self._sorted_strips():
            for i, n_bins in enumerate(bins):
                if n_bins is None:
                    cuts = columns.cut_by_entropy()
                else:
                    cuts = columns.cut_by_frequency(n_bins)
                values[i].append(columns.values_of(cuts))
                counts[i].append(columns.count(cuts))
        has_gaps = (self.missing > 0).cpu().numpy()
        return [
            ColumnCuts(np.concatenate(values[i]), np.concatenate(counts[i]), None, has_gaps)
            for i in range(len(bins))
        ]

    def _sorted_strips(self) -> "Iterator[_SortedColumns]":
        """The columns, some at a time, with the values of each in order."""
        device = self.values.device
        sizes = self.target.counts
        n_columns, n_samples = self.values.shape
        width = max(1, SORTED_VALUES[device.type] // (n_samples * (1 + len(sizes))))
        label_type = np.uint8 if len(sizes) < 2**8 else np.int32
        labels_by_class = np.repeat(np.arange(len(sizes), dtype=label_type), sizes)
        labels = torch.from_numpy(labels_by_class).to(device)
        logs = _Logs.of(n_samples, len(sizes), device)
        for first in range(0, n_columns, width):
            strip = self.values[first : first + width]
            n_values = n_samples - self.missing[first : first + width]
            values, order = strip.sort(dim=1, stable=True)  # NaN last
            values.masked_fill_(values.isnan(), torch.inf)
            yield _SortedColumns(values, labels[order], n_values, len(sizes), logs)

    def code(self, cuts: ColumnCuts) -> DeviceCodes:
        """Count for each value the cuts below it; NaN takes the code after the last."""
        device = self.values.device
        most_cuts = int(cuts.counts.max())
        table = np.full((len(cuts.counts), most_cuts + 1), np.inf)
        is_cut = np.arange(most_cuts + 1) < cuts.counts[:, np.newaxis]
        table[is_cut] = cuts.values
        cuts_below = torch.searchsorted(
            torch.from_numpy(table).to(device), self.values, out_int32=True
        )
        codes = cuts_below.to(torch.uint8)
        if cuts.gaps.any():
            code_of_gaps = torch.from_numpy(cuts.counts + 1).to(device, torch.uint8)
            codes = torch.where(self.values.isnan(), code_of_gaps[:, None], codes)
        return DeviceCodes(codes, cuts.counts + 1 + cuts.gaps)


def _to_device(values: Tensor, device: torch.device) -> Tensor:
    """Copy through two pinned buffers: one is written while the other travels."""
    if device.type == "cpu" or values.nbytes < BUFFER_BYTES:
        return values.to(device)
    if not values.T.is_contiguous():
        values = values.contiguous()
    out = torch.empty_like(values, device=device)
    source = values if values.is_contiguous() else values.T
    destination = out if values.is_contiguous() else out.T
    width = source.shape[1]
    height = max(1, BUFFER_BYTES // (width * source.element_size()))
    buffers = torch.empty((2, height, width), dtype=values.dtype, pin_memory=True)
    has_travelled = (torch.cuda.Event(), torch.cuda.Event())
    strips = zip(source.split(height), destination.split(height), strict=True)
    for k, (strip, place) in enumerate(strips):
        has_travelled[k % 2].synchronize()
        buffer = buffers[k % 2, : len(strip)]
        buffer.copy_(strip)
        place.copy_(buffer, non_blocking=True)
        has_travelled[k % 2].record()
    return out


@dataclass(frozen=True)
class _Logs:
    """Tables of logarithms on a device, in nats: see ``bestk.discretize.log_tables``."""

    n_log_n: Tensor
    """Of counts of 0, 1, ... samples."""

    log_n: Tensor
    """Of counts of 0, 1, ... samples."""

    log_codings: Tensor
    """``log(3^k - 2)`` of k = 0, 1, ... classes: what it costs in MDLP to describe a split."""

    @classmethod
    def of(cls, n_samples: int, n_classes: int, device: torch.device) -> "_Logs":
        n_log_n, log_n, log_codings = log_tables(n_samples, n_classes)
        return cls(
            torch.from_numpy(n_log_n).to(device),
            torch.from_numpy(log_n).to(device),
            torch.from_numpy(log_codings).to(device),
        )


@dataclass(frozen=True)
class _CutPlaces:
    """Cuts of some columns: one at place p separates the values before p from the others."""

    columns: Tensor
    """The column of each cut."""

    places: Tensor


@dataclass(frozen=True)
class _Intervals:
    """Places of columns, from the first up to the last, which is not in the interval."""

    columns: Tensor
    first: Tensor
    stop: Tensor

    def split(self, size: int) -> "list[_Intervals]":
        """The same intervals, at most so many together."""
        columns = self.columns.split(size)
        first = self.first.split(size)
        stop = self.stop.split(size)
        return [_Intervals(*vectors) for vectors in zip(columns, first, stop, strict=True)]

    def cut_at(self, cuts: _CutPlaces, is_cut: Tensor) -> "_Intervals":
        """Both sides of those intervals that are cut: all left sides, then all right sides."""
        return _Intervals(
            torch.cat([cuts.columns, cuts.columns]),
            torch.cat([self.first[is_cut], cuts.places]),
            torch.cat([cuts.places, self.stop[is_cut]]),
        )


@dataclass(frozen=True)
class _ClassMix:
    """What classes some intervals have, as far as MDLP asks."""

    size: Tensor
    """How many samples."""

    n_classes: Tensor
    """How many different classes."""

    entropy: Tensor
    """The entropy of the classes, in nats, times the size."""

    @classmethod
    def of(cls, counts: Tensor, logs: _Logs) -> "_ClassMix":
        """Of counts ``[class, interval]``."""
        size = counts.sum(0)
        sum_of_classes = torch.zeros(size.shape, dtype=torch.float64, device=size.device)
        for of_class in counts:
            sum_of_classes += logs.n_log_n[of_class]
        return cls(size, (counts > 0).sum(0), logs.n_log_n[size] - sum_of_classes)

    @property
    def cost(self) -> Tensor:
        """The number of classes times their entropy: a term of the cost of a split."""
        return self.n_classes * self.entropy / self.size


@dataclass(frozen=True)
class _SortedColumns:
    """Some columns, the values of each in ascending order."""

    values: Tensor
    """``[column, place]``; infinite, at the end, where missing."""

    labels: Tensor
    """The class of each value; classes ascend among equal values."""

    n_values: Tensor
    """How many values of each column are not missing."""

    n_classes: int

    logs: _Logs

    def values_of(self, cuts: _CutPlaces) -> Floats:
        """The numbers at which values are cut, in the middle of two, column by column."""
        order = (cuts.columns * self.values.shape[1] + cuts.places).argsort()
        columns = cuts.columns[order]
        places = cuts.places[order]
        below = self.values[columns, places - 1]
        above = self.values[columns, places]
        middle = 0.5 * below + 0.5 * above
        is_between = (below <= middle) & (middle < above)
        cut_values: Floats = torch.where(is_between, middle, below).cpu().numpy()
        return cut_values

    def count(self, cuts: _CutPlaces) -> Indices:
        """How many cuts each column has."""
        counts: Indices = torch.bincount(cuts.columns, minlength=len(self.values)).cpu().numpy()
        return counts

    def cut_by_frequency(self, n_bins: int) -> _CutPlaces:
        """Cuts after the lowest values that have i / n_bins of the values at or below them."""
        n_values = self.n_values[:, None]
        steps = torch.arange(1, n_bins, device=n_values.device)
        ranks = (steps * n_values + n_bins - 1) // n_bins
        last_below = self.values.gather(1, (ranks - 1).clamp_(min=0))
        places = torch.searchsorted(self.values, last_below, right=True)
        is_cut = places < n_values
        is_cut[:, 1:] &= places[:, 1:] > places[:, :-1]
        columns, steps_of_cuts = is_cut.nonzero(as_tuple=True)
        return _CutPlaces(columns, places[columns, steps_of_cuts])

    def cut_by_entropy(self) -> _CutPlaces:
        """The cuts of MDLP: intervals are cut in two while that saves bits.

        Every interval of every column is cut at once, then both sides of those that are worth it.
        """
        is_boundary = self._find_boundaries()
        counts_below = self._count_below()
        columns = torch.arange(len(self.values), device=self.values.device)
        intervals = _Intervals(columns, torch.zeros_like(columns), self.n_values)
        together = max(1, SORTED_VALUES[columns.device.type] // self.values.shape[1])
        columns_of_cuts = [columns[:0]]
        places_of_cuts = [columns[:0]]
        while len(intervals.columns):
            strips = intervals.split(together)
            best = [self._best_cuts(is_boundary, counts_below, strip) for strip in strips]
            places = torch.cat([places for places, _ in best])
            is_worth = torch.cat([is_worth for _, is_worth in best])
            cuts = _CutPlaces(intervals.columns[is_worth], places[is_worth])
            columns_of_cuts.append(cuts.columns)
            places_of_cuts.append(cuts.places)
            intervals = intervals.cut_at(cuts, is_worth)
        return _CutPlaces(torch.cat(columns_of_cuts), torch.cat(places_of_cuts))

    def _find_boundaries(self) -> Tensor:
        """Whether the best cut can be at a place, ``[column, place]``.

        It is not between equal values, nor where the values on both sides have one class, the same.
        """
        values = self.values
        is_larger = values[:, 1:] > values[:, :-1]
        class_changes = self.labels[:, 1:] != self.labels[:, :-1]
        has_ties = bool((is_larger.sum(1) < self.n_values - 1).any())
        if has_ties:
            is_mixed = self._has_several_classes(is_tied=~is_larger)
            class_changes = class_changes | is_mixed[:, 1:] | is_mixed[:, :-1]
        is_boundary = torch.zeros(values.shape, dtype=torch.bool, device=values.device)
        is_boundary[:, 1:] = is_larger & class_changes
        return is_boundary

    def _has_several_classes(self, is_tied: Tensor) -> Tensor:
        """Whether the samples of the value at a place have several classes, ``[column, place]``.

        ``is_tied``: whether a value is equal to the one before, from the second on. As classes
        ascend among equal values, the first and the last of them are compared.
        """
        n_places = self.values.shape[1]
        place = torch.arange(n_places, device=self.values.device).expand(self.values.shape)
        is_tied_to_next = pad(is_tied, (0, 1))
        ends = place.masked_fill(is_tied_to_next, n_places)
        last_of_value = ends.flip(1).cummin(1).values.flip(1).clamp_(max=n_places - 1)
        is_tied_to_previous = pad(is_tied, (1, 0))
        starts = place.masked_fill(is_tied_to_previous, 0)
        first_of_value = starts.cummax(1).values
        return self.labels.gather(1, first_of_value) != self.labels.gather(1, last_of_value)

    def _count_below(self) -> list[Tensor]:
        """For each class, its samples before each place: ``[column, place]``, and at the end."""
        counts = []
        for label in range(self.n_classes):
            up_to_place = (self.labels == label).cumsum(1, dtype=torch.int32)
            counts.append(pad(up_to_place, (1, 0)))
        return counts

    def _best_cuts(
        self, is_boundary: Tensor, counts_below: list[Tensor], intervals: _Intervals
    ) -> tuple[Tensor, Tensor]:
        """The best cut of each interval, and whether it is worth what it costs to describe.

        The score of a cut is minus the entropy that is left, in nats times samples. A cut of n
        samples is worth it if it saves more than ``log(n - 1) + log(3^k - 2) - k H + k1 H1 +
        k2 H2``, with k classes of entropy H in all, k1 and H1 on the left, k2 and H2 on the right.
        """
        n_log_n = self.logs.n_log_n
        columns = intervals.columns
        first = intervals.first[:, None]
        stop = intervals.stop[:, None]
        place = torch.arange(is_boundary.shape[1], device=columns.device)
        score = -n_log_n[(place - first).clamp_(min=0)]
        score -= n_log_n[(stop - place).clamp_(min=0)]
        for below in counts_below:
            below_place = below[columns]
            below_first = below_place.gather(1, first)
            below_stop = below_place.gather(1, stop)
            score += n_log_n[(below_place[:, :-1] - below_first).clamp_(min=0)]
            score += n_log_n[(below_stop - below_place[:, :-1]).clamp_(min=0)]
        is_inside = (place > first) & (place < stop)
        score.masked_fill_(~(is_boundary[columns] & is_inside), -torch.inf)
        tie = TIE * n_log_n[self.n_values[columns]]
        largest = score.amax(1)
        is_best = score >= (largest - tie)[:, None]
        cut = is_best.to(torch.uint8).argmax(1, keepdim=True)  # the first of them

        before_first = _counts_at(counts_below, columns, first)
        before_cut = _counts_at(counts_below, columns, cut)
        before_stop = _counts_at(counts_below, columns, stop)
        left = _ClassMix.of(before_cut - before_first, self.logs)
        right = _ClassMix.of(before_stop - before_cut, self.logs)
        both = _ClassMix.of(before_stop - before_first, self.logs)
        saved = both.entropy + score.gather(1, cut)[:, 0]
        cost = self.logs.log_codings[both.n_classes] - both.cost + (left.cost + right.cost)
        limit = self.logs.log_n[(both.size - 1).clamp_(min=0)] + cost + tie
        return cut[:, 0], (largest > -torch.inf) & (saved > limit)


def _counts_at(counts_below: list[Tensor], columns: Tensor, places: Tensor) -> Tensor:
    """The samples of each class before some places, ``[class, interval]``; places: a column."""
    return torch.stack([below[columns, places[:, 0]] for below in counts_below])


class DeviceScores:
    """Standard scores of numeric columns on a device; see ``ScoredTable``.

    ``target``: of the rows of the table, in their own order.
    """

    def __init__(self, columns: DeviceColumns, target: Target) -> None:
        n_samples = int(columns.values.shape[1])
        self.n_samples = n_samples
        self.n_rows = n_samples
        self.one = unit_score(n_samples)
        strips = columns.values.split(SCORED_COLUMNS)
        self.values = torch.cat([_standardise(strip, self.one) for strip in strips])
        self.sums = self.values.sum(1).cpu().numpy()
        self.squares = (self.values * self.values).sum(1).cpu().numpy()
        if isinstance(target, ClassTarget):
            self.explained = self._explain_by_class(target)
        else:
            numbers = target.values[:, np.newaxis]
            scores = normal_scores(numbers, "standard")[0, columns.order]
            self.explained = self._explain_by_number(scores)

    def _explain_by_class(self, target: ClassTarget) -> Explained:
        """What the classes explain of the columns: the samples of a class follow each other."""
        samples_of_classes = self.values.split(target.counts.tolist(), dim=1)
        sums = torch.stack([samples.sum(1) for samples in samples_of_classes])
        return Explained.by_class(target.counts, sums.cpu().numpy())

    def _explain_by_number(self, target_scores: Floats) -> Explained:
        """What a target of numbers explains of the columns, by its scores."""
        products = self.values @ torch.from_numpy(target_scores).to(self.values)
        return Explained.by_number(target_scores, self.sums, products.cpu().numpy())


def _standardise(x: Tensor, one: float) -> Tensor:
    """Whole numbers of mean 0 and variance one^2 for each row of ``x``; 0 where x is missing.

    Operation by operation as by the kernel ``standardise_rows`` of the host: the same bits.
    """
    is_missing = x.isnan()
    low = x.masked_fill(is_missing, torch.inf).amin(1, keepdim=True)
    high = x.masked_fill(is_missing, -torch.inf).amax(1, keepdim=True)
    middle = 0.5 * low + 0.5 * high
    half = 0.5 * high - 0.5 * low
    n_values = (~is_missing).sum(1, keepdim=True)
    scores = ((x - middle) / half).masked_fill_(is_missing, 0.0)
    rounded = (scores * one).round_().masked_fill_(is_missing, 0.0)
    mean = rounded.sum(1, keepdim=True) / (one * n_values)
    rounded = ((scores - mean) * (0.5 * one)).round_().masked_fill_(is_missing, 0.0)
    squares = (rounded * rounded).sum(1, keepdim=True)
    scale = one * (x.shape[1] / squares).sqrt() * (0.5 * one)
    scores = ((scores - mean) * scale).round_().masked_fill_(is_missing, 0.0)
    is_constant = ~(half > 0.0)
    return scores.masked_fill_(is_constant, 0.0)
