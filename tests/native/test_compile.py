"""The C code, as the compiler of this machine sees it."""

import shutil
import subprocess
from pathlib import Path

import pytest

SOURCES = Path(__file__).parents[2] / "src" / "bestk" / "native"


@pytest.mark.skipif(not shutil.which("cc"), reason="no C compiler")
def test_the_compiler_has_no_warnings():
    command = ["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-fopenmp-simd", "-fsyntax-only"]
    subprocess.run([*command, *map(str, sorted(SOURCES.glob("*.c")))], check=True)
