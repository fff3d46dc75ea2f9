"""Try what is installed: ``python -m benchmarks.peers [--only PEER ...] [--rounds 5]``.

Nothing is installed: ``pip install -e '.[bench]'`` brings the peers. A peer that needs older
packages than the others is tried again in an environment of its own, with ``--only PEER --older``;
each row says what it ran beside.
"""

import argparse
import sys
from pathlib import Path

from benchmarks.peers.apart import probe_peer
from benchmarks.peers.probes import PROBES
from benchmarks.peers.record import FILE, Row, documented, write
from benchmarks.peers.registry import PEERS
from benchmarks.peers.times import time_peers

NEWEST = "newest packages"  # the probe that an older environment cannot answer


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=list(PEERS), default=list(PEERS))
    parser.add_argument("--probes", nargs="+", choices=list(PROBES), default=list(PROBES))
    parser.add_argument("--rounds", type=int, default=5, help="of timing; 0 for none")
    parser.add_argument("--older", action="store_true", help="packages are not the newest")
    parser.add_argument("--out", type=Path, default=FILE)
    options = parser.parse_args(arguments)
    installed = [PEERS[name] for name in options.only if PEERS[name].version]
    for name in options.only:
        if not PEERS[name].version:
            print(f"{name}: not installed, skipped", file=sys.stderr)
    probes = [probe for probe in options.probes if not (options.older and probe == NEWEST)]
    rows = [row for peer in installed for row in _shown(probe_peer(peer.name, probes))]
    if options.rounds:
        working = [peer for peer in installed if _works(rows, peer.name)]
        rows += _shown(time_peers(working, options.rounds))
    write([*rows, *documented()], options.out)
    print(f"wrote {options.out}")


def _works(rows: list[Row], name: str) -> bool:
    """Whether it picks anything at all."""
    return any(row.peer == name and row.probe == "criteria" and row.answer != "0" for row in rows)


def _shown(rows: list[Row]) -> list[Row]:
    for row in rows:
        print(f"{row.peer:26} {row.probe:22} {row.answer:14} {row.evidence}", flush=True)
    return rows


if __name__ == "__main__":
    main()
