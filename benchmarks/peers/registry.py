"""The packages, bestk first."""

from benchmarks.peers import counters, estimators, functions, ours
from benchmarks.peers.peer import Peer

PEERS: dict[str, Peer] = {
    peer.name: peer
    for peer in (
        ours.BESTK,
        estimators.SCIKIT_LEARN,
        functions.MRMR_SELECTION,
        functions.MRMRS,
        counters.FEATURE_ENGINE,
        estimators.SCIKIT_LEGO,
        estimators.FASTCAN,
        counters.FAST_SELECT,
        counters.ITMO_FS,
        functions.SKFEATURE,
        counters.MIFS,
        estimators.BORUTA,
        estimators.ARFS,
        functions.SELEQT,
        estimators.DWAVE,
    )
}
