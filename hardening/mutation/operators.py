"""The faults: cosmic-ray's operators that change numbers, and two of our own."""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from cosmic_ray.operators.operator import Operator
from cosmic_ray.plugins import get_operator

SIGNS = (
    *("Add_Sub", "Sub_Add", "Mul_Div", "Mul_Add", "Div_Mul", "Pow_Mul", "Mod_FloorDiv"),
    *("FloorDiv_Mul", "FloorDiv_Add", "RShift_LShift", "LShift_RShift"),
    *("BitOr_BitAnd", "BitAnd_BitOr", "BitXor_BitOr"),
)
COMPARISONS = (
    *("Eq_NotEq", "NotEq_Eq", "Is_IsNot", "IsNot_Is", "Lt_LtE", "Lt_GtE", "LtE_Lt", "LtE_Gt"),
    *("Gt_GtE", "Gt_LtE", "GtE_Gt", "GtE_Lt"),
)
NAMES = (
    *(f"core/ReplaceBinaryOperator_{pair}" for pair in SIGNS),
    *(f"core/ReplaceComparisonOperator_{pair}" for pair in COMPARISONS),
    *(f"core/ReplaceUnaryOperator_Delete_{sign}" for sign in ("USub", "Invert", "Not")),
    *("core/ReplaceTrueWithFalse", "core/ReplaceFalseWithTrue"),
    *("core/ReplaceAndWithOr", "core/ReplaceOrWithAnd", "core/AddNot"),
    *("core/ReplaceBreakWithContinue", "core/ReplaceContinueWithBreak"),
    *("core/NumberReplacer", "core/ZeroIterationForLoop"),
)
_TWINS = (
    *(("min", "max"), ("minimum", "maximum"), ("argmin", "argmax"), ("floor", "ceil")),
    *(("any", "all"), ("zeros", "ones"), ('"left"', '"right"')),
)
TWINS = {**dict(_TWINS), **{b: a for a, b in _TWINS}}


class SwapTwins(Operator):  # type: ignore[misc]
    """``min`` for ``max``, ``any`` for ``all``, ``"left"`` for ``"right"``, and back."""

    def mutation_positions(self, node: Any) -> Iterator[tuple[Any, Any]]:
        """Where such a string stands, or a function of such a name is called."""
        if node.type == "name" and node.value in TWINS and node.get_next_leaf() == "(":
            yield node.start_pos, node.end_pos
        if node.type == "string" and node.value in TWINS:
            yield node.start_pos, node.end_pos

    def mutate(self, node: Any, index: int) -> Any:
        """Put the twin there."""
        node.value = TWINS[node.value]
        return node

    @classmethod
    def examples(cls) -> tuple[()]:
        """None: cosmic-ray asks for them."""
        return ()


class DropKeyword(Operator):  # type: ignore[misc]
    """Leave a keyword argument out of a call: ``kind="stable"``, ``random_state=seed``."""

    def mutation_positions(self, node: Any) -> Iterator[tuple[Any, Any]]:
        """Where an argument is given by name; ``strict`` guards against what cannot happen."""
        named = node.type == "argument" and node.children[1] == "="
        if named and node.children[0].value != "strict":
            yield node.start_pos, node.end_pos

    def mutate(self, node: Any, index: int) -> Any:
        """Unpack nothing in its place, so that no comma is left over."""
        first = node.get_first_leaf()
        first.value = "**{}"
        node.children = [first]
        return node

    @classmethod
    def examples(cls) -> tuple[()]:
        """None: cosmic-ray asks for them."""
        return ()


@lru_cache
def operators() -> dict[str, Operator]:
    """Every operator by its short name."""
    known = {name.split("/")[1].removeprefix("Replace"): get_operator(name)() for name in NAMES}
    return {**known, "SwapTwins": SwapTwins(), "DropKeyword": DropKeyword()}
