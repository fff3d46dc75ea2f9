"""Apply one change after the other, and run its tests."""

import json
import os
import time
from pathlib import Path

from hardening.mutation import record, targets, warm
from hardening.mutation.sample import Mutant
from hardening.mutation.tree import Tree, copy_parts

FREE, TIMES = 20.0, 4.0  # seconds; times the usual
WORDS = {"passed": "survived", "failed": "killed", "timeout": "timeout"}


def prepare(tree: Path, folder: Path) -> Path:
    """A copy of the tree to take the workers' copies from; made once."""
    base = folder / "base"
    if not base.exists():
        copy_parts(tree, base)
    return base


class Worker:
    """A tree of its own, and the time that its tests take without a fault."""

    def __init__(self, base: Path, folder: Path, nearest: bool) -> None:
        self.tree, self.folder, self.nearest = Tree(base, folder), folder, nearest
        self.usual_times = base / "usual.json"

    def work(self, mutants: list[Mutant], until: float) -> None:
        """Try the faults until the time is up."""
        for mutant in mutants:
            if time.monotonic() < until:
                verdict = self.verdict(mutant)
                tests = "nearest" if self.nearest else "related"
                record.append(mutant.key, WORDS[verdict.word], tests, verdict.seconds)

    def verdict(self, mutant: Mutant) -> warm.Verdict:
        """What the tests say to one fault."""
        choose = targets.nearest if self.nearest else targets.related
        tests = choose(self.folder, mutant.module)
        limit = FREE + TIMES * self.usual(tests)
        with self.tree.fault(mutant):
            verdict = warm.run(self.folder, tests, limit, few=self.nearest)
            if verdict.word != "passed":
                return verdict
            # by themselves: they import the module anew, which upsets tests that patch it
            examples = warm.run(self.folder, [f"src/{mutant.module}"], limit)
        return warm.Verdict(examples.word, verdict.seconds + examples.seconds)

    def usual(self, tests: list[str]) -> float:
        """Seconds of work without a fault, which all tests must pass; measured once."""
        name = f"{'few' if self.nearest else 'all'} {' '.join(tests)}"
        known = json.loads(self.usual_times.read_text()) if self.usual_times.exists() else {}
        if name not in known:
            verdict = warm.run(self.folder, tests, seconds=1200, few=self.nearest)
            if verdict.word != "passed":
                log = (self.folder / "last.log").read_text()
                raise RuntimeError(f"{name} must pass without a fault, but {verdict.word}:\n{log}")
            known[name] = verdict.seconds
            fresh = self.usual_times.with_suffix(f".{os.getpid()}")
            fresh.write_text(json.dumps(known, indent=1))
            fresh.replace(self.usual_times)
        return float(known[name])
