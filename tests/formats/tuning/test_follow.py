"""Logs that grow, are cut off, and are written again."""

import os
import threading
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from random import Random

import numpy as np
import pytest

from tests.make import tuning_cases as make
from tvmdbg_widgets import FormatError, TuningLog, open_tuning
from tvmdbg_widgets.formats.tuning.record import read_record
from tvmdbg_widgets.model.tuning.trials import Trials


def lines_of(seed: int, count: int = 6) -> list[bytes]:
    random = Random(seed)
    return [make.ansor(random, usual=True).line for _ in range(count)]


def check_same(found: TuningLog, expected: TuningLog) -> None:
    """Two logs have the same rows, tasks and account of what was not read."""
    for each in fields(Trials):
        one, other = (getattr(log.trials, each.name) for log in (found, expected))
        if each.name == "version":
            assert list(one) == list(other)
        else:
            np.testing.assert_array_equal(one, other, each.name)
    assert found.tasks == expected.tasks
    for name in ("refused", "num_refused", "cut", "undecoded", "positions"):
        assert getattr(found.parts, name) == getattr(expected.parts, name), name


@pytest.mark.parametrize("seed", range(6))
def test_log_appended_in_pieces_equals_a_full_read(tmp_path: Path, seed: int) -> None:
    random = Random(seed)
    whole = b"\n".join([*lines_of(seed), b"# comment", b"{}", b"", *lines_of(seed + 1, 2), b""])
    path = tmp_path / "log.json"
    path.write_bytes(b"")
    log = open_tuning(path)
    follower = log.follow()
    assert follower.poll() is None
    at = 0
    while at < len(whole):
        end = min(len(whole), at + random.choice([1, 40, 900, 2000]))
        with path.open("ab") as file:
            file.write(whole[at:end])
        at = end
        grown = follower.poll()
        assert grown is not None, follower.problem
        check_same(grown, open_tuning(path))
        assert follower.poll() is None
    assert len(log) == 0


def test_a_log_that_was_opened_stays_readable_while_the_file_grows(tmp_path: Path) -> None:
    first, second = lines_of(2, 2)
    path = tmp_path / "log.json"
    path.write_bytes(first + b"\n")
    log = open_tuning(path)
    with path.open("ab") as file:
        file.write(second + b"\n")
    assert read_record(log.parts, 0).line == first
    path.write_bytes(second + b"\n" + first + b"\n")
    with pytest.raises(FormatError, match="changed"):
        read_record(log.parts, 0)


def test_a_file_written_again_byte_by_byte_is_read_again(tmp_path: Path) -> None:
    before, after = lines_of(3, 4), lines_of(4, 3)
    path = tmp_path / "log.json"
    path.write_bytes(b"\n".join(before) + b"\n")
    follower = open_tuning(path).follow()
    whole = b"\n".join(after) + b"\n"
    with path.open("wb", buffering=0) as file:
        for at in range(len(whole)):
            file.write(whole[at : at + 1])
            if at % 97 == 0:
                grown = follower.poll()
                complete = whole[: at + 1].count(b"\n")
                assert grown is not None, follower.problem
                assert (len(grown), grown.parts.num_refused) == (complete, 0)
    last = follower.poll()
    check_same(last, open_tuning(path))
    assert [read_record(last.parts, row).line for row in range(3)] == after


def test_rewrite_of_the_same_size_is_detected(tmp_path: Path) -> None:
    line = lines_of(5, 1)[0]
    path = tmp_path / "log.json"
    path.write_bytes(line + b"\n")
    follower = open_tuning(path).follow()
    other = line.replace(b'"v": "v0.', b'"v": "w0.')
    path.write_bytes(other + b"\n")
    os.utime(path, (1, 1))
    assert read_record(follower.poll().parts, 0).line == other
    os.utime(path, (2, 2))
    assert follower.poll() is None


def test_rows_of_several_growing_files_keep_their_order(tmp_path: Path) -> None:
    one, other = tmp_path / "one.json", tmp_path / "two.json"
    lines = lines_of(8, 6)
    one.write_bytes(lines[0] + b"\n")
    other.write_bytes(lines[1] + b"\n" + lines[2][:30])
    log = open_tuning([one, other], weights=None)
    follower = log.follow()
    with one.open("ab") as file:
        file.write(lines[3] + b"\n")
    grown = follower.poll()
    assert grown.parts.cut
    with other.open("ab") as file:
        file.write(lines[2][30:] + b"\n")
    grown = follower.poll()
    assert not grown.parts.cut
    found = [read_record(grown.parts, row).line for row in range(len(grown))]
    assert found == [lines[0], lines[1], lines[3], lines[2]]
    assert [each.name for each in grown.parts.sources] == [str(one), str(other)]


@pytest.mark.parametrize("other", [b"{}", b"# comment", b"llvm\tgASVAAAA\tgASVAAAA\tgASVAAAA"])
def test_unfinished_last_lines_are_counted_once(tmp_path: Path, other: bytes) -> None:
    one, two = tmp_path / "one.json", tmp_path / "two.json"
    first, last = lines_of(13, 2)
    one.write_bytes(first + b"\n" + last[:50])
    two.write_bytes(first + b"\n" + other)
    follower = open_tuning([one, two]).follow()
    for path, more in ((one, last[50:] + b"\n"), (two, b"\n" + last)):
        with path.open("ab") as file:
            file.write(more)
        grown, again = follower.poll().parts, open_tuning([one, two]).parts
        for name in ("num_refused", "cut", "undecoded"):
            assert getattr(grown, name) == getattr(again, name), name


def test_output_and_databases_grow_too(tmp_path: Path) -> None:
    output = tmp_path / "out.txt"
    log = tmp_path / "log.json"
    log.write_bytes(lines_of(9, 1)[0] + b"\n")
    output.write_bytes(b"ElapsedTime(s)\t10\tEstimatedLatency(ms)\t3\tTrials\t64\n")
    follower = open_tuning([log, output]).follow()
    with output.open("ab") as file:
        file.write(b"ElapsedTime(s)\t20\tEstimatedLatency(ms)\t2\tTrials\t128\n")
    grown = follower.poll()
    assert (grown.parts.latency.trials.tolist(), len(grown)) == ([64, 128], 1)
    assert follower.poll() is None
    records = tmp_path / "database_tuning_record.json"
    records.write_bytes(make.metaschedule(Random(1), 0).line + b"\n")
    follower = open_tuning(records).follow()
    with records.open("ab") as file:
        file.write(make.metaschedule(Random(2), 1).line + b"\n")
    grown = follower.poll()
    assert (len(grown), len(grown.tasks)) == (2, 2)


def test_weights_stay_with_their_tasks(tmp_path: Path) -> None:
    line = lines_of(12, 1)[0]
    path = tmp_path / "log.json"
    path.write_bytes(line + b"\n")
    log = open_tuning(path, weights=[3])
    follower = log.follow()
    with path.open("ab") as file:
        file.write(line.replace(log.tasks[0].target.text.encode(), b"vta") + b"\n")
    assert follower.poll().weights == (3.0, 1.0)


def test_iteration_yields_changes_until_follower_is_closed(tmp_path: Path) -> None:
    lines = lines_of(10, 3)
    path = tmp_path / "log.json"
    path.write_bytes(lines[0] + b"\n")
    found: list[int] = []
    changed = threading.Event()
    with open_tuning(path).follow(seconds=0.01) as follower:

        def look() -> None:
            for log in follower:
                found.append(len(log))
                changed.set()

        thread = threading.Thread(target=look)
        thread.start()
        for line in lines[1:]:
            changed.clear()
            with path.open("ab") as file:
                file.write(line + b"\n")
            assert changed.wait(10)
    thread.join(10)
    assert not thread.is_alive()
    assert found[-1] == 3
    assert "closed" in repr(follower)


def test_only_files_on_disk_can_be_followed(tmp_path: Path) -> None:
    line = lines_of(11, 1)[0]
    with pytest.raises(ValueError, match="file on disk"):
        open_tuning(line).follow()
    path = tmp_path / "log.json"
    path.write_bytes(line)
    with pytest.raises(ValueError, match="above 0"):
        open_tuning(path).follow(seconds=0)


def _link(place: Path) -> None:
    secret = place.parent.parent / "secret.json"
    secret.write_bytes(b"\n".join(lines_of(9)) + b"\n")
    place.symlink_to(secret)


@pytest.mark.skipif(os.name == "nt", reason="pipes and links of Unix")
@pytest.mark.parametrize("whole", [True, False], ids=["folder", "file"])
@pytest.mark.parametrize(
    ("put", "told"),
    [
        (os.mkfifo, "not a regular file"),
        (_link, "a link out of the folder"),
        (Path.mkdir, "directory"),
        (lambda _: None, "No such file"),
    ],
)
def test_replaced_log_is_refused_until_it_is_a_file_again(
    tmp_path: Path, whole: bool, put: Callable[[Path], None], told: str
) -> None:
    path = tmp_path / "logs" / "log.json"
    path.parent.mkdir()
    path.write_bytes(b"\n".join(lines_of(1)) + b"\n")
    log = open_tuning(path.parent if whole else path)
    follower = log.follow()
    path.unlink()
    put(path)
    for _ in range(2):
        assert follower.poll() is None
        assert told in str(follower.problem)
    with pytest.raises((OSError, FormatError)):
        log.parts.sources[0].read(0, 10)
    if path.is_dir() and not path.is_symlink():
        path.rmdir()
    else:
        path.unlink(missing_ok=True)
    path.write_bytes(b"\n".join(lines_of(2, 3)) + b"\n")
    assert len(follower.poll()) == 3
