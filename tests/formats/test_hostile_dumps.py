"""What strangers and broken disks hand to ``open``: never a hang, a crash, or a silent loss."""

import io
import json
import os
import pickle
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tvmdbg_widgets as tvmdbg
from tests.graph_json import chain as chain_of
from tests.make.params import write_params
from tvmdbg_widgets.answers.answers import answer
from tvmdbg_widgets.model.base.numbers import Trust
from tvmdbg_widgets.sources import folders
from tvmdbg_widgets.widgets.run_model import model_of

DUMP = tvmdbg.samples.resnet20_cifar / "_tvmdbg_device_CPU_0"
GRAPH = (DUMP / "_tvmdbg_graph_dump.json").read_bytes()
PARAMS = (DUMP / "output_tensors.params").read_bytes()
PATH = DUMP / "output_tensors.params"
TRACE = (DUMP / "_tvmdbg_execution_trace.json").read_bytes()
ONE = np.ones(2, np.float32)
#: A raw graph of one input and operators in a row.
chain = partial(chain_of, func="k", shapes=(2, 3))


def params(arrays: dict[str, Any]) -> bytes:
    file = io.BytesIO()
    write_params(file, arrays)
    return file.getvalue()


def trace(names: Sequence[str]) -> bytes:
    event = {"tid": 1, "pid": 1}
    events = []
    for i, name in enumerate(names):
        events.append({"ts": 1.5 * i, **event, "name": name, "ph": "B"})
        events.append({"ts": 1.5 * i + 1.5, **event, "name": name, "ph": "E"})
    return json.dumps({"displayTimeUnit": "ns", "traceEvents": events}).encode()


def table(rows: Sequence[tuple[str, float]]) -> bytes:
    """A table of v0.9 as TVM prints it, sorted by time."""
    head = ("Node Name", "Ops", "Time(us)", "Time(%)", "Shape", "Inputs", "Outputs")
    lines = [(*head, "Measurements(us)"), (*("-" * len(each) for each in head), "-" * 16)]
    for name, us in rows:
        lines.append((name, "k", f"{us:.3f}", "1.0", "(2, 3)", "1", "1", f"[{us:.3f}]"))
    total = sum(us for _, us in rows)
    lines.append(("Total_time", "-", f"{total:.3f}", "-", "-", "-", "-", "-"))
    widths = [max(len(line[i]) for line in lines) + 2 for i in range(8)]
    return "\n".join(
        "".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        for line in lines
    ).encode()


def within(seconds: float, work: Callable[[], Any]) -> Any:
    start = time.process_time()
    found = work()
    assert time.process_time() - start < seconds
    return found


def use(run: tvmdbg.DebugRun) -> None:
    """Everything a notebook asks of a run; all of it must be text that can be written."""
    for part in (run, run.graph, run.tensors, run.timeline, run.provenance, run.check()):
        repr(part).encode()
    run.summary().encode()
    repr(run.table()).encode()
    run.table()._repr_html_().encode()
    for kind in ("summary", "graph", "timeline", "tensors"):
        json.dumps(answer(run.facts, {"kind": kind}).result, allow_nan=False).encode()
    assert model_of(run.facts).title == run.title


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A dump with files of other names than TVM's."""
    for name, content in (("g", GRAPH), ("p", PARAMS), ("t", TRACE)):
        (tmp_path / name).write_bytes(content)
    return tmp_path


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_pipe_is_refused_without_waiting(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    use(tvmdbg.open(folder))
    with pytest.raises(OSError, match="not a regular file"):
        tvmdbg.open(folder / "pipe")


def test_broken_and_cyclic_links_are_skipped(folder: Path) -> None:
    (folder / "a").symlink_to(folder / "b")
    (folder / "b").symlink_to(folder / "a")
    (folder / "self").symlink_to(folder)
    (folder / "broken").symlink_to("/nowhere/at/all")
    assert len(tvmdbg.open(folder).tensors) == 72


def test_unreadable_file_is_reported_and_the_rest_opens(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "secret").write_bytes(PARAMS)
    real = folders.FileSource

    def refuse(source: Any, name: str, **how: Any) -> Any:
        if "secret" in str(source):
            raise PermissionError(13, "Permission denied", str(source))
        return real(source, name, **how)

    monkeypatch.setattr(folders, "FileSource", refuse)
    run = tvmdbg.open(folder)
    (issue,) = run.check().by_rule("file-unreadable")
    assert issue.file == "secret"
    assert "Permission denied" in issue.message


def test_undecodable_file_names_are_escaped(tmp_path: Path) -> None:
    odd = os.fsencode(tmp_path) + b"/dir\xff<i>\n"
    try:
        os.mkdir(odd)  # noqa: PTH102 (a path of bytes)
    except OSError:
        pytest.skip("this file system takes text only")
    for name, content in (
        (b"g\xfe", GRAPH),
        (b"p\n<b>", PARAMS),
        (b"[t]", TRACE),
        (b"x\xfd", b"?"),
    ):
        with open(odd + b"/" + name, "wb") as file:  # noqa: PTH123 (a path of bytes)
            file.write(content)
    run = tvmdbg.open(os.fsdecode(odd))
    use(run)
    assert run.title == "dir\\udcff<i>\\n"
    assert len(run.tensors) == 72


def test_too_deep_folders_and_left_out_files_are_reported(folder: Path) -> None:
    (folder / "1/2/3/4/5").mkdir(parents=True)
    (folder / "1" / "table.txt").write_bytes(table([("a", 1.0)]))
    issues = tvmdbg.open(folder).check()
    assert "1/2/3/4/5" in issues.by_rule("folder-too-deep")[0].message
    assert "1/table.txt" in issues.by_rule("files-left-out")[0].message


def test_folder_error_mentions_the_file_count_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folders, "FILES", 3)
    for i in range(5):
        (tmp_path / f"{i}").write_bytes(b"log")
    with pytest.raises(tvmdbg.FormatError, match="only the first 3 files"):
        tvmdbg.open(tmp_path)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "empty file"),
        (b"a log without a table\n" * 3, "printed table of node times"),
        (b'{"nodes":' + b"[" * 100_000, "nested too deeply"),
        (b'"{\\"nodes\\":' + b"[" * 100_000 + b'"', "nested too deeply"),
        (b'{"displayTimeUnit":"ns","traceEvents":' + b"[" * 100_000, "nested too deeply"),
        (b'{"nodes":[],"x":' + b"9" * 10_000 + b"}", "number too long"),
        (b"\x93NUMPY\x01\x00", "numpy.load"),
    ],
)
def test_unknown_file_is_refused_with_the_reason(content: bytes, told: str) -> None:
    with pytest.raises(tvmdbg.FormatError, match=told):
        tvmdbg.open(content)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
@pytest.mark.parametrize("content", [GRAPH, TRACE, table([("a", 1.0)])])
def test_text_with_bom_or_in_utf16_is_read(content: bytes, encoding: str) -> None:
    use(tvmdbg.open(content.decode().encode(encoding)))


EMPTY = json.loads(chain(["x"])) | {"nodes": [], "arg_nodes": [], "heads": [], "node_row_ptr": [0]}
NO_ENTRIES = json.loads(GRAPH) | {"node_row_ptr": [0] * 73}
for _each in (EMPTY, NO_ENTRIES):
    _each["attrs"] = {
        "shape": ["list_shape", []],
        "dltype": ["list_str", []],
        "storage_id": ["list_int", []],
        "device_index": ["list_int", []],
    }


@pytest.mark.parametrize("graph", [EMPTY, NO_ENTRIES])
@pytest.mark.parametrize("other", [PARAMS, params({"a_0__0.0": ONE}), params({})])
def test_graphs_without_nodes_or_entries(graph: dict[str, Any], other: bytes) -> None:
    use(tvmdbg.open(json.dumps(graph).encode(), other, TRACE, table([("a", 1.0)])))


@pytest.mark.parametrize("digits", [9, 10, 18, 5000])
@pytest.mark.parametrize(
    "key", ["a____topo-index:{}____output-num:0", "a____topo-index:1____output-num:{}", "a____{}"]
)
def test_keys_with_huge_numbers_are_read(key: str, digits: int) -> None:
    content = params({key.format("9" * digits): ONE})
    use(tvmdbg.open(content))
    use(tvmdbg.open(content, GRAPH))
    assert len(tvmdbg.open(content).tensors) == 1


def test_params_files_do_not_replace_one_another() -> None:
    run = tvmdbg.open(params({"a": ONE}), params({"a": 2 * ONE, "b": 3 * ONE}))
    assert [float(tensor.numpy()[0]) for tensor in run.tensors.values()] == [1, 2, 3]


def test_parameters_are_compared_with_the_graph() -> None:
    graph = chain(["x", "n1", "n2"])
    run = tvmdbg.open(graph, params({"x": np.ones(7, np.int8)}))
    found = [issue.message for issue in run.check().by_rule("tensor-disagrees")]
    assert "shape [2, 3] in the graph, [7] in the file" in found[0]
    assert "dtype float32 in the graph, int8 in the file" in found[1]
    same = tvmdbg.open(graph, params({"x": np.ones(6, np.float32)}))
    assert not same.check().by_rule("tensor-disagrees")
    assert "[6] in the file" in same.check().by_rule("parameter-reshaped")[0].message


def test_parameters_are_not_used_as_operator_outputs() -> None:
    run = tvmdbg.open(chain(["x", "n1"]), params({"n1": np.ones((2, 3), np.float32)}))
    assert not len(run.tensors)
    assert run.check().by_rule("parameter-names")


def test_old_keys_of_one_name_keep_every_tensor() -> None:
    arrays = {f"s_0__{i}.0": np.full((2, 3), i, np.float32) for i in (1, 2)}
    run = tvmdbg.open(chain(["x", "s", "s"]), params(arrays))
    assert {node: tensor.numpy()[0, 0] for (node, _), tensor in run.tensors.items()} == {1: 1, 2: 2}
    assert all(tensor.trust is Trust.BY_ORDER for tensor in run.tensors.values())
    more = tvmdbg.open(chain(["x", "s"]), params(arrays))
    assert more.tensors["s"].numpy()[0, 0] == 2
    assert more.check().by_rule("tensor-repeated")


@pytest.mark.parametrize(
    ("sources", "rule"),
    [
        ((chain("abc"), chain("abc"), chain("abd")), "more-than-one"),
        ((GRAPH, GRAPH.replace(b'"p0"', b'"q0"')), "more-than-one"),
        ((table([("a", 1.0)]), table([("a", 2.0)])), "tables-disagree"),
        ((table([("a", 1.0)]) + b"\n\n" + table([("b", 2.0)]),), "more-than-one"),
        ((table([("a", 1.0)]) + b"\n\n" + table([("a", 2.0)]),), "more-than-one"),
    ],
)
def test_unused_sources_are_reported(sources: tuple[bytes, ...], rule: str) -> None:
    assert tvmdbg.open(*sources).check().by_rule(rule)


def test_table_of_the_traced_run_is_used_and_the_other_is_reported(corpus: Path) -> None:
    for version in ("v0.6", "v0.8", "v0.19"):
        run = tvmdbg.open(corpus / "tvm" / "edge_cases" / version / "run_twice")
        issues = run.check()
        assert issues.by_rule("tables-disagree"), version
        assert not issues.by_rule("times-disagree"), version
        assert not issues.by_rule("run-count-unknown"), version


def test_invalid_times_are_reported_and_left_out() -> None:
    times = table([("n1", float("inf")), ("n2", -3.0)])
    run = tvmdbg.open(chain(["x", "n1", "n2"]), times)
    use(run)
    assert np.isnan(run.timeline.node_ns).all()
    assert "2 rows" in run.check().by_rule("time-not-finite")[0].message


@pytest.mark.slow
def test_shuffled_trace_of_many_nodes_opens_within_10_seconds() -> None:
    names = [f"n{i}" for i in range(20_000)]
    run = within(10, lambda: tvmdbg.open(chain(names), trace(names[::-1])))
    assert run.timeline.slice_node.tolist() == list(range(20_000))[::-1]
    assert run.check().by_rule("trace-names")


def test_names_cannot_steer_a_terminal_or_break_a_table() -> None:
    name = "a\n\x1b[31m\u202e<b>"
    run = tvmdbg.open(chain(["x", name], func=name), trace(["x", name]))
    for text in (repr(run.table()), run.summary()):
        assert "\x1b" not in text
        assert "\u202e" not in text
        assert "a\\n\\x1b[31m\\u202e<b>" in text
    assert "<b>" not in run.table()._repr_html_()


@pytest.mark.parametrize("sources", [(DUMP,), (GRAPH, PARAMS, TRACE)])
def test_a_run_survives_pickling(sources: tuple[Any, ...]) -> None:
    run = tvmdbg.open(*sources)
    assert model_of(run.facts).title
    again = pickle.loads(pickle.dumps(run))  # noqa: S301 (our own bytes)
    use(again)
    assert all(np.array_equal(again.tensors[e], run.tensors[e]) for e in run.tensors)


def test_unpickled_source_does_not_share_an_open_file() -> None:
    source = tvmdbg.open(PATH).tensors["data"].record.source
    again = pickle.loads(pickle.dumps(source))  # noqa: S301 (our own bytes)
    assert again._owner != source._owner
    assert again.read(0, again.size) == PARAMS


def test_array_notes_are_reported_once_with_their_nodes(corpus: Path) -> None:
    run = tvmdbg.open(corpus / "tvm/edge_cases/v0.19/vec4")
    (issue,) = (each for each in run.check() if "stores 32 of 128 bytes" in each.message)
    assert issue.nodes == (1,)
