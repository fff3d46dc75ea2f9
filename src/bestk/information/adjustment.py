"""Subtracting what covariates explain, exactly, by least squares."""

from dataclasses import dataclass

import numpy as np

from bestk._typing import Floats

# A column of which covariates leave less than this share of its variance is determined by them,
# but for rounding.
SMALLEST_REMAINDER = 1e-6


@dataclass(frozen=True)
class Adjustment:
    """An orthogonal basis of covariates, which is subtracted from other columns.

    Columns are rows of whole numbers, multiples of ``unit``, as those of a design: they are
    centered, have variance 1 and, with weights, are multiplied by the square roots of these. Their
    sums of products are exact, so that the order of the samples changes nothing.
    """

    basis: Floats
    """Orthogonal columns that span the covariates, one in each row, each of variance 1."""

    unit: float
    """The whole number that stands for 1."""

    rows_used: float = 0.0
    """The rows of a table that the covariates use up: one for each parameter."""

    @classmethod
    def of(cls, columns: Floats, unit: float, degrees: Floats) -> "Adjustment":
        """The adjustment for some columns, which may depend on each other.

        ``degrees``: the parameters that each column stands for, at least 1.
        """
        basis = cls(np.empty((0, columns.shape[1])), unit).basis_of(columns)
        more_parameters = np.maximum(degrees - 1.0, 0.0).sum()
        return cls(basis, unit, len(basis) + float(more_parameters))

    def subtract_from(self, columns: Floats) -> None:
        """Subtract from columns, in place, what covariates explain, and scale to variance 1.

        Columns that covariates determine become 0.
        """
        scale = columns.shape[1] * self.unit**2
        slopes = columns @ self.basis.T / scale
        columns -= slopes @ self.basis
        variances = np.einsum("ij,ij->i", columns, columns) / scale
        varies = variances > SMALLEST_REMAINDER
        factors = np.where(varies, 1.0 / np.sqrt(np.where(varies, variances, 1.0)), 0.0)
        columns *= factors[:, np.newaxis]
        np.rint(columns, out=columns)

    def basis_of(self, columns: Floats) -> Floats:
        """Orthogonal columns that span, with those of the covariates, what ``columns`` add."""
        remaining = columns.copy()
        self.subtract_from(remaining)
        basis = np.empty_like(remaining)
        n_kept = 0
        for row in range(len(remaining)):
            column = remaining[[row]]
            Adjustment(basis[:n_kept], self.unit).subtract_from(column)
            if column.any():
                basis[n_kept] = column[0]
                n_kept += 1
        return basis[:n_kept].copy()
