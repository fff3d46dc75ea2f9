"""Entropies of a table and the information measures made of them."""

from bestk.information._entropies import Entropies
from bestk.information._matrices import (
    cmi_matrix,
    joint_mi_matrix,
    measure_table,
    mutual_information,
)
from bestk.information._measures import Measure

__all__ = [
    "Entropies",
    "Measure",
    "cmi_matrix",
    "joint_mi_matrix",
    "measure_table",
    "mutual_information",
]
