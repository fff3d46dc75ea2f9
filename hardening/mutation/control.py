"""Proof that no compiled kernel hides a fault: one in a kernel that other files call."""

from pathlib import Path

from hardening.mutation import warm
from hardening.mutation.sample import Mutant
from hardening.mutation.tree import Tree

MODULE, TESTS = "bestk/discretize/_scheme.py", ["tests/discretize/test_caim.py"]
BEFORE, AFTER = "midpoint(runs.value[at - 1], runs.value[at])", "runs.value[at - 1]"


def control(base: Path, folder: Path) -> str:
    """What the tests say to that fault, to the same with its callers' kernels kept, and to none."""
    tree = Tree(base, folder)
    source = (base / "src" / MODULE).read_text()
    if BEFORE not in source:
        raise RuntimeError(f"{MODULE} has no {BEFORE!r} any more; choose another fault")
    mutant = Mutant(MODULE, 0, "by hand", BEFORE, AFTER, source.replace(BEFORE, AFTER))
    with tree.fault(mutant):
        found = warm.run(folder, TESTS, 300).word
    with tree.fault(mutant, keep=True):
        hidden = warm.run(folder, TESTS, 300).word
    plain = warm.run(folder, TESTS, 300).word
    return f"fault: {found}; fault, kernels of callers kept: {hidden}; no fault: {plain}"
