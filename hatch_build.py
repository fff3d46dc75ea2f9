"""Compile the C kernels: a hook of hatchling, and ``python hatch_build.py`` to build in place."""

import argparse
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ImportError:  # run as a script, without hatchling
    BuildHookInterface = object  # type: ignore[assignment,misc]

SOURCES = Path(__file__).parent / "src" / "bestk" / "native"
# Aligned functions: the speed of a loop does not depend on the size of others.
FLAGS = ["-std=c11", "-O3", "-fPIC", "-shared", "-fopenmp-simd", "-ffp-contract=off",
         "-fno-math-errno", "-fno-trapping-math", "-fvisibility=hidden", "-falign-functions=64",
         "-Wall", "-Wextra"]  # fmt: skip
LEVELS = {  # instruction sets of x86-64 beyond the first, as in bestk.native: a library for each
    "avx2": ["-mavx2", "-mpopcnt", "-mbmi", "-mbmi2"],
    "avx512": ["-mavx2", "-mpopcnt", "-mbmi", "-mbmi2", "-mavx512f", "-mavx512bw", "-mavx512dq",
               "-mavx512vl", "-mavx512vpopcntdq"],
}  # fmt: skip
MARKS = {"avx2": "avx2", "avx512": "avx512_vpopcntdq"}  # of the levels in /proc/cpuinfo
PLATFORMS = {  # wheel platform: zig's name of the target
    "manylinux_2_17_x86_64": "x86_64-linux-gnu.2.17",
    "manylinux_2_17_aarch64": "aarch64-linux-gnu.2.17",
    "macosx_11_0_x86_64": "x86_64-macos.11.0",
    "macosx_11_0_arm64": "aarch64-macos.11.0",
    "win_amd64": "x86_64-windows-gnu",
}


def library_name(platform: str) -> str:
    """The file name of the library on a wheel platform."""
    return "_kernels.dll" if platform.startswith("win") else "_kernels.so"


def this_platform() -> str:
    """The wheel platform of this machine."""
    return sysconfig.get_platform().replace("-", "_").replace(".", "_")


def wheel_platform(library: Path) -> str:
    """The platform of a wheel with this library: manylinux where any Linux since 2014 has glibc."""
    needed = re.findall(rb"GLIBC_2\.(\d+)", library.read_bytes())
    old = this_platform() == "linux_x86_64" and needed and max(map(int, needed)) <= 17
    return "manylinux_2_17_x86_64" if old else this_platform()


def find_compiler() -> list[str] | None:
    """``$CC``, else the first of cc, gcc and clang that is installed."""
    if os.environ.get("CC"):
        return os.environ["CC"].split()
    found = next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)
    return [found] if found else None


def this_cpu() -> list[str]:
    """The levels that this machine can run; all of them where it does not say."""
    info = Path("/proc/cpuinfo")
    flags = info.read_text().split() if info.exists() else list(MARKS.values())
    return [level for level, mark in MARKS.items() if mark in flags]


def build(
    platform: str | None = None, extra: tuple[str, ...] = (), out: Path | None = None,
    levels: Iterable[str] = tuple(LEVELS),
) -> list[Path]:  # fmt: skip
    """Compile the libraries for a wheel platform (None: this machine) and return their paths."""
    out = out or SOURCES / library_name(platform or this_platform())
    compiler = None if platform else find_compiler()
    if compiler is None:
        target = ["-target", PLATFORMS[platform]] if platform else []
        compiler = [sys.executable, "-m", "ziglang", "cc", *target]
    name = platform or this_platform()
    libraries = [] if name.startswith("win") else ["-lm"]
    built, running = [out], []
    flags: list[list[str]] = [[]]
    if name.endswith(("x86_64", "amd64")):
        built += [out.with_stem(f"{out.stem}_{level}") for level in levels]
        flags += [LEVELS[level] for level in levels]
    parts = [path.with_name(f"{path.name}.{os.getpid()}") for path in built]
    sources = sorted(map(str, SOURCES.glob("*.c")))
    for part, own in zip(parts, flags, strict=True):
        command = [*compiler, *FLAGS, *own, *extra, *sources, "-o", str(part), *libraries]
        running.append(subprocess.Popen(command))
    statuses = [each.wait() for each in running]
    if any(statuses):
        raise subprocess.CalledProcessError(max(statuses), compiler)
    for part, path in zip(parts, built, strict=True):
        part.replace(path)
    return built


class NativeBuildHook(BuildHookInterface):
    """Compile the kernels into the wheel; ``BESTK_PLATFORM`` names another platform."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """Ask for zig, a C compiler on PyPI, only where no compiler is installed."""
        cross = "BESTK_PLATFORM" in os.environ
        return ["ziglang>=0.13,<0.18"] if cross or find_compiler() is None else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, and tag the wheel: one for every Python, as ctypes needs no Python headers."""
        if self.target_name != "wheel":
            return
        platform = os.environ.get("BESTK_PLATFORM")
        folder = Path(tempfile.mkdtemp()) if platform else SOURCES
        out = folder / library_name(platform or this_platform())
        levels = this_cpu() if version == "editable" else LEVELS
        libraries = build(platform, out=out, levels=levels)
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform or wheel_platform(libraries[0])}"
        if version != "editable":
            for path in libraries:
                build_data["force_include"][str(path)] = f"bestk/native/{path.name}"


def main() -> None:
    """Build in place, or to ``--out PATH``, with other options of the compiler."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--out", type=Path)
    options, extra = parser.parse_known_args()
    print(*build(extra=tuple(extra), out=options.out))


if __name__ == "__main__":
    main()
