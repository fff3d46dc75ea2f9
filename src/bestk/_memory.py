"""The memory that this process can use."""

import os
from collections.abc import Iterator
from pathlib import Path

GROUPS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
MEMORY_SHARE = 0.5  # of the machine's memory, for counts, codes or a table read in blocks
USED = ("/sys/fs/cgroup/memory.current", "/sys/fs/cgroup/memory/memory.usage_in_bytes")


def machine_memory() -> float:
    """The largest number of bytes for this process: of the machine, the container, ``ulimit``."""
    return min(filter(None, (_physical(), *map(_number, GROUPS), _address_limit())))


def free_memory() -> float:
    """The number of bytes that are free now.

    Examples
    --------
    >>> 0 <= free_memory() <= machine_memory()
    True
    """
    return max(0.0, min([machine_memory(), *_rooms()]))


def memory_to_use() -> float:
    """Bytes that counts, codes or a table read in blocks may take."""
    return MEMORY_SHARE * machine_memory()


def gib(size: float) -> str:
    """Bytes in GiB, in three digits however few they are."""
    return f"{size / 2**30:.3g}"


def is_limited() -> bool:
    """Whether the address space is limited (``ulimit -v``)."""
    return _address_limit() > 0


def limits() -> str:
    """The free memory and its limit in words.

    Examples
    --------
    >>> limits()
    '... GiB are free of ...'
    """
    text = f"{_gib(free_memory())} GiB are free of {_gib(machine_memory())}"
    if _address_limit() == machine_memory():
        return f"{text} (the limit of `ulimit -v`)"
    return f"{text} (the limit of the container)" if machine_memory() < _physical() else text


def _gib(size: float) -> str:
    """Three digits, at most three of them decimals.

    Examples
    --------
    >>> _gib(2**30), _gib(2**34 / 3), _gib(300.0)
    ('1', '5.33', '0')
    """
    return f"{round(size / 2**30, 3):.3g}"


def _physical() -> float:
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):  # not on every system
        return float("inf")


def _rooms() -> Iterator[float]:
    """The free bytes below each limit."""
    kinds = _kilobytes("/proc/meminfo")
    if "MemAvailable" in kinds:
        yield kinds["MemAvailable"] + kinds.get("SwapFree", 0.0)
    for most, used in zip(map(_number, GROUPS), map(_number, USED), strict=True):
        if most and used:
            yield most - used + _number("/sys/fs/cgroup/memory.stat", "inactive_file")
    if limit := _address_limit():
        yield limit - _kilobytes("/proc/self/status").get("VmSize", 0.0)


def _address_limit() -> float:
    """The limit of ``ulimit -v``; 0 if there is none."""
    try:
        import resource
    except ImportError:
        return 0.0
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    return 0.0 if soft == resource.RLIM_INFINITY else float(soft)


def _number(path: str, name: str = "") -> float:
    """The number in a file, or in its line of that name; 0 if there is none."""
    try:
        words = Path(path).read_text().split()
    except OSError:
        return 0.0
    place = words.index(name) + 1 if name in words else 0
    return float(words[place]) if words and words[place].isdigit() else 0.0


def _kilobytes(path: str) -> dict[str, float]:
    """Bytes by name, from lines such as ``VmSize:  123 kB``."""
    try:
        lines = Path(path).read_text().splitlines()
    except OSError:
        return {}
    parts = [line.split() for line in lines if line.endswith(" kB")]
    return {part[0].rstrip(":"): 1024.0 * float(part[1]) for part in parts}
