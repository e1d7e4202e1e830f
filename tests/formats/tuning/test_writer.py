"""Records written again, byte for byte, and logs put together."""

from pathlib import Path
from random import Random

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.make import tuning_cases as make
from tvmdbg_widgets import open_tuning
from tvmdbg_widgets.formats.tuning.assemble import combine
from tvmdbg_widgets.formats.tuning.record import read_record, write_lines


def test_lines_are_written_byte_for_byte(tmp_path: Path) -> None:
    random = Random(1)
    lines = [make.ansor(random).line for _ in range(20)]
    lines += [make.autotvm(random).line, make.metaschedule(random, 0).line]
    log = open_tuning(b"# comment\r\n" + b"\r\n".join(lines) + b"\n{}\n")
    path = write_lines(tmp_path / "again.json", log.parts, range(len(log)))
    assert path.read_bytes() == b"".join(line + b"\n" for line in lines)
    write_lines(path, log.parts, [3, 3, -1])
    assert path.read_bytes() == b"".join(lines[i] + b"\n" for i in (3, 3, -1))
    assert list(tmp_path.iterdir()) == [path]


@given(st.integers(0, 2**32), st.integers(1, 4))
def test_logs_combine_as_if_their_files_were_one(seed: int, pieces: int) -> None:
    random = Random(seed)
    lines = [make.ansor(random, usual=True).line for _ in range(8)] + [b"{}"]
    parts = [lines[i::pieces] for i in range(pieces)]
    logs = [open_tuning(b"\n".join(each)) for each in parts]
    whole = combine([each.parts for each in logs], "all")
    once = open_tuning(b"\n".join(line for part in parts for line in part))
    assert whole.tasks == once.tasks
    assert whole.num_refused == once.parts.num_refused == 1
    np.testing.assert_array_equal(whole.trials.task, once.trials.task)
    np.testing.assert_array_equal(whole.trials.cost, once.trials.cost)
    np.testing.assert_array_equal(whole.trials.run_costs, once.trials.run_costs)
    np.testing.assert_array_equal(whole.trials.run_offsets, once.trials.run_offsets)
    np.testing.assert_array_equal(whole.trials.schedule, once.trials.schedule)
    assert list(whole.trials.version) == list(once.trials.version)
    for row in range(len(once)):
        assert read_record(whole, row).line == read_record(once.parts, row).line
    assert [whole.sources[each.source] for each in whole.refused] == [
        logs[8 % pieces].parts.sources[0]
    ]
    together = open_tuning([b"\n".join(each) for each in parts])
    np.testing.assert_array_equal(together.trials.task, whole.trials.task)


def test_combining_no_logs_gives_an_empty_log() -> None:
    assert len(combine([], "none").trials) == 0
