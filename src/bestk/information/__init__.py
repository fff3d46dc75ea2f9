"""Entropies of a table and the information measures made of them."""

from bestk.information import measures
from bestk.information._blend import BlendedSource
from bestk.information._gaussian import GaussianSource
from bestk.information._matrices import cmi_matrix, joint_mi_matrix, mutual_information
from bestk.information._scores import ScoredTable, normal_scores
from bestk.information.backends import PairSource
from bestk.information.entropies import Entropies
from bestk.information.measures import Measure, Query

__all__ = [
    "BlendedSource",
    "Entropies",
    "GaussianSource",
    "Measure",
    "PairSource",
    "Query",
    "ScoredTable",
    "cmi_matrix",
    "joint_mi_matrix",
    "measures",
    "mutual_information",
    "normal_scores",
]
