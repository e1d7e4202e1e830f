"""A run whose files went away, were replaced or cut after it was opened shows all it has."""

import copy
import errno
import gzip
import os
import shutil
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tvmdbg_widgets as tvmdbg
from tests.unit.findings.findings_dump import Op, graph_json, params, trace
from tvmdbg_widgets.answers.answers import Answers
from tvmdbg_widgets.cli.app import app
from tvmdbg_widgets.export.page.stored_page import store
from tvmdbg_widgets.model.base.text import FormatError
from tvmdbg_widgets.run import DebugRun
from tvmdbg_widgets.sources import file_source as sources

PARAMS = "output_tensors.params"
OPS = (
    Op("data", np.arange(64, dtype=np.float32).reshape(8, 8)),
    Op("w", np.ones((8, 8), np.float32)),
    Op("conv", np.full((8, 8), 2.5, np.float32), "fused_nn_conv2d", [(0, 0), (1, 0)], ns=[5000]),
    Op("relu", np.eye(8, dtype=np.float32), "fused_nn_relu", [(2, 0)], ns=[1000]),
)
VIEWS = [tvmdbg.GraphView, tvmdbg.TensorInspector, tvmdbg.Flamechart, tvmdbg.MemoryView]
THERE = "it was there when it was opened"


def write(folder: Path) -> Path:
    folder.mkdir()
    (folder / "_tvmdbg_graph_dump.json").write_text(graph_json(OPS), "utf-8")
    (folder / "_tvmdbg_execution_trace.json").write_bytes(trace(OPS))
    (folder / PARAMS).write_bytes(params(OPS))
    return folder


def remove(folder: Path) -> None:
    shutil.rmtree(folder)


def truncate(folder: Path) -> None:
    os.truncate(folder / PARAMS, 600)


def replace(folder: Path) -> None:
    (folder / "other").write_bytes(params(OPS[:2]))
    (folder / "other").replace(folder / PARAMS)


def folder_instead(folder: Path) -> None:
    (folder / PARAMS).unlink()
    (folder / PARAMS).mkdir()


LOST: dict[Callable[[Path], None], str] = {
    remove: f"the file is gone; {THERE} ({PARAMS})",
    truncate: f"the file changed after it was opened ({PARAMS})",
    replace: f"the file changed after it was opened ({PARAMS})",
    folder_instead: f"a folder has taken the place of the file; {THERE} ({PARAMS})",
}


def show_everything(run: DebugRun, folder: Path) -> dict[str, str]:
    """All that shows a run; nothing of it raises. Returns what is said."""
    other = tvmdbg.open(write(folder / "other"))
    comparison = tvmdbg.compare(run, other)
    shown: list[Any] = [run, run.debugger(), *(kind(run) for kind in VIEWS)]
    shown += [tvmdbg.ComparisonView(run, other), tvmdbg.ComparisonView(other, run)]
    for each in shown:
        assert each._repr_mimebundle_()[0]["text/plain"]
    for each in shown[1:]:
        each.figure(theme="dark")
    run.embed()
    report = run.report(2)
    page = run.save_html(folder / "run.html", share="tensors", parameters=True)
    errors = tvmdbg.GraphView(run)
    errors.color_by("error", reference=other)
    return {
        **{view: run.figure(view, color_by="health").text for view in ("graph", "debugger")},
        **{view: run.figure(view).text for view in ("tensor", "timeline", "memory")},
        **{
            show: run.figure("tensor", entry=(2, 0), show=show).text
            for show in ("channels", "line plot")
        },
        "page": page.read_text("utf-8"),
        "report": str(report),
        "svg": report.figure.svg,
        "findings": repr(run.findings(progress=False)),
        "health": repr(run.health(progress=False)),
        "check": repr(run.check()),
        "comparison": repr(comparison),
        "errors": repr(errors.color_by),
        "tensor repr": repr(run.tensors[2]),
        "tensors repr": repr(run.tensors),
        "run repr": repr(run),
    }


@pytest.mark.parametrize("lose", LOST, ids=lambda each: each.__name__)
def test_run_with_lost_file_reports_why_values_are_missing(
    tmp_path: Path, lose: Callable[[Path], None]
) -> None:
    folder = write(tmp_path / "dump")
    run = tvmdbg.open(folder)
    lose(folder)
    said = show_everything(run, tmp_path)
    why = LOST[lose]
    assert f"4 of 4 tensors could not be read: {why}" in said["findings"]
    assert f"4 of 4 tensors could not be read: {why}" in said["health"]
    for name in ("tensor", "debugger", "channels", "line plot"):
        assert f"The values cannot be read: {why}." in said[name], name
        assert "all finite" not in said[name]
    assert f"cannot be read: {why}" in said["tensor repr"]
    assert said["tensors repr"].count(why) == 4
    assert "conv" in said["graph"]
    assert "5.000 µs" in said["timeline"]
    assert "4 of 4 tensors could not be read" in said["report"]
    for text in (said["findings"], said["health"], said["report"]):
        assert "neither" not in text
        assert str(tmp_path) not in text
    assert str(tmp_path) not in said["page"] + said["svg"]


def test_earlier_results_stay_after_files_are_removed(tmp_path: Path) -> None:
    folder = write(tmp_path / "dump")
    run = tvmdbg.open(folder)
    known = [repr(run.findings(progress=False)), repr(run.health(progress=False))]
    answers = Answers(run.facts)
    asked = {"kind": "tensor", "entry": [3, 0], "rows": 8, "cols": 8}
    seen = answers.answer(asked)
    remove(folder)
    said = show_everything(run, tmp_path)
    assert [said["findings"], said["health"]] == known
    for name in ("tensor", "debugger"):
        assert "The statistics are from an earlier read." in said[name]
        assert "all finite" in said[name]
        assert "all     2.5" in said[name]
    assert answers.answer(asked) == seen, "cells that are kept"
    told = answers.answer({**asked, "entry": [2, 0]}).result
    assert told["tile"] is None
    assert THERE in told["trouble"]
    counted = answers.answer({"kind": "statistics", "entry": [2, 0]}).result
    assert counted["statistics"]["mean"]["value"] == 2.5
    stored = store(run.facts, budget=10**7, share="tensors", parameters=True)
    assert stored.left_out == ("values of 4 tensors (1 kB) that could not be read",)
    assert b"values could not be read when this page was made: the file is gone" in stored.data


def test_unreadable_tensors_are_not_reported_finite(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A read error in the middle of a scan."""
    folder = write(tmp_path / "dump")
    run = tvmdbg.open(folder)
    real, broken = sources._pread_into, run.tensors[2].offset

    def read(file: Any, offset: int, view: memoryview) -> int:
        if offset + len(view) > broken + 16 and offset < broken + 256:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return real(file, offset, view)

    with monkeypatch.context() as patch:
        patch.setattr(sources, "_pread_into", read)
        found, health = run.findings(progress=False), run.health(progress=False)
        assert "The values cannot be read" in run.figure("tensor", entry=(2, 0)).text
    why = f"cannot be read now (Input/output error); {THERE} ({PARAMS})"
    (fault,) = found.errors
    assert fault.title == f"1 of 4 tensors could not be read: {why}"
    (note,) = found.by_rule("scanned")
    assert note.title.startswith("3 of 4 tensors checked")
    assert [each.entry for each in health.unread] == [(2, 0)]
    assert health.of(2).words == f"could not be read: {why}"
    assert "all finite" in run.figure("tensor", entry=(2, 0)).text, "it can be read again"


def test_failed_count_resumes_without_losing_values(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where there are no threads a count goes on from call to call."""
    values = np.ones(1 << 20, np.float32)
    (tmp_path / PARAMS).write_bytes(params([Op("x", values)]))
    tensor = tvmdbg.open(tmp_path / PARAMS).tensors[0]
    assert 0 < tensor.count_on(0) < values.size
    with monkeypatch.context() as patch:
        patch.setattr(sources, "_pread_into", lambda *_: 0)
        with pytest.raises(FormatError):
            tensor.count_on(0)
    while tensor.count_on(0) < values.size:
        pass
    tensor.count_on(0)  # puts together what was counted
    assert tensor.statistics().finite == values.size


def test_reading_values_of_removed_files_raises(tmp_path: Path) -> None:
    folder = write(tmp_path / "dump")
    run = tvmdbg.open(folder)
    remove(folder)
    tensor = run.tensors[2]
    for ask in (
        tensor.numpy,
        lambda: np.asarray(tensor),
        tensor.raw,
        tensor.statistics,
        lambda: tensor[0, 0],
        lambda: run.save(tmp_path / "kept"),
        lambda: run.extract([2], tmp_path / "part"),
    ):
        with pytest.raises(FormatError, match=THERE):
            ask()
    assert list(tmp_path.iterdir()) == []


def tarred(folder: Path) -> Path:
    path = folder.with_suffix(".tar")
    with tarfile.open(path, "w") as file:
        file.add(folder, "dump")
    return path


def zipped(folder: Path, method: int = zipfile.ZIP_STORED) -> Path:
    path = folder.with_suffix(".zip")
    with zipfile.ZipFile(path, "w", method) as file:
        for each in sorted(folder.iterdir()):
            file.write(each, f"dump/{each.name}")
    return path


def recorded(folder: Path) -> Path:
    return tvmdbg.open(folder).save(folder.with_name("recording"))


@pytest.mark.parametrize("make", [tarred, zipped, recorded])
def test_removed_archives_and_recordings_are_reported(
    tmp_path: Path, make: Callable[[Path], Path]
) -> None:
    path = make(write(tmp_path / "dump"))
    run = tvmdbg.open(path)
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()
    assert run._repr_mimebundle_()
    why = f"the file is gone; {THERE}"
    assert f"4 of 4 tensors could not be read: {why}" in repr(run.findings(progress=False))
    assert why in repr(run.tensors[2])


def test_values_unpacked_in_memory_stay_readable(tmp_path: Path) -> None:
    folder = write(tmp_path / "dump")
    packed = tmp_path / "dump.tar.gz"
    packed.write_bytes(gzip.compress(tarred(folder).read_bytes()))
    for path in (packed, zipped(folder, zipfile.ZIP_DEFLATED)):
        run = tvmdbg.open(path)
        path.unlink()
        assert run.tensors[2].numpy()[0, 0] == 2.5


def test_closed_file_object_is_reported(tmp_path: Path) -> None:
    folder = write(tmp_path / "dump")
    with (folder / PARAMS).open("rb") as stream:
        run = tvmdbg.open(stream, graph=folder / "_tvmdbg_graph_dump.json")
    why = "4 of 4 tensors could not be read: the stream cannot be read any more"
    assert why in repr(run.health(progress=False))
    assert "the stream cannot be read any more" in run._repr_mimebundle_()[0]["text/plain"]


def test_copied_run_detects_its_removed_file(tmp_path: Path) -> None:
    folder = write(tmp_path / "dump")
    run = copy.deepcopy(tvmdbg.open(folder))
    (folder / PARAMS).chmod(0o600)
    assert run.tensors[2].numpy()[0, 0] == 2.5
    remove(folder)
    assert THERE in run._repr_mimebundle_()[0]["text/plain"]


@pytest.mark.parametrize("verb", ["html", "findings", "summary", "check", "memory", "table"])
def test_commands_complete_after_files_are_removed(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    verb: str,
) -> None:
    folder = write(tmp_path / "dump")
    from tvmdbg_widgets.cli.common.dump import NamedRun

    real = NamedRun.open

    def opened(named: NamedRun) -> DebugRun:
        run = real(named)
        remove(folder)
        return run

    monkeypatch.setattr(NamedRun, "open", opened)
    to = ["-o", str(tmp_path / "run.html")] if verb == "html" else []
    app([verb, str(folder), *to], standalone_mode=False)
    out = " ".join(capsys.readouterr().out.split())
    if verb == "findings":
        assert f"4 of 4 tensors could not be read: the file is gone; {THERE}" in out
    if verb == "html":
        assert "the file is gone" in (tmp_path / "run.html").read_text("utf-8")
