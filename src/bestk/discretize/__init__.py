"""Supervised and unsupervised discretisers: numbers to integer codes."""

from bestk.discretize._base import Discretizer
from bestk.discretize._caim import CAIM
from bestk.discretize._mdlp import MDLP
from bestk.discretize._sigma import Sigma
from bestk.discretize._unsupervised import EqualFrequency, EqualWidth

DISCRETIZERS: dict[str, type[Discretizer]] = {
    "caim": CAIM,
    "mdlp": MDLP,
    "equal-width": EqualWidth,
    "equal-frequency": EqualFrequency,
    "sigma": Sigma,
}

__all__ = ["CAIM", "DISCRETIZERS", "MDLP", "Discretizer", "EqualFrequency", "EqualWidth", "Sigma"]
