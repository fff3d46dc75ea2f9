"""Supervised and unsupervised discretisers: numbers to integer codes."""

from bestk.discretize._base import (
    ColumnCuts,
    Discretizer,
    check_parameters,
    fit_together,
    log_tables,
)
from bestk.discretize._methods import CAIM, MDLP, EqualFrequency, EqualWidth, Sigma
from bestk.errors import Registry

DISCRETIZERS: Registry[type[Discretizer]] = Registry("discretizer", {
    "caim": CAIM, "mdlp": MDLP, "equal-width": EqualWidth, "equal-frequency": EqualFrequency,
    "sigma": Sigma,
})  # fmt: skip

__all__ = [
    "CAIM", "DISCRETIZERS", "MDLP", "ColumnCuts", "Discretizer", "EqualFrequency", "EqualWidth",
    "Sigma", "check_parameters", "fit_together", "log_tables",
]  # fmt: skip
