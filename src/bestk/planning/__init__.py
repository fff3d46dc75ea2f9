"""What a selection will cost, before it starts: the path, the pairs, the memory, the time."""

from bestk.planning._pace import Pace
from bestk.planning._plan import Plan, make_plan
from bestk.planning._shape import Shape

__all__ = ["Pace", "Plan", "Shape", "make_plan"]
