"""Progress of the jobs: a bar on a terminal, lines otherwise."""

import sys
from time import perf_counter
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from experiments.jobs import Job

BETWEEN_LINES = 60.0  # seconds
TRUSTED = 60.0  # seconds of work after which our own pace counts more than the estimate


class Progress:
    """Counts finished work by its estimated cost."""

    def __init__(self, jobs: "list[Job]", processes: int) -> None:
        self.total, self.spent = sum(job.cost for job in jobs), 0.0
        self.count, self.finished, self.processes = len(jobs), 0, processes
        self.start = self.last_line = perf_counter()
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Self:
        if sys.stdout.isatty():
            from rich.progress import BarColumn, TextColumn
            from rich.progress import Progress as Bar

            columns = (BarColumn(), TextColumn("{task.percentage:3.0f}% {task.description}"))
            self._bar = Bar(*columns)
            self._bar.start()
            self._task = self._bar.add_task("", total=self.total)
        self._tell("started")
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def done(self, job: "Job") -> None:
        """Note that a job has ended."""
        self.finished += 1
        self.spent += job.cost
        late = perf_counter() - self.last_line > BETWEEN_LINES
        if self._bar is not None or late or self.finished == self.count:
            self._tell(str(job))

    @property
    def seconds_left(self) -> float:
        """By the pace so far, as far as there is one; else by the estimate."""
        elapsed = perf_counter() - self.start
        pace = (elapsed + TRUSTED / self.processes) / (self.spent + TRUSTED)
        return pace * (self.total - self.spent)

    def _tell(self, what: str) -> None:
        self.last_line = perf_counter()
        left = self.seconds_left / 60
        text = f"{self.finished}/{self.count} jobs, about {left:.1f} min left ({what})"
        if self._bar is not None:
            self._bar.update(self._task, completed=self.spent, description=text)
        else:
            print(f"[{(self.last_line - self.start) / 60:6.1f} min] {text}", flush=True)
