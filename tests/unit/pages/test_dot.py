"""DOT documents: read by the grammar of the language, and by Graphviz itself where it is there."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest

import tvmdbg_widgets as tvmdbg
from tests.graph_json import document, null, operator
from tests.unit.figures.test_figures_hostile import HOSTILE, run_of
from tests.unit.pages.dot_reader import read_dot, shown
from tvmdbg_widgets import engine as host
from tvmdbg_widgets.answers import few_names
from tvmdbg_widgets.figures.theme import TOKENS

VIZ = Path(__file__).parents[3] / "benchmarks/node_modules/@viz-js/viz/dist/viz.js"
NASTY = [*HOSTILE, r"ends in \ ", "\\", '"', r"\N \G \l", "&quot;&#60;b&gt;", "a\nb", "<b>x</b>"]


@pytest.fixture(scope="module")
def resnet() -> Any:
    return tvmdbg.open(tvmdbg.samples.resnet20_cifar)


def test_dot_nodes_edges_and_clusters_match_run(resnet: Any) -> None:
    found = read_dot(resnet.to_dot(fold_parameters=False))
    assert set(found.all_nodes()) == {f"n{node.id}" for node in resnet.graph.nodes}
    edges = [(source, target) for source, target, _ in found.edges]
    expected = zip(resnet.graph.edge_source, resnet.graph.edge_target, strict=True)
    assert edges == [(f"n{a}", f"n{b}") for a, b in expected]
    clusters = found.all_clusters()
    for group in resnet.groups:
        cluster = clusters[f"cluster_{group.id}"]
        assert shown(cluster.attributes["label"]) == group.title
        assert set(cluster.all_nodes()) == {f"n{node}" for node in group.nodes.tolist()}
    flat = read_dot(resnet.to_dot(fold_parameters=False, grouped=False))
    assert not flat.clusters
    assert set(flat.nodes) == set(found.all_nodes())


def test_folded_parameters_are_counted_on_their_reader(resnet: Any) -> None:
    found = read_dot(resnet.to_dot())
    nodes = found.all_nodes()
    assert len(nodes) == 28
    assert "2 params" in nodes["n3"]["label"]
    assert {end for a, b, _ in found.edges for end in (a, b)} <= set(nodes)


def test_labels_show_shape_time_and_color(resnet: Any) -> None:
    plain = read_dot(resnet.to_dot(color_by=None))
    assert "fillcolor" not in plain.all_nodes()["n3"]
    assert shown(plain.all_nodes()["n3"]["label"]).startswith(
        "conv2d + add + relu\n#3 · 1×16×32×32"
    )
    timed = read_dot(resnet.to_dot(color_by="time")).all_nodes()
    assert "523.4 µs" in timed["n3"]["label"]
    slowest = resnet.timeline.node_ns.argmax()
    assert timed[f"n{slowest}"]["fillcolor"] == TOKENS["heat"]["light"][-1]
    ran = resnet.timeline.node_ns > 0
    for name, node in timed.items():  # what is given and not run has no time
        assert bool(re.fullmatch("#[0-9a-f]{6}", node.get("fillcolor", ""))) == ran[int(name[1:])]
    own = read_dot(resnet.to_dot(color_by={3: 1.5, 6: 2.5})).all_nodes()
    assert "values unknown" in shown(own["n9"]["label"])
    labels = {told["label"] for _, _, told in read_dot(resnet.to_dot()).edges}
    assert "float32[1, 16, 32, 32]" in labels
    assert not any("label" in told for *_, told in read_dot(resnet.to_dot(edge_labels=False)).edges)


@pytest.mark.parametrize(
    "what", ["selection", "subgraph", "group", "ids", "numpy"], ids=lambda each: each
)
def test_dot_contains_only_the_chosen_nodes(what: str, resnet: Any) -> None:
    group = resnet.groups.find("residual block")[0]
    chosen = {
        "selection": resnet.select("op:conv"),
        "subgraph": resnet.graph.subgraph([3, 6, 9]),
        "group": group,
        "ids": [3, 6, 6, 9],
        "numpy": np.array([3, 6, 9]),
    }[what]
    ids = {
        "selection": set(resnet.select("op:conv")),
        "group": set(group.nodes.tolist()),
    }.get(what, {3, 6, 9})
    found = read_dot(resnet.to_dot(chosen, fold_parameters=False))
    assert set(found.all_nodes()) == {f"n{node}" for node in ids}


def test_invalid_dot_arguments_are_rejected(resnet: Any) -> None:
    for wrong in ("conv", 3, [1.5], ["conv"]):
        with pytest.raises(TypeError, match="node"):
            resnet.to_dot(wrong)
    with pytest.raises(IndexError, match=r"0\.\.71"):
        resnet.to_dot([72])
    with pytest.raises(ValueError, match="direction"):
        resnet.to_dot(direction="up")
    with pytest.raises(ValueError, match="known: 'kind', 'time'"):
        resnet.to_dot(color_by="tempo")


def test_missing_engine_warns_and_leaves_out_colors(
    resnet: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "quickjs", None)
    monkeypatch.setattr(host._threads, "engine", None, raising=False)
    plain = resnet.to_dot(color_by=None)
    with pytest.warns(UserWarning, match="without the colors of 'time': .*pip install quickjs-ng"):
        assert resnet.to_dot(color_by="time") == plain
    with pytest.warns(UserWarning, match="without the colors of 'time'") as told:
        explorer = resnet.to_model_explorer()
    assert not explorer.node_data
    assert len(explorer.graph["graphs"][0]["nodes"]) == resnet.graph.num_nodes
    assert {Path(each.filename) for each in told} == {Path(__file__)}
    with pytest.raises(ValueError, match="color_by"):
        resnet.to_dot(color_by="tiem")


def test_time_colors_do_not_depend_on_node_limit(
    resnet: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = resnet.to_dot(color_by="time")
    monkeypatch.setattr(few_names, "MOST_NODES", 10)
    assert resnet.to_dot(color_by="time") == few


def letters(name: str) -> str:
    """What of a name may be seen."""
    return "".join(each for each in name if each.isprintable() and each != "…")


def test_hostile_names_stay_text() -> None:
    run = run_of(["data", *NASTY], [(at, at + 1) for at in range(len(NASTY))])
    document = run.to_dot(fold_parameters=False)
    document.encode()
    assert document.isprintable() or set(document) - set("\n") == {
        each for each in document if each.isprintable()
    }
    nodes = read_dot(document).all_nodes()
    assert len(nodes) == 1 + len(NASTY)
    for at, name in enumerate(NASTY, 1):
        tip = shown(nodes[f"n{at}"]["tooltip"])
        assert tip.startswith(f"#{at} "), name
        assert letters(name)[:20] in tip.replace("\n", ""), name
        assert len(nodes[f"n{at}"]["label"]) < 400


def test_missing_operands_loops_and_control_edges_are_drawn() -> None:
    raw = json.loads(tvmdbg_graph())
    run = tvmdbg.open(json.dumps(raw).encode())
    found = read_dot(run.to_dot(fold_parameters=False))
    ends = [(a, b) for a, b, _ in found.edges]
    assert ("n2", "n2") in ends
    assert ("lost1", "n2") in ends
    assert ("n0", "n1") in ends
    styles = {(a, b): told.get("style", "") for a, b, told in found.edges}
    assert styles["lost1", "n2"] == "dashed"


def tvmdbg_graph() -> str:
    """Return a node that reads itself and a node that is not there."""
    nodes = [null("x"), operator("a", "f", [0]), operator("b", "f", [2, 77])]
    return json.dumps(document(nodes, heads=[1], shapes=[1]))


def graphviz(document: str) -> ET.Element:
    """Return the drawing of Graphviz, which must take the document without an error."""
    if not VIZ.exists():
        pytest.skip("Graphviz is not there: npm ci in benchmarks/")
    script = f"""
import {{ instance }} from {json.dumps(VIZ.as_uri())};
let text = ""; for await (const each of process.stdin) text += each;
const {{ status, output, errors }} = (await instance()).render(text, {{ format: "svg" }});
if (status !== "success" || errors.some((each) => each.level === "error")) {{
  console.error(JSON.stringify(errors)); process.exit(1);
}}
process.stdout.write(output);"""
    done = subprocess.run(
        ["node", "--input-type=module", "-e", script],
        input=document.encode(),
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    return ET.fromstring(done.stdout)  # noqa: S314 (of our own document)


def test_graphviz_draws_a_run(resnet: Any) -> None:
    drawn = graphviz(resnet.to_dot(color_by="time", direction="right"))
    groups = [each.get("class") for each in drawn.iter("{http://www.w3.org/2000/svg}g")]
    assert groups.count("node") == 28
    assert groups.count("cluster") == len(resnet.groups)


def test_graphviz_shows_hostile_names_letter_by_letter() -> None:
    names = [name for name in NASTY if len(name) < 60 and "\ud800" not in name]
    run = run_of(["data", *names], [(at, at + 1) for at in range(len(names))])
    drawn = graphviz(run.to_dot(fold_parameters=False))
    texts = "\n".join(
        "".join(each.itertext()) for each in drawn.iter("{http://www.w3.org/2000/svg}text")
    )
    for name in ("<script>alert(1)</script>", r"\N \G \l", "&quot;&#60;b&gt;", "<b>x</b>", "\\"):
        assert name in texts.replace("\u00a0", " "), name
