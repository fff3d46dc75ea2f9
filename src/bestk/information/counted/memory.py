"""What counts and codes need, before they are made."""

from bestk._memory import machine_memory

SHARE = 0.5  # of the machine's memory, at most


def memory_to_use() -> float:
    """Bytes that a table in blocks may take."""
    return SHARE * machine_memory()


def bytes_of_counts(n_planes: int, n_classes: int, itemsize: int = 4) -> float:
    """Memory for the counts of pairs, with so many levels beyond the first of each feature.

    Examples
    --------
    >>> bytes_of_counts(n_planes=1000, n_classes=2)
    4004000.0
    """
    return n_planes * (n_planes + 1) / 2 * n_classes * itemsize


def bytes_of_codes(n_rows: int, n_features: int, n_planes: int, itemsize: int = 1) -> float:
    """Memory for codes, and for the planes of bits that are made of them."""
    return n_rows * (n_features * itemsize + n_planes / 8.0)


def refuse_counts(n_planes: int, n_classes: int, itemsize: int, memory: float) -> None:
    """Refuse counts that do not fit."""
    needed = bytes_of_counts(n_planes, n_classes, itemsize)
    if needed > memory:
        raise MemoryError(
            f"counts of all pairs, with {n_planes} levels beyond the first of each feature and "
            f"{n_classes} classes, need {gib(needed)} GiB and may take {gib(memory)}; leave out "
            "columns, cut numbers into fewer levels, or join rare levels and classes"
        )


def refuse_codes(n_rows: int, n_features: int, itemsize: int, memory: float) -> None:
    """Refuse codes that do not fit."""
    needed = bytes_of_codes(n_rows, n_features, 0, itemsize)
    if needed > memory:
        raise MemoryError(
            f"codes of {n_features} columns in {n_rows} rows need {gib(needed)} GiB and may take "
            f"{gib(memory)}; leave out columns, or take a part of the rows"
        )


def gib(n_bytes: float) -> str:
    """Bytes in GiB, as people read them."""
    return f"{n_bytes / 2**30:.3g}"
