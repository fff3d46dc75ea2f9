"""The memory that this process can use."""

import os
from pathlib import Path

GROUP = "/sys/fs/cgroup/memory"  # of the container, by control groups of version 2


def machine_memory() -> float:
    """The largest number of bytes for this process: of the machine, the container, ``ulimit``."""
    return min(filter(None, (_physical(), address_limit(), _number(f"{GROUP}.max"))))


def free_memory() -> float:
    """The number of bytes that are free now."""
    rooms = [machine_memory()]
    if available := _number("/proc/meminfo", "MemAvailable:"):
        rooms.append(1024 * (available + _number("/proc/meminfo", "SwapFree:")))
    if most := _number(f"{GROUP}.max"):
        kept = _number(f"{GROUP}.stat", "inactive_file")  # in the cache of files
        rooms.append(most - _number(f"{GROUP}.current") + kept)
    if limit := address_limit():
        rooms.append(limit - 1024 * _number("/proc/self/status", "VmSize:"))
    return max(0.0, min(rooms))


def limits() -> str:
    """The free memory and its limit in words."""
    return f"{free_memory() / 2**30:.3g} GiB are free of {machine_memory() / 2**30:.3g}"


def address_limit() -> float:
    """The limit of ``ulimit -v``; 0 if there is none."""
    try:
        import resource
    except ImportError:  # not on every system
        return 0.0
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    return 0.0 if soft == resource.RLIM_INFINITY else float(soft)


def _physical() -> float:
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):  # not on every system
        return float("inf")


def _number(path: str, name: str = "") -> float:
    """The number in a file, or after a word in it; 0 if there is none."""
    try:
        words = Path(path).read_text().split()
    except OSError:
        return 0.0
    place = words.index(name) + 1 if name in words else 0
    return float(words[place]) if words and words[place].isdigit() else 0.0
