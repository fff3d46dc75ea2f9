"""What a machine is like to bestk; run as a process of its own, which may crash."""

import io
import json
import os
import sys
from collections.abc import Callable
from contextlib import redirect_stdout, suppress
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import Any

from bestk.cli._child import tell

FEATURES = ("popcnt", "avx2", "avx512f", "avx512vpopcntdq", "neon", "sve")
ROWS = 60  # of the table that is tried


def main(names: list[str]) -> None:
    """Tell what is found, one name after the other."""
    for name in names:
        tell(name, PROBES[name])


def look_at_cpu() -> dict[str, Any]:
    """Its name, its cores, and what code is compiled for."""
    import joblib  # type: ignore[import-untyped]
    from llvmlite import binding
    from numba import config

    features = binding.get_host_cpu_features()
    return {
        "name": _cpu_name(),
        "target": config.CPU_NAME or binding.get_host_cpu_name(),
        "features": [name for name in FEATURES if features.get(name)],
        "cores": os.cpu_count(),
        "cores_to_use": joblib.cpu_count(),
    }


def _cpu_name() -> str:
    import platform
    import subprocess

    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    with suppress(OSError, subprocess.SubprocessError):
        asked = ["sysctl", "-n", "machdep.cpu.brand_string"]
        return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    return platform.processor() or platform.machine()


def look_at_memory() -> dict[str, Any]:
    """What there is, and what is left of it."""
    from bestk._memory import free_memory, limits, machine_memory

    return {"free": free_memory(), "total": machine_memory(), "words": limits()}


def look_at_blas() -> list[dict[str, Any]]:
    """The libraries that multiply matrices."""
    import scipy.linalg  # noqa: F401  loads its own
    from threadpoolctl import threadpool_info

    keys = ("internal_api", "version", "num_threads", "architecture")
    return [
        {key: library.get(key) for key in keys}
        for library in threadpool_info()
        if library["user_api"] == "blas"
    ]


def look_at_cache() -> dict[str, Any]:
    """Where compiled kernels are kept from one start to the next."""
    import bestk
    from bestk.information.backends import _bitplanes
    from bestk.planning._memory import in_words

    path = _bitplanes.count_rows.stats.cache_path
    if path is None:  # there is no folder that numba may write to
        return {"folder": None, "writable": False, "bytes": 0, "words": in_words(0)}
    folder, package = Path(path), Path(bestk.__file__).parent
    root = package if folder.is_relative_to(package) else folder.parent
    size = sum(path.stat().st_size for path in root.rglob("*.nb[ic]"))
    return {
        "folder": str(root.resolve()),
        "writable": _is_writable(folder),
        "bytes": size,
        "words": in_words(size),
    }


def _is_writable(folder: Path) -> bool:
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return os.access(folder, os.W_OK)


def try_selecting() -> dict[str, Any]:
    """Select from a file as the command does, see that it is right, and how its threads work."""
    from tempfile import TemporaryDirectory

    import numba

    from bestk._kernels import _layer

    with TemporaryDirectory() as folder:
        path = Path(folder, "trial.csv")
        path.write_text("\n".join(["signal,noise,colour,y", *map(trial_row, range(ROWS))]) + "\n")
        start = perf_counter()
        picked = _select(path)
        seconds = perf_counter() - start
    if picked != ["signal"]:
        raise RuntimeError(f"{picked} was selected, where 'signal' is what tells")
    layer, compiles = _layer(), not numba.config.DISABLE_JIT
    return {"seconds": seconds, "threads": numba.get_num_threads(), "layer": layer,
            "compiles": compiles}  # fmt: skip


def trial_row(i: int) -> str:
    """A row of the table that is tried: one number tells of y, another number and a word do not."""
    y = i % 2
    return f"{y + i % 7 / 10},{i * i % 13},{('red', 'green', 'blue')[i % 3]},{('no', 'yes')[y]}"


def _select(path: Path) -> list[str]:
    from bestk.cli._select import select

    printed = io.StringIO()
    with redirect_stdout(printed):
        args = [str(path), "--target", "y", "-k", "1", "--json"]
        select.main(args, prog_name="bestk select", standalone_mode=False)
    return [feature["name"] for feature in json.loads(printed.getvalue())["features"]]


def look_at_gpus() -> list[dict[str, Any]]:
    """The GPUs that torch sees."""
    if find_spec("torch") is None:
        return []
    import torch

    from bestk.planning._memory import in_words

    cuda = torch.cuda
    found = [cuda.get_device_properties(i) for i in range(cuda.device_count())]
    return [
        {"name": each.name, "bytes": each.total_memory, "words": in_words(each.total_memory)}
        for each in found
    ]


PROBES: dict[str, Callable[[], Any]] = {
    "cpu": look_at_cpu,
    "memory": look_at_memory,
    "blas": look_at_blas,
    "cache": look_at_cache,
    "select": try_selecting,
    "gpu": look_at_gpus,
}

if __name__ == "__main__":
    main(sys.argv[1:])
