"""What is said of times that are no debugger's means: true for each kind of file."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from unit.figures.figure_checks import assert_sound, texts

import tvmdbg_widgets as tvmdbg
from tests.unit.findings.findings_dump import Op, plant
from tvmdbg_widgets.answers.answers import answer
from tvmdbg_widgets.run import DebugRun

SOURCES = ["report", "rows", "vm", "chrome", "list"]
VM_TABLE = (
    f"{'#OpName':<80}\t{'#InvokeCount':<10}\t#Duration(us): Sum/Mean/Min/Max\n"
    f"{'fused_add':<80}\t{'3':<10}\t30/10/5/15\n"
    "\nTotal Duration: 30 us.\tTotal Packed Functions: 3\n"
)


def opened(corpus: Path, data: Path, source: str) -> DebugRun:
    if source == "vm":
        return tvmdbg.open(VM_TABLE.encode())
    return tvmdbg.open(
        {
            "report": corpus / "tvm/resnet20_cifar/report.json",
            "rows": corpus / "tvm/edge_cases/v0.19/reports/two_devices.json",
            "chrome": data / "chrome/viztracer.json",
            "list": corpus / "tvm/resnet20_cifar/time_list.json",
        }[source]
    )


def everything(run: DebugRun) -> str:
    """All that is said of a run without a graph: text, tables, figure, live view."""
    info = answer(run.facts, {"kind": "timeline"}).result["info"]
    figure = run.figure("timeline")
    parts = [repr(run.timeline), repr(run.table()), run.table()._repr_html_(), repr(run.top(3))]
    parts += [run.summary(), str(run.check()), figure.text, *texts(figure)]
    said: dict[str, Any] = {**info["words"], "measured": ""}
    return "\n".join([*parts, *info["notes"], *map(str, said.values())])


@pytest.mark.parametrize(
    ("source", "says", "never"),
    [
        ("report", ["27 calls", "one profiled pass", "of the call"], ["mean", "node", "repeat="]),
        ("rows", ["the sum of its calls", "3 rows"], ["mean time", "per operator", "operators"]),
        ("vm", ["the sum of its calls", "last reset"], ["mean time", "warm up", "one pass"]),
        ("chrome", ["wall clock", "self time", "27 slice names"], ["mean", "synthetic", "node"]),
        ("list", ["mean time", "72 nodes", "synthetic"], ["operators", "wall", "trust"]),
    ],
)  # fmt: skip
def test_timeline_wording_fits_kind_of_source(
    corpus: Path, data: Path, source: str, says: list[str], never: list[str]
) -> None:
    said = everything(opened(corpus, data, source))
    assert [each for each in says if each not in said] == []
    assert [each for each in never if each in said] == []


@pytest.mark.parametrize("source", SOURCES)
def test_figure_and_live_view_show_same_words(corpus: Path, data: Path, source: str) -> None:
    run = opened(corpus, data, source)
    info = answer(run.facts, {"kind": "timeline"}).result["info"]
    for width in (480, 900):
        figure = run.figure("timeline", width=width)
        assert_sound(figure)
        assert figure.description["words"] == info["words"]
        assert figure.description["said"] == info["words"]["said"]
        assert figure.description["nested"] == info["nested"]
        shown = " ".join(texts(figure))
        assert info["words"]["said"].partition(";")[0] in shown
        assert info["words"]["row"] in shown


def test_a_trace_is_ranked_by_self_time(data: Path) -> None:
    """Against sums over the file's own events, without our reader."""
    events = json.loads((data / "chrome/viztracer.json").read_text())["traceEvents"]
    spans = [(e["tid"], e["ts"], e["ts"] + e["dur"], e["name"]) for e in events if e["ph"] == "X"]
    own: dict[str, float] = {}
    for tid, start, end, name in spans:
        inner = [
            each
            for each in spans
            if each[0] == tid
            and each[:3] != (tid, start, end)
            and start <= each[1]
            and each[2] <= end
        ]
        children = [
            each
            for each in inner
            if not any(o != each and o[1] <= each[1] and each[2] <= o[2] for o in inner)
        ]
        own[name] = own.get(name, 0.0) + end - start - sum(e[2] - e[1] for e in children)
    run = tvmdbg.open(data / "chrome/viztracer.json")
    found = {row.name: row.time_ns / 1e3 for row in run.table()}
    assert found == pytest.approx(own, abs=5e-3)
    slowest = sorted(own, key=lambda name: -own[name])[:5]
    assert [row.name for row in run.top(5)] == slowest
    drawn = run.figure("timeline").description["top"]
    assert [row["name"] for row in drawn[:5]] == slowest


def test_tables_without_graph_have_no_graph_columns(corpus: Path, data: Path) -> None:
    head = {
        source: repr(opened(corpus, data, source).table()).splitlines()[1].split("  ")
        for source in ("report", "chrome", "list")
    }
    named = {source: [each.strip() for each in cells if each] for source, cells in head.items()}
    assert named["report"] == ["call", "name", "time of the call", "share"]
    assert named["chrome"][:4] == ["name", "slices", "self time", "share"]
    assert named["list"] == ["node", "name", "mean time", "share", "p10 … p90"]


def test_report_opened_with_its_graph_shows_nodes(corpus: Path) -> None:
    folder = corpus / "tvm/resnet20_cifar"
    run = tvmdbg.open(folder / "graph.json", folder / "report.json")
    words = answer(run.facts, {"kind": "timeline"}).result["info"]["words"]
    assert (words["item"], words["row"], words["time"]) == ("node", "operator", "time of the call")
    assert "27 operators" in repr(run.table())
    node = run.top(1)[0].node
    times = dict(answer(run.facts, {"kind": "node", "node": node}).result["times"])
    assert "one call" in times
    assert not {"mean", "repeats"} & set(times)


def test_details_that_are_left_out_are_counted() -> None:
    value = np.zeros((2, 2), np.float32)
    ops = [Op("x", value), Op("a", value, "fused_add", [(0, 0)], ns=range(1_000, 26_000, 1_000))]
    ops += [Op(f"r{at}", value, "fused_add", [(1, 0)]) for at in range(250)]
    details = answer(plant(*ops).facts, {"kind": "node", "node": 1}).result
    (output,) = details["outputs"]
    assert output["text"].endswith("first 200 of 250 uses listed")
    assert dict(details["times"])["repeats"].endswith("20.00 µs and 5 more")
