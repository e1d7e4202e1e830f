"""A saved run opens as the same run, and what is broken in a recording is said."""

import dataclasses
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import tvmdbg_widgets as tvmdbg
from tests.graph_json import graph_json, null, operator
from tvmdbg_widgets.formats.json_fields import encoded
from tvmdbg_widgets.formats.writer import (
    IR,
    RECORDING,
    TIMES,
    read_recorded_times,
    times_document,
    write_recording,
)
from tvmdbg_widgets.model.base.columns import StringColumn
from tvmdbg_widgets.model.base.text import Issue, Issues, IssueSeverity
from tvmdbg_widgets.model.parts import RunFile, RunParts
from tvmdbg_widgets.model.timeline.columns import COLUMNS
from tvmdbg_widgets.model.timeline.timeline import Timeline
from tvmdbg_widgets.run import DebugRun
from tvmdbg_widgets.sources.byte_source import BytesSource

ROOT = Path(__file__).parents[2]
CASES = (
    "tvm/resnet20_cifar",
    "tvm/resnet20_cifar_v0.6",
    "tvm/resnet20_cifar_v0.8",
    "tvm/resnet20_cifar_int8",
    "tvm/resnet20_two_devices",
    "tvm/transformer_encoder",
    *(
        f"tvm/edge_cases/v0.19/{each}"
        for each in ("odd_names", "nan_inf", "run_twice", "split_multi", "vec4", "zero_size")
    ),
    "tvm/edge_cases/v0.8/odd_names",
    "relax/convnet_cpu/capture",
    "relax/transformer_default",
)


def columns_of(value: Any) -> dict[str, Any]:
    return {each.name: getattr(value, each.name) for each in dataclasses.fields(value)}


def assert_same_columns(a: Any, b: Any, *, but: tuple[str, ...]) -> None:
    ours, theirs = columns_of(a), columns_of(b)
    for name in ours.keys() - set(but):
        if isinstance(ours[name], np.ndarray):
            assert ours[name].dtype == theirs[name].dtype, name
            assert ours[name].tobytes() == theirs[name].tobytes(), name
        else:
            assert ours[name] == theirs[name], name


def told(issues: Issues) -> list[Issue]:
    return [dataclasses.replace(each, file="") for each in issues]


def assert_same_run(run: DebugRun, again: DebugRun) -> None:
    assert again.title == run.title
    assert told(again.check()) == told(run.check())
    for name in ("releases", "evidence", "device"):
        assert getattr(again.provenance, name) == getattr(run.provenance, name)
    assert (again.graph is None) == (run.graph is None)
    if run.graph is not None:
        assert_same_columns(run.graph, again.graph, but=("issues", "file"))
    assert (again.timeline is None) == (run.timeline is None)
    if run.timeline is not None:
        assert_same_columns(run.timeline, again.timeline, but=("issues", "sources"))
        assert len(again.timeline.sources) == len(run.timeline.sources)
    assert list(again.tensors or ()) == list(run.tensors or ())
    for entry, tensor in (run.tensors or {}).items():
        other = again.tensors[entry]
        assert (other.name, other.key, other.dtype, other.shape, other.trust, other.notes) == (
            (tensor.name, tensor.key, tensor.dtype, tensor.shape, tensor.trust, tensor.notes)
        )
        assert other.raw().tobytes() == tensor.raw().tobytes()
    assert again.ir == run.ir


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def assert_comes_back(run: DebugRun, folder: Path) -> Path:
    saved = run.save(folder / "saved")
    again = tvmdbg.open(saved)
    assert_same_run(run, again)
    assert contents(run.save(folder / "twice")) == contents(saved)
    assert contents(again.save(folder / "again")) == contents(saved)
    return saved


@pytest.mark.parametrize("case", CASES)
def test_a_saved_run_opens_as_the_same_run(case: str, corpus: Path, tmp_path: Path) -> None:
    saved = assert_comes_back(tvmdbg.open(corpus / case), tmp_path)
    for name in (RECORDING, TIMES):
        assert str(corpus).encode() not in (saved / name).read_bytes()


@pytest.mark.parametrize("name", ["resnet20_cifar", "resnet20_cifar_fp16_overflow"])
def test_sample_runs_survive_saving_and_reopening(name: str, tmp_path: Path) -> None:
    assert_comes_back(tvmdbg.open(getattr(tvmdbg.samples, name)), tmp_path)


def test_run_from_individual_files_is_restored(tmp_path: Path) -> None:
    dump = tvmdbg.samples.resnet20_cifar / "_tvmdbg_device_CPU_0"
    run = tvmdbg.open(
        dump / "output_tensors.params",
        dump / "_tvmdbg_execution_trace.json",
        graph=(tvmdbg.samples.resnet20_cifar / "graph.json").read_bytes(),
    )
    assert_comes_back(run, tmp_path)


def test_dump_folder_keeps_the_name_of_its_device(tmp_path: Path) -> None:
    run = tvmdbg.open(tvmdbg.samples.resnet20_cifar / "_tvmdbg_device_CPU_0")
    saved = assert_comes_back(run, tmp_path)
    (saved / RECORDING).unlink()
    assert tvmdbg.open(saved).provenance.device == "CPU:0"


def test_params_reading_options_are_restored(data: Path, tmp_path: Path) -> None:
    path = data / "params/relax/params_all.bin"
    run = tvmdbg.open(path, float8="legacy")
    assert {t.dtype for t in run.tensors.values()} != {
        t.dtype for t in tvmdbg.open(path).tensors.values()
    }
    saved = assert_comes_back(run, tmp_path)
    assert tvmdbg.open(saved, float8="current").parts.options["float8"] == "current"


def test_ir_is_restored_byte_for_byte(tmp_path: Path) -> None:
    parts = tvmdbg.open(tvmdbg.samples.resnet20_cifar).parts
    texts = {"00 input": "def main(): ä中\u2028".encode(), "01/../FuseOps": b"\xff\xfe</script>"}
    run = tvmdbg.DebugRun(
        dataclasses.replace(parts, ir={name: BytesSource(text) for name, text in texts.items()})
    )
    saved = assert_comes_back(run, tmp_path)
    again = tvmdbg.open(saved)
    assert list(again.ir) == list(texts)
    assert {n: s.read(0, s.size) for n, s in again.parts.ir.items()} == texts
    assert sorted(contents(saved)) == sorted(
        [*contents(tvmdbg.samples.resnet20_cifar), RECORDING, TIMES, IR]
    )


def test_run_with_only_times_is_restored(tmp_path: Path) -> None:
    run = tvmdbg.open(tvmdbg.samples.resnet20_cifar / "run_stdout.txt")
    assert run.graph is None
    assert run.tensors is None
    assert_comes_back(run, tmp_path)


# Files and folders


def hostile(path: str) -> RunFile:
    return RunFile("table", path, BytesSource(b"x", path))


def test_saved_files_stay_in_folder_and_do_not_collide(tmp_path: Path) -> None:
    paths = [
        *("../../up", "/etc/passwd", "a/../b", "B", "tvmdbg_times.json", "", "a:b|c", "C:\\d"),
        ".",
    ]
    parts = RunParts("hostile", files=tuple(hostile(path) for path in paths))
    saved = write_recording(parts, tmp_path / "room" / "saved")
    assert [path.name for path in tmp_path.iterdir()] == ["room"]
    assert [path.name for path in (tmp_path / "room").iterdir()] == ["saved"]
    found = contents(saved)
    assert len(found) == len(paths) + 1
    assert len({name.lower() for name in found}) == len(found)
    assert found["tvmdbg_times_2.json"] == b"x"


def test_save_does_not_overwrite_existing_files(tmp_path: Path) -> None:
    run = tvmdbg.open(tvmdbg.samples.resnet20_cifar)
    (tmp_path / "mine").write_text("keep")
    with pytest.raises(FileExistsError, match="name a new folder"):
        run.save(tmp_path)
    with pytest.raises(FileExistsError):
        run.save(tmp_path / "mine")
    assert contents(tmp_path) == {"mine": b"keep"}
    (tmp_path / "empty").mkdir()
    assert run.save(tmp_path / "empty") == tmp_path / "empty"
    (tmp_path / "other").mkdir()
    (tmp_path / "link").symlink_to("other")
    assert run.save(tmp_path / "link") == tmp_path / "link"
    assert contents(tmp_path / "other") == contents(tmp_path / "empty")


def test_failed_save_of_changed_file_leaves_no_output(tmp_path: Path) -> None:
    table = tmp_path / "run.txt"
    table.write_bytes((tvmdbg.samples.resnet20_cifar / "run_stdout.txt").read_bytes())
    run = tvmdbg.open(table)
    table.write_text("other")
    with pytest.raises(tvmdbg.FormatError, match="changed"):
        run.save(tmp_path / "saved")
    assert [path.name for path in tmp_path.iterdir()] == ["run.txt"]


# What a recording says of its files


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    return tvmdbg.open(tvmdbg.samples.resnet20_cifar).save(tmp_path / "saved")


def edited(path: Path, **changes: Any) -> None:
    document = json.loads(path.read_bytes())
    path.write_bytes(encoded({**document, **changes}))


def test_changed_or_missing_file_is_reported(saved: Path) -> None:
    table = saved / "run_stdout.txt"
    table.write_bytes(table.read_bytes() + b"\n")
    (saved / "graph.json").unlink()
    (issue,) = tvmdbg.open(saved).check().by_rule("recording-changed")
    assert "run_stdout.txt (6,240 bytes then, 6,241 now)" in issue.message
    assert "graph.json (28,048 bytes then, missing now)" in issue.message


def test_recording_in_subfolder_opens_from_parent(saved: Path) -> None:
    again = tvmdbg.open(saved.parent)
    assert not again.check().by_rule("recording-changed")
    assert again.title == "resnet20_cifar"


def test_times_of_another_graph_are_not_used(saved: Path) -> None:
    names = json.loads((saved / TIMES).read_bytes())["node_names"]
    edited(saved / TIMES, node_names=[*names[:-1], "another"])
    again = tvmdbg.open(saved)
    (issue,) = again.check().by_rule("recorded-times-disagree")
    assert issue.severity is IssueSeverity.WARNING
    assert again.timeline.num_slices == 72


def test_restored_times_are_exact_without_the_original_files(saved: Path) -> None:
    (saved / "run_stdout.txt").unlink()
    (saved / "_tvmdbg_device_CPU_0/_tvmdbg_execution_trace.json").unlink()
    run = tvmdbg.open(tvmdbg.samples.resnet20_cifar)
    assert_same_columns(run.timeline, tvmdbg.open(saved).timeline, but=("issues", "sources"))


# Broken and hostile files


ISSUE = {"rule": "x", "severity": "note", "message": "", "nodes": [], "entries": [], "file": ""}


@pytest.mark.parametrize(
    ("name", "field", "value", "message"),
    [
        (RECORDING, "version", 2, "at most 1"),
        (RECORDING, "title", 3, "a string"),
        (RECORDING, "files", {}, "a list"),
        (RECORDING, "files", [{"part": "graph", "path": "x", "size": -1}], "0 or more"),
        (RECORDING, "options", {"dtypes": {"x": 1}}, "a string"),
        (RECORDING, "issues", [{**ISSUE, "severity": "fatal"}], "error, warning, note"),
        (RECORDING, "issues", [{**ISSUE, "nodes": [2**64]}], "9223372036854775807"),
        (RECORDING, "issues", [{**ISSUE, "entries": [[1]]}], "length 2"),
        (TIMES, "version", True, "an integer"),
        (TIMES, "unit", "us", '"ns"'),
        (TIMES, "clock", "cuckoo", "synthetic"),
        (TIMES, "synthetic", 1, "true or false"),
        (TIMES, "node_ns", ["1.5"], "a number"),
        (TIMES, "node_ns", [1.0], "fit"),
        (TIMES, "node_ns", [10**400], "float64"),
        (TIMES, "node_trust", [9] * 72, "0 to 4"),
        (TIMES, "repeats_ns", [[1.0]] * 71, "fit"),
        (TIMES, "repeats_ns", [1.0], "a list"),
        (TIMES, "slices", {"name": [0], "node": [0]}, "this field"),
        (TIMES, "tracks", [], "slice_track"),
        (TIMES, "slice_names", ["one"], "codes"),
    ],
)
def test_invalid_field_is_reported_with_its_file(
    name: str, field: str, value: Any, message: str, saved: Path
) -> None:
    edited(saved / name, **{field: value})
    (issue,) = tvmdbg.open(saved).check().by_rule("file-unreadable")
    assert issue.file == name
    assert message in issue.message


@st.composite
def timelines(draw: st.DrawFn) -> Timeline:
    nodes, slices = draw(st.integers(1, 5)), draw(st.integers(0, 6))
    times = st.floats(0, 1e18) | st.just(math.nan)

    def column(name: str, size: int) -> np.ndarray[Any, Any]:
        elements = {
            "slice_node": st.integers(-1, nodes - 1),
            "slice_track": st.integers(0, 1),
            "slice_trust": st.integers(0, 4),
            "slice_role": st.integers(0, 3),
            "node_trust": st.integers(0, 4),
        }.get(name, times if COLUMNS[name] == np.float64 else st.integers(0, 9))
        return draw(arrays.arrays(COLUMNS[name], size, elements=elements))

    columns = {name: column(name, slices) for name in COLUMNS if name.startswith("slice_")}
    columns |= {name: column(name, nodes) for name in COLUMNS if name.startswith("node_")}
    counts = draw(st.lists(st.integers(0, 3), min_size=nodes, max_size=nodes))
    offsets = np.cumsum([0, *counts])
    return Timeline(
        **columns,
        slice_names=StringColumn.from_strings(
            draw(st.lists(st.text(), min_size=slices, max_size=slices))
        ),
        repeats_offsets=offsets,
        repeats_ns=column("repeats_ns", int(offsets[-1])),
        tracks=("a", draw(st.text())),
        synthetic=draw(st.booleans()),
        clock=draw(st.sampled_from(["synthetic", "wall"])),
        sources=("x",),
        issues=Issues([Issue("r", IssueSeverity.NOTE, draw(st.text()), (1,), ((2, 0),))]),
    )


@given(timelines(), st.none() | st.lists(st.text(), min_size=5, max_size=5))
def test_any_timeline_is_restored_bit_for_bit(timeline: Timeline, names: list[str] | None) -> None:
    column = None if names is None else StringColumn.from_strings(names)
    text = encoded(times_document(timeline, column, {}))
    again = read_recorded_times(BytesSource(text))
    assert_same_columns(timeline, again.timeline, but=())
    assert again.names == column
    assert encoded(times_document(again.timeline, again.names, {})) == text


def test_the_example_of_the_specification_opens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    specification = (ROOT / "docs/recording.md").read_text("utf-8")
    _, _, rest = specification.rpartition("```python\n")
    example, _, _ = rest.partition("```")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "dump").mkdir()
    nodes = [null("x"), operator("relu", "relu", [0])]
    (tmp_path / "dump/graph.json").write_bytes(graph_json(nodes, shapes=[4]))
    exec(compile(example, "recording.md", "exec"), {})  # noqa: S102 (the example is the test)
    run = tvmdbg.open("dump")
    assert not run.check()
    assert run.timeline.repeats(1).tolist() == [1200.0, 1300.0]
    assert not run.timeline.synthetic
    assert run.timeline.span_ns == 6300.0
    assert_comes_back(run, tmp_path)


def test_recording_does_not_contain_the_original_paths(tmp_path: Path) -> None:
    whole = (tvmdbg.samples.resnet20_cifar / "graph.json").read_bytes()
    (tmp_path / "here").mkdir()
    graph, broken = tmp_path / "here/graph.json", tmp_path / "here/cut.params"
    graph.write_bytes(whole)
    dump = tvmdbg.samples.resnet20_cifar / "_tvmdbg_device_CPU_0/output_tensors.params"
    broken.write_bytes(dump.read_bytes()[:100_000])
    run = tvmdbg.open(graph, broken)
    assert run.check()
    saved = run.save(tmp_path / "saved")
    assert str(tmp_path) not in (saved / RECORDING).read_text("ascii")
    assert len(tvmdbg.open(saved).check()) == len(run.check())
