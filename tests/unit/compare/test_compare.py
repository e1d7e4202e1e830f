"""What differs between two runs, against what the makers of the dumps say of them."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
import traitlets

import tvmdbg_widgets as tvmdbg
from tests.graph_json import chain
from tvmdbg_widgets.analysis.compare import Comparison
from tvmdbg_widgets.analysis.differences import DifferenceKind
from tvmdbg_widgets.answers.comparison import comparison_answer
from tvmdbg_widgets.figures.comparison import comparison_figure
from tvmdbg_widgets.run import DebugRun


def runs(corpus: Path, other: str) -> tuple[DebugRun, DebugRun]:
    return tvmdbg.open(corpus / "tvm/resnet20_cifar"), tvmdbg.open(corpus / "tvm" / other)


def compared(corpus: Path, other: str) -> Comparison:
    return tvmdbg.compare(*runs(corpus, other))


def test_run_has_no_differences_from_itself(corpus: Path) -> None:
    run, _ = runs(corpus, "resnet20_cifar")
    found = tvmdbg.compare(run, run)
    assert len(found) == 0


def test_copies_between_devices(corpus: Path) -> None:
    found = compared(corpus, "resnet20_two_devices")
    nodes = json.loads((corpus / "tvm/resnet20_two_devices/graph.json").read_text())["nodes"]
    copies = [i for i, node in enumerate(nodes) if node["name"].startswith("__copy")]
    assert [each.b for each in found.of_kind(DifferenceKind.ONLY_B)] == copies
    assert not found.of_kind(DifferenceKind.ONLY_A)
    wired = {each.b for each in found.of_kind(DifferenceKind.WIRING)}
    readers = {i for i, node in enumerate(nodes) for each in node["inputs"] if each[0] in copies}
    assert wired == readers
    assert {(each.in_a, each.in_b) for each in found.of_kind(DifferenceKind.DEVICE)} == {
        ("cpu", "cuda")
    }


def test_precision_change_is_listed_as_dtype_differences(corpus: Path) -> None:
    found = compared(corpus, "resnet20_cifar_fp16")
    changed = found.of_kind(DifferenceKind.DTYPE)
    assert {(each.in_a, each.in_b) for each in changed} == {("float32", "float16")}
    assert len(changed) == 70  # the input and softmax stay as they are
    group = next(each for each in found.groups if each.kind is DifferenceKind.DTYPE)
    assert len(group.members) == 70
    assert "hash" not in repr(found)
    times = found.counts()["time"]
    assert f"\n  … and {times - 5} more\nonly in B" in repr(found)
    assert f"<p>… and {times - 5} more</p>" in found._repr_html_()
    assert not found.of_kind(DifferenceKind.SHAPE)


def test_hash_is_listed_last_and_only_if_nothing_else_differs(tmp_path: Path) -> None:
    dump = tvmdbg.samples.resnet20_cifar / "_tvmdbg_device_CPU_0/_tvmdbg_graph_dump.json"
    graph = json.loads(dump.read_text("utf-8"))
    hashed = [node for node in graph["nodes"] if "hash" in node.get("attrs", {})]
    assert len(hashed) > 3
    for node in hashed:
        node["attrs"]["hash"] = node["attrs"]["hash"][::-1]
    hashed[0]["attrs"]["data_layout"] = "NHWC"
    (tmp_path / "_tvmdbg_graph_dump.json").write_text(json.dumps(graph), "utf-8")
    found = tvmdbg.compare(tvmdbg.open(dump), tvmdbg.open(tmp_path / "_tvmdbg_graph_dump.json"))
    *_, last = found.groups
    assert last.change == "hash differs"
    assert len(last.members) == len(hashed) - 1
    assert [title for title, _ in found.sections()] == ["attribute", "attribute, hashes alone"]


def test_packed_layouts(corpus: Path) -> None:
    found = compared(corpus, "resnet20_cifar_nchw8c")
    values = {each.what: (each.in_a, each.in_b) for each in found.of_kind(DifferenceKind.ATTRIBUTE)}
    assert values["data_layout"][1].startswith("NCHW")
    shapes = {(each.in_a, each.in_b) for each in found.of_kind(DifferenceKind.SHAPE)}
    assert ("[16, 1, 1]", "[1, 2, 1, 1, 8]") in shapes
    assert ("[16, 3, 3, 3]", "[2, 1, 3, 3, 3, 8]") in shapes


def test_fused_node_is_compared_with_summed_time_of_parts(corpus: Path) -> None:
    found = compared(corpus, "resnet20_cifar_unfused")
    fused = found.of_kind(DifferenceKind.FUSION)
    assert len(fused) == 24
    assert fused[0].in_b == "3 nodes: #2, #4, #5"
    time = next(each for each in found.of_kind(DifferenceKind.TIME) if each.a == 3)
    took = json.loads((corpus / "tvm/resnet20_cifar_unfused/time_list.json").read_text())
    together = 1e6 * sum(sum(took[node]) / len(took[node]) for node in (2, 4, 5))
    number, unit = time.in_b.split()
    assert float(number) * {"µs": 1, "ms": 1e3}[unit] == pytest.approx(together, rel=1e-3)


def test_texts_tables_and_errors(corpus: Path) -> None:
    found = compared(corpus, "resnet20_two_devices")
    lines = repr(found).splitlines()
    assert lines[:3] == [
        "A: resnet20_cifar, B: resnet20_two_devices",
        found.sentence,
        "72 of 72 nodes matched: 26 exact, 46 likely; 3 of 75 only in B",
    ]
    assert "only in B: 3" in lines
    assert "<td" in found._repr_html_()
    assert found.counts()["only in B"] == 3
    pandas = pytest.importorskip("pandas")
    table = found.to_dataframe()
    assert isinstance(table, pandas.DataFrame)
    assert len(table) == len(found)
    with pytest.raises(TypeError, match="runs are compared, not int"):
        tvmdbg.compare(runs(corpus, "resnet20_cifar")[0], 3)  # type: ignore[arg-type]


def test_names_do_not_add_markup_or_lines(corpus: Path) -> None:
    case = corpus / "tvm/edge_cases/v0.19/odd_names"
    run = tvmdbg.open(case / "tvmdbg")
    found = tvmdbg.compare(run, tvmdbg.open(corpus / "tvm/edge_cases/v0.19/tiny_relu/tvmdbg"))
    assert "<script" not in found._repr_html_()
    assert all(line.isprintable() for line in repr(found).splitlines())


def test_view_receives_all_comparison_columns(corpus: Path) -> None:
    found = compared(corpus, "resnet20_two_devices")
    reply = comparison_answer(found, {"kind": "comparison", "id": "1"})
    lengths = {each["name"]: each["length"] for each in reply.result["columns"]}
    assert lengths["pairA"] == len(found.matching)
    assert lengths["memberA"] == len(found)
    assert lengths["groupKind"] == len(found.groups)
    assert lengths["groupStart"] == len(found.groups) + 1
    for side, graph in zip("AB", (found.matching.graph_a, found.matching.graph_b), strict=True):
        for name in ("label", "shape", "speed", "change"):
            assert lengths[f"{name}{side}"] == graph.num_nodes
    assert reply.result["info"]["sentence"] == found.sentence
    with pytest.raises(ValueError, match="unknown question 'graph'"):
        comparison_answer(found, {"kind": "graph"})


@pytest.mark.parametrize("width", [300, 720, 1600])
@pytest.mark.parametrize("theme", ["light", "dark", "auto"])
def test_figures(corpus: Path, width: int, theme: str) -> None:
    pair = runs(corpus, "resnet20_two_devices")
    found, facts = tvmdbg.compare(*pair), (pair[0].facts, pair[1].facts)
    figure = comparison_figure(facts, found, width=width, theme=theme)
    assert figure.description["only_b"] == [22, 45, 68]
    assert len(figure.description["graphs"]) == (2 if width >= 620 else 0)
    assert "only in B" in figure.svg
    assert len(comparison_figure(facts, found, saved=True).svg) < 48_000


def test_view_of_run_compared_with_itself_has_two_sessions(corpus: Path) -> None:
    run, other = runs(corpus, "resnet20_cifar_v0.8")
    view = tvmdbg.ComparisonView(run, run)
    assert view.session is not view.session_b
    both = tvmdbg.ComparisonView(run, other, kind="time", linked=False)
    assert both.session_b is other.session
    assert both.comparison.matching.counts()["exact"] == 72
    assert "72 of 72 nodes matched" in both.figure().text
    with pytest.raises(TypeError, match="shows two runs"):
        tvmdbg.ComparisonView(run, "other")  # type: ignore[arg-type]
    timeless = tvmdbg.open(chain(["x", "a"]))
    with pytest.raises(traitlets.TraitError, match="needs the times of both runs"):
        tvmdbg.ComparisonView(timeless, timeless, color_by="speed")
    view.close()
    both.close()


@pytest.mark.parametrize("b", ["unfused", "nchw8c", "fp16", "int8"])
def test_sentence_matches_recorded_times(corpus: Path, b: str) -> None:
    """Its numbers, counted again from the times that TVM wrote."""
    found = compared(corpus, f"resnet20_cifar_{b}")
    times: list[dict[int, float]] = []
    for name in ("resnet20_cifar", f"resnet20_cifar_{b}"):
        took = json.loads((corpus / f"tvm/{name}/time_list.json").read_text())
        times.append({node: sum(each) / len(each) for node, each in enumerate(took) if each})
    total_a, total_b = (sum(each.values()) for each in times)
    factor, how = (
        (total_b / total_a, "slower") if total_b > total_a else (total_a / total_b, "faster")
    )
    said = re.match(r"B is ([\d.]+)× (\w+) \(([+−])([\d.]+) ms\)", found.sentence)
    assert said is not None, found.sentence
    assert float(said[1]) == pytest.approx(factor, abs=0.05 if factor >= 2 else 0.005)
    assert said[2] == how
    assert said[3] == ("+" if total_b > total_a else "−")
    assert float(said[4]) == pytest.approx(abs(total_b - total_a) * 1e3, rel=1e-3)
    changes = sorted(
        (
            (
                sum(times[1].get(node, 0.0) for node in row.b)
                - sum(times[0].get(node, 0.0) for node in row.a)
            )
            * (1 if total_b > total_a else -1)
            for row in found.times
        ),
        reverse=True,
    )
    share, count = 0.0, 0
    while share < 0.9:
        share += changes[count] / abs(total_b - total_a)
        count += 1
    assert (
        f"; {count} operators account for {100 * share:.1f} % of the difference" in found.sentence
    )
    alone = len(found.matching.only_a), len(found.matching.only_b)
    assert alone[0] == 0
    ending = f"; {alone[1]} nodes of B unmatched" if alone[1] else "; all nodes matched"
    assert found.sentence.endswith(ending)


def test_times_come_first_and_scalar_parameters_last(corpus: Path) -> None:
    found = compared(corpus, "resnet20_cifar_int8")
    titles = [title for title, _ in found.sections()]
    assert titles[0] == "time"
    assert titles[-1] == "only in B, scalar parameters"
    last = found.sections()[-1][1]
    assert {found.matching.graph_b.shape(each.b) for group in last for each in group.members} == {
        ()
    }
    assert sum(len(group.members) for group in found.groups) == len(found)
    first = found.groups[0]
    assert found.nodes(first) == "#6 ~ #10 conv2d + add + relu (1×16×32×32)"
    assert first.change == "2.6× slower: 1.953 ms → 5.025 ms"


@pytest.mark.parametrize("b", ["unfused", "nchw8c", "int8"])
def test_nodes_have_the_ratio_of_their_times(corpus: Path, b: str) -> None:
    found = compared(corpus, f"resnet20_cifar_{b}")
    for side, graph in enumerate((found.matching.graph_a, found.matching.graph_b)):
        values = found.times.speed_of(graph).rows
        told = 0
        for row in found.times:
            for node in (row.a, row.b)[side]:
                known = row.verdict.label in ("slower", "faster")
                assert np.isnan(values[node]) == (not known)
                if known:
                    assert 2 ** values[node] == pytest.approx(row.ratio)
                    told += 1
        assert told == int((~np.isnan(values)).sum()) > 0
