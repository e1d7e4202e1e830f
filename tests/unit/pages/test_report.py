"""The report: whole, exact, safe to paste, and silent about the machine."""

import os
import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tvmdbg_widgets as tvmdbg
from tests.unit.findings.findings_dump import Op, graph_json, params, plant
from tvmdbg_widgets.export.nodes import MachineFolders
from tvmdbg_widgets.export.report import code, plain
from tvmdbg_widgets.run import DebugRun

HOSTILE = [
    "<script>alert(1)</script>",
    "a`b``c",
    "`x`",
    "![x](javascript:alert(1))",
    "[x](http://evil.example)",
    "*a* _b_ **c** ~~d~~",
    "a|b|c",
    "# heading",
    "- item",
    "1. item",
    "> quote",
    "a\n\n# b",
    "&lt;b&gt;",
    "<!-- -->",
    "$x$",
    "\\",
    "@everyone #12",
    "http://evil.example www.evil.example",
    "卷积 <b>",
    "---",
    "===",
    "```",
]


def as_xml(text: str) -> Any:
    return ET.fromstring(text)  # noqa: S314 (made here)


def rendered(text: str) -> Any:
    """The text as CommonMark with tables and strike-through makes HTML of it."""
    markdown_it = pytest.importorskip("markdown_it")
    parser = markdown_it.MarkdownIt("commonmark").enable(["table", "strikethrough"])
    return as_xml(f"<body>{parser.render(text)}</body>")


def flat(element: Any) -> str:
    return "".join(element.itertext())


def hostile_run(name: str) -> DebugRun:
    bad = np.array([np.nan, 1], np.float32)
    return plant(
        Op("x", np.ones(2, np.float32) * np.arange(2, dtype=np.float32)),
        Op(name, bad, "fused_log", [(0, 0)], {"attr " + name: name}, ns=[1000.0, 1001.0]),
    )


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_stays_text(name: str) -> None:
    shown = name.encode("unicode_escape").decode() if "\n" in name else name
    for text in (f"{plain(name)}", f"- {plain(name)}", f"# {plain(name)}"):
        body = rendered(text)
        assert {each.tag for each in body.iter()} <= {"body", "p", "ul", "li", "h1"}
        assert flat(body).replace("\u2060", "").strip() == shown.strip()
    body = rendered(f"- {code(name)}: {code(name)}")
    assert [flat(each) for each in body.iter("code")] == [shown, shown]


@given(st.text(max_size=40))
def test_any_text_stays_text(text: str) -> None:
    body = rendered(f"- begins {plain(text)}\n- {plain(text)}")
    assert {each.tag for each in body.iter()} <= {"body", "ul", "li"}
    assert len(list(body.iter("li"))) == 2


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_add_no_elements_to_report(name: str) -> None:
    report = hostile_run(name).report(1)
    body = rendered(str(report))
    allowed = {"body", "h1", "h2", "h3", "p", "ul", "li", "code", "pre"}
    assert {each.tag for each in body.iter()} <= allowed
    assert len(list(body.iter("h1"))) == 1
    shown = name.encode("unicode_escape").decode() if "\n" in name else name
    assert shown in [flat(each) for each in body.iter("code")]
    assert "@everyone" not in str(report).replace(f"`{name}`", "").replace(f"`attr {name}`", "")


def test_report_contains_bug_report_details() -> None:
    run = tvmdbg.open(tvmdbg.samples.resnet20_cifar_fp16_overflow)
    text = flat(rendered(str(run.report()))).replace("\u2060", "")
    assert tvmdbg.__version__ in text
    assert f"numpy {np.__version__}" in text
    assert "TVM 0.9–0.19 format" in text
    assert "output_tensors.params (997,542 bytes)" in text
    assert "First Inf in #38 conv2d + … + relu: weights reach 8,376 (0.411 in 6 twins)" in text
    assert "high confidence: every value was read" in text
    for issue in run.check():
        assert issue.message in text
    for each in run.findings():
        assert each.title in text


def test_node_report_shows_exact_values() -> None:
    run = tvmdbg.open(tvmdbg.samples.resnet20_cifar_fp16_overflow)
    text = flat(rendered(str(run.report(38))))
    values = run.tensors[38].numpy()
    finite = values[np.isfinite(values)].astype(np.float64)
    assert "8,133 finite, 0 NaN, 59 +Inf, 0 -Inf" in text
    places = [[int(i) for i in np.unravel_index(at, values.shape)] for at in (16, 3468)]
    assert values.reshape(-1)[[16, 3468]].tolist() == [finite.min(), finite.max()]
    assert f"0 (at {places[0]}) … 65376 (at {places[1]})" in text
    assert "in nanoseconds: " in text
    mean = re.search(r"65376.*?mean ([\d.]+), standard deviation ([\d.]+)", text)
    assert float(mean[1]) == pytest.approx(finite.mean(), rel=1e-5)
    assert float(mean[2]) == pytest.approx(finite.std(), rel=1e-5)
    for ns in run.timeline.repeats(38):
        assert f"{ns:,.2f} ns" in text
    assert "node 36 output 0, p22: float16 32×32×3×3, edge exact" in text
    assert "kernel_layout: OIHW" in text


def test_report_accepts_node_by_name() -> None:
    run = tvmdbg.open(tvmdbg.samples.resnet20_cifar)
    assert str(run.report(run.graph.names[3])) == str(run.report(3))
    with pytest.raises(KeyError, match="no node is named 'nosuch'"):
        run.report("nosuch")


def test_figure_is_saved_next_to_report_text(tmp_path: Path) -> None:
    run = tvmdbg.open(tvmdbg.samples.resnet20_cifar)
    report = run.report()
    path = report.save(tmp_path / "my report.md")
    assert {each.name for each in tmp_path.iterdir()} == {"my report.md", "my report.svg"}
    (image,) = rendered(path.read_text("utf-8")).iter("img")
    assert unquote(image.attrib["src"]) == "my report.svg"
    assert as_xml((tmp_path / "my report.svg").read_text("utf-8").split("?>")[1]).tag.endswith(
        "svg"
    )
    inline = re.fullmatch(
        re.escape(str(report)) + r'\n<img alt="[^"]*" src="data:image/svg\+xml,([^"]*)">\n',
        report._repr_markdown_(),
    )
    assert as_xml(unquote(inline[1])).tag.endswith("svg")
    assert "![" not in str(report)


def test_saving_report_without_md_suffix_is_refused(tmp_path: Path) -> None:
    report = tvmdbg.open(tvmdbg.samples.resnet20_cifar).report()
    with pytest.raises(ValueError, match="md"):
        report.save(tmp_path / "report.txt")
    assert list(tmp_path.iterdir()) == []


def test_report_of_missing_node_raises_index_error() -> None:
    run = tvmdbg.open(tvmdbg.samples.resnet20_cifar)
    with pytest.raises(IndexError, match="72"):
        run.report(72)


@pytest.mark.parametrize("how", ["folder", "files", "relative"])
def test_report_contains_no_machine_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    home = tmp_path / "home" / "secret_user" / "project"
    home.mkdir(parents=True)
    ops = [
        Op("x", np.arange(8, dtype=np.float32)),
        Op("/encoder/layer.0/Conv", np.ones(8, np.float32), "fused_nn_relu", [(0, 0)]),
    ]
    (home / "output_tensors.params").write_bytes(params(ops)[:-3])
    (home / "graph.json").write_text(graph_json(ops))
    (home / "notes.txt").write_text("of no format")
    monkeypatch.chdir(home)
    source: Any = {
        "folder": home,
        "files": [home / "graph.json", home / "output_tensors.params"],
        "relative": ["graph.json", "output_tensors.params"],
    }[how]
    run = tvmdbg.open(source)
    os.truncate(home / "output_tensors.params", 100)
    for report in (run.report(), run.report(1)):
        svg = report.figure.svg
        for text in (flat(rendered(str(report))), svg):
            assert "secret_user" not in text
            assert str(tmp_path) not in text
        assert "output_tensors.params" in flat(rendered(str(report)))
        assert "/encoder/layer.0/Conv" in flat(rendered(str(report)))


def test_urls_and_paths_are_reduced_to_file_names() -> None:
    said = MachineFolders(()).without_paths(
        "https://me:word@host.example/a/b.params?token=1 is cut off"
    )
    assert said == "b.params is cut off"
    assert MachineFolders(()).without_paths("/usr/lib/x.json and /encoder_q/l.0/x") == (
        "x.json and /encoder_q/l.0/x"
    )
