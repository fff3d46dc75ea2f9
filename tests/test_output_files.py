"""What is written takes the place of a plain file, and of nothing else."""

import errno
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from bestk.tables.files import replacing


def test_a_private_file_stays_private(tmp_path):
    path = tmp_path / "out.csv"
    path.write_text("old")
    path.chmod(0o600)
    with replacing(path) as part:
        assert stat.S_IMODE(part.stat().st_mode) == 0o600
        part.write_text("new")
    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_part_file_left_by_a_killed_process_of_the_same_id_is_no_obstacle(tmp_path):
    for _ in range(2):
        writer = replacing(tmp_path / "out.csv")
        writer.__enter__().write_text("new")  # and the process is killed
    with replacing(tmp_path / "out.csv") as part:
        part.write_text("newer")
    assert (tmp_path / "out.csv").read_text() == "newer"


def test_eight_threads_can_write_one_file_at_once(tmp_path):
    path, together = tmp_path / "report.html", Barrier(8)

    def write(number):
        with replacing(path) as part:
            together.wait(timeout=30)
            part.write_text(str(number))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(8)))
    assert path.read_text() in "01234567"
    assert list(tmp_path.iterdir()) == [path]


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
