"""Lists of node times, and which of several sources of times is believed for what."""

import json
from pathlib import Path

import numpy as np
import pytest
from formats.tvm.times_truth import own_cases

import tvmdbg_widgets as tvmdbg
from tests.graph_json import chain
from tvmdbg_widgets.formats.tvm.times_text import TimeList, read_time_list
from tvmdbg_widgets.model.base.text import FormatError
from tvmdbg_widgets.sources.byte_source import BytesSource


def read(document: object) -> TimeList:
    text = document if isinstance(document, str) else json.dumps(document)
    return read_time_list(BytesSource(text.encode(), "times.json"))


def test_corpus_runs_have_exact_repeats(corpus: Path) -> None:
    count = 0
    for file in sorted((corpus / "tvm").rglob("time_list.json")):
        truth = json.loads(file.read_text())
        if not (file.parent / "tvmdbg").is_dir() or not any(map(any, truth)):
            continue
        run = tvmdbg.open(file.parent)
        for node, seconds in enumerate(truth):
            assert run.timeline.repeats(node).tolist() == (np.array(seconds) * 1e9).tolist(), file
        assert not run.check().by_rule("repeats-disagree"), file
        assert not run.check().by_rule("times-disagree"), file
        count += 1
    assert count >= 40


def test_runs_of_newer_recorders_are_repeats(corpus: Path) -> None:
    for file in sorted((corpus / "relax").rglob("times.json")):
        truth = json.loads(file.read_text())
        run = tvmdbg.open(file.parent)
        runs = np.array(truth["runs"], float)
        for node in range(len(truth["nodes"])):
            assert run.timeline.repeats(node).tolist() == runs[:, node].tolist()
        # The trace beside it lays medians end to end, which is no disagreement.
        assert np.abs(run.timeline.node_ns - np.median(runs, axis=0)).max() < 1e-5
        assert not run.check().by_rule("times-disagree")


def test_repeats_use_time_list_and_starts_use_trace(data: Path) -> None:
    case = next(case for case in own_cases(data) if "split" in case.folder.name)
    folder, seconds = case.folder, case.times
    graph, trace = folder / "graph.json", case.trace
    table, times = folder / "run_stdout.txt", folder / "time_list.json"
    exact = np.array(seconds[1]) * 1e9

    everything = tvmdbg.open(graph, trace, table, times)
    assert everything.timeline.repeats(1).tolist() == exact.tolist()
    by_trace = tvmdbg.open(graph, trace).timeline
    assert everything.timeline.node_ns.tolist() == by_trace.node_ns.tolist()
    assert everything.timeline.slice_start_ns.tolist() == by_trace.slice_start_ns.tolist()

    without_trace = tvmdbg.open(graph, table, times)
    assert without_trace.timeline.node_ns[1] == exact.mean()
    assert without_trace.timeline.repeats(1).tolist() == exact.tolist()

    by_table = tvmdbg.open(graph, table)
    assert by_table.timeline.repeats(1).tolist() == [round(t, 0) for t in exact]

    alone = tvmdbg.open(times)
    assert alone.timeline.num_nodes == len(seconds)
    assert alone.timeline.synthetic
    assert alone.timeline.node_ns[1] == exact.mean()
    assert not without_trace.check().by_rule("times-disagree")


def test_issue_for_disagreeing_times_shows_both_numbers(data: Path) -> None:
    case = next(case for case in own_cases(data) if "split" in case.folder.name)
    changed = [list(own) for own in case.times]
    changed[1][0] *= 1.5
    text = json.dumps(changed).encode()
    run = tvmdbg.open(case.folder / "graph.json", case.trace, times=text)
    (issue,) = run.check().by_rule("times-disagree")
    assert f"{np.mean(case.times[1]) * 1e6:.9g}" in issue.message
    assert f"{np.mean(changed[1]) * 1e6:.9g}" in issue.message
    table = case.folder / "run_stdout.txt"
    run = tvmdbg.open(case.folder / "graph.json", table, times=text)
    assert run.check().by_rule("repeats-disagree")
    assert run.check().by_rule("times-disagree")


def test_nested_flat_and_keyed_lists_are_read() -> None:
    nested = read([[0.0], [1e-6, 2e-6]])
    assert nested.offsets.tolist() == [0, 1, 3]
    assert nested.ns.tolist() == [0.0, 1e-6 * 1e9, 2e-6 * 1e9]
    assert read([1e-6, None]).repeats(0).tolist() == [1e-6 * 1e9]
    assert np.isnan(read([1e-6, None]).repeats(1)[0])
    keyed = read({"unit": "us", "nodes": ["a", "b"], "runs": [[1, 2], [3, 4]]})
    assert keyed.names == ("a", "b")
    assert keyed.repeats(1).tolist() == [2000.0, 4000.0]
    assert read([]).offsets.tolist() == [0]


@pytest.mark.spec_only
def test_triples_of_v05_are_read_without_their_clock() -> None:
    clock = ["15:24:44.177475", "15:24:44.177534"]
    times = read([[5.652e-05, *clock], [1.0, *clock]])
    assert times.repeats(0).tolist() == [5.652e-05 * 1e9]
    with pytest.raises(FormatError, match="some nodes"):
        read([[5.652e-05, *clock], [1.0]])


def test_names_and_lengths_are_checked() -> None:
    text = chain(["x", "y"], "f", shapes=[1])
    turned = {"unit": "ns", "nodes": ["y", "x"], "runs": [[7, 0]]}
    run = tvmdbg.open(text, times=json.dumps(turned).encode())
    assert run.timeline.repeats(1).tolist() == [7.0]
    assert run.check().by_rule("times-length")
    short = tvmdbg.open(text, times=b"[[0.0]]")
    assert "1 node, the run 2 nodes" in short.check().by_rule("times-length")[0].message
    assert not len(short.timeline.repeats_ns)


@pytest.mark.parametrize(
    "document",
    [
        "",
        "[[1.0",
        "7",
        [["x"]],
        [[True]],
        {"unit": "fortnights", "nodes": [], "runs": []},
        {"unit": "ns", "nodes": [1], "runs": []},
        {"unit": "ns", "nodes": ["a"], "runs": [[1, 2]]},
        {"unit": "ns", "nodes": ["a"], "runs": 7},
        "[" * 100_000,
    ],
)
def test_invalid_time_list_is_refused(document: object) -> None:
    with pytest.raises(FormatError):
        read(document)


def test_every_truncation_is_an_error(data: Path) -> None:
    content = (data / "times/split_multi_v0.19/time_list.json").read_bytes()
    for length in range(len(content.rstrip())):
        with pytest.raises(FormatError):
            read_time_list(BytesSource(content[:length]))


def test_negative_times_are_reported() -> None:
    assert [issue.rule for issue in read([[1.0], [-2.0]]).issues] == ["time-negative"]


def test_overflowing_times_are_nan_and_run_can_be_saved(tmp_path: Path) -> None:
    found = read_time_list(BytesSource(b"[[1e308, 1e-6], [1e999]]", "t.json"))
    assert np.isnan(found.ns).tolist() == [True, False, True]
    tvmdbg.open(b"[[1e308, 1e-6], [2e-6, 1e-6]]").save(tmp_path / "kept")
