"""What is written takes the place of a plain file, and of nothing else."""

import errno
import os
import stat
import subprocess
import sys

import pytest

from bestk.files._write import replacing

TABLE = "a,b,y\n" + "".join(f"{i % 2},{i % 3},{i % 2}\n" for i in range(12))


def test_a_private_file_stays_private(tmp_path):
    path = tmp_path / "out.csv"
    path.write_text("old")
    path.chmod(0o600)
    with replacing(path) as part:
        assert stat.S_IMODE(part.stat().st_mode) == 0o600
        part.write_text("new")
    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_names_may_be_as_long_as_the_system_allows(tmp_path):
    path = tmp_path / ("n" * 251 + ".csv")
    with replacing(path) as part:
        part.write_text("new")
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_is_not_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    (tmp_path / "link.csv").symlink_to("pipe.csv")
    for name in ("pipe.csv", "link.csv"):
        with pytest.raises(ValueError, match="is no plain file, and is not replaced"):
            replacing(tmp_path / name).__enter__()
    assert stat.S_ISFIFO((tmp_path / "pipe.csv").stat().st_mode)


def test_a_full_disk_is_told_with_the_name_of_the_file(tmp_path):
    path = tmp_path / "out.csv"
    with pytest.raises(OSError, match=r"No space left on device: .*out\.csv"), replacing(path):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert not list(tmp_path.iterdir())


def test_the_file_behind_standard_input_is_not_written_to(tmp_path):
    path = tmp_path / "in.csv"
    path.write_text(TABLE)
    words = [sys.executable, "-m", "bestk", "select", "-", "-t", "y", "-k", "1", "-m", "maxrel"]
    with path.open() as stdin:
        done = subprocess.run([*words, "-o", path], stdin=stdin, capture_output=True, text=True)
    assert (done.returncode, path.read_text()) == (2, TABLE)
    assert "in.csv is the file that is read; write to another" in done.stderr
