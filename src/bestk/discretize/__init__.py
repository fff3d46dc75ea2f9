"""Supervised and unsupervised discretisers: numbers to integer codes."""

from bestk.discretize._base import (
    MAX_SMALL_CUTS,
    ColumnCuts,
    Discretizer,
    check_parameters,
    fit_together,
    log_tables,
)
from bestk.discretize._methods import CAIM, MDLP, EqualFrequency, EqualWidth, Sigma
from bestk.errors import Registry

DISCRETIZERS: Registry[type[Discretizer]] = Registry(
    "discretizer",
    {
        "caim": CAIM,
        "mdlp": MDLP,
        "equal-width": EqualWidth,
        "equal-frequency": EqualFrequency,
        "sigma": Sigma,
    },
)

__all__ = [
    "CAIM",
    "DISCRETIZERS",
    "MAX_SMALL_CUTS",
    "MDLP",
    "ColumnCuts",
    "Discretizer",
    "EqualFrequency",
    "EqualWidth",
    "Sigma",
    "check_parameters",
    "fit_together",
    "log_tables",
]
