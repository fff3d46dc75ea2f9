"""Check a package in a separate process, since it may crash or hang."""

import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context
from typing import Any

from benchmarks.peers.answers import Answer, ask, no
from benchmarks.peers.peer import Peer
from benchmarks.peers.probes import PROBES
from benchmarks.peers.record import Row, context, release_date
from benchmarks.peers.registry import PEERS
from benchmarks.selectors.silence import silent

PATIENCE = 300  # seconds for one probe


class LateError(BaseException):
    """Out of time; no peer catches it with ``except Exception``."""


def probe_peer(name: str, probes: Sequence[str], patience: int = PATIENCE) -> list[Row]:
    """Some probes of a peer, in a new process; if it dies, that is the only row."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        try:
            return pool.submit(_probe, name, probes, patience).result()
        except BrokenProcessPool:
            return [_row(PEERS[name], "finds", no("its process died"))]


def _probe(name: str, probes: Sequence[str], patience: int) -> list[Row]:
    peer = PEERS[name]
    return [_row(peer, probe, _in_time(PROBES[probe], peer, patience)) for probe in probes]


def _in_time(function: Callable[[Peer], Answer], peer: Peer, patience: int) -> Answer:
    try:
        with alarm(patience), silent():
            return ask(function, peer)
    except LateError:
        return no(f"not finished after {patience} s")


@contextmanager
def alarm(seconds: int) -> Iterator[None]:
    """Raise ``LateError`` when the time is up."""

    def ring(*_: Any) -> None:
        raise LateError

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def _row(peer: Peer, probe: str, found: Answer) -> Row:
    number = peer.version or ""
    released = release_date(peer.package, number)
    return Row(peer.name, number, released, probe, found.answer, found.evidence, "run", **context())
