"""What is opened: files, folders, archives; beside a run; with weights."""

import gzip
import pickle
from pathlib import Path
from random import Random

import pytest

import tvmdbg_widgets as tvmdbg
from tests.make import tuning_cases as make
from tests.make.fuzz.files import tarred
from tvmdbg_widgets import TuningLog, open_tuning
from tvmdbg_widgets.formats.families import KINDS
from tvmdbg_widgets.formats.family import identify
from tvmdbg_widgets.formats.tuning.record import read_record
from tvmdbg_widgets.sources.byte_source import BytesSource

LINE = make.ansor(Random(1), version="v0.6", error=0, usual=True).line


def with_target(text: str) -> bytes:
    """The line for another target."""
    return LINE.replace(open_tuning(LINE).tasks[0].target.text.encode(), text.encode(), 1)


@pytest.mark.parametrize(
    "head",
    [
        *(LINE, b"# comment\n\n  \n" + LINE, b"\xef\xbb\xbf" + LINE, b"hello\n" + LINE),
        *(b"#" * 60_000 + b"\n" + LINE, make.autotvm(Random(1), version=0.1).line),
        *(make.autotvm(Random(1), version=0.2).line, make.metaschedule(Random(1), 3).line),
        b'["12345678901234567890", "' + b"A" * 100_000 + b'"]',
        b"llvm -mcpu=x\t" + b"\t".join([b"gASVAAAA"] * 3),
        b"llvm -mcpu=x\t" + b"\t".join([b"gASVAAAA"] * 3) + b"\t0.2\t0.7.dev0",
    ],
)
def test_logs_are_recognized_by_content(head: bytes) -> None:
    assert identify(BytesSource(head), KINDS).part == "tuning-records"


@pytest.mark.parametrize(
    "head",
    [
        *(b'{"i": 1, "nodes": []}', b'{"result": 5}', b"[0, [1, 2]]", b'["a", "b"]'),
        *(b"a\tb\tc\td", b"", b"\0" * 100),
    ],
)
def test_similar_content_is_not_recognized_as_a_log(head: bytes) -> None:
    found = identify(BytesSource(head), KINDS)
    assert found is None or not found.part.startswith("tuning")


def test_open_returns_a_tuning_log_for_any_source_type(tmp_path: Path) -> None:
    path = tmp_path / "log.json"
    path.write_bytes(LINE + b"\n")
    archive = tmp_path / "log.tar.gz"
    archive.write_bytes(tarred({"a/log.json": LINE, "a/readme.txt": b"x"}))
    packed = tmp_path / "log.json.gz"
    packed.write_bytes(gzip.compress(LINE))
    for given in (path, str(path), LINE, [LINE], LINE.decode(), archive, packed):
        for log in (tvmdbg.open(given), open_tuning(given)):
            assert isinstance(log, TuningLog)
            assert len(log) == 1
            assert read_record(log.parts, 0).line == LINE


def test_folder_opens_all_logs_in_it(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    for name in ("a/1.json", "a/2.log", "3.json"):
        (tmp_path / name).write_bytes(LINE + b"\n")
    (tmp_path / "note.txt").write_text("hello")
    assert len(tvmdbg.open(tmp_path)) == 3
    assert (len(open_tuning(tmp_path)), len(open_tuning(tmp_path).tasks)) == (3, 1)


def test_logs_in_a_run_folder_are_left_to_open_tuning(tmp_path: Path) -> None:
    run = tvmdbg.open([tvmdbg.samples.resnet20_cifar])
    kept = tmp_path / "kept"
    run.save(kept)
    (kept / "log.json").write_bytes(LINE + b"\n")
    found = tvmdbg.open(kept)
    assert isinstance(found, tvmdbg.DebugRun)
    (issue,) = [each for each in found.check() if each.rule == "tuning-left-out"]
    assert "open_tuning" in issue.message
    assert len(open_tuning(kept)) == 1


def test_a_weight_by_key_counts_for_every_target() -> None:
    both = LINE + b"\n" + with_target("vta")
    key = open_tuning(LINE).tasks[0].workload_key
    assert open_tuning(both, weights={key: 5}).weights == (5.0, 5.0)


def test_a_log_survives_pickling(tmp_path: Path) -> None:
    path = tmp_path / "log.json"
    path.write_bytes(LINE + b"\n")
    parts = pickle.loads(pickle.dumps(open_tuning(path).parts))  # noqa: S301
    assert read_record(parts, 0).line == LINE
    with path.open("ab") as file:
        file.write(LINE + b"\n")
    assert read_record(parts, 0).line == LINE


def test_log_title_is_first_file_with_records(tmp_path: Path) -> None:
    log, other, output = (tmp_path / name for name in ("a.json", "b.json", "out.txt"))
    log.write_bytes(LINE)
    other.write_bytes(with_target("llvm -mcpu=other"))
    output.write_text("Get 1 programs to measure:\n.\n*\n")
    assert (open_tuning(log).title, open_tuning(output, log).title) == ("a.json", "a.json")
    assert open_tuning([log, other, output]).title == "a.json and 1 more"
    assert open_tuning(tmp_path).title == tmp_path.name
