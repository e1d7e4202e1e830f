"""Two graphs beside each other: colored by how surely nodes match, and arranged alike."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import tvmdbg_widgets as tvmdbg
from tests.unit.figures.figure_checks import assert_sound, lines_of, texts
from tvmdbg_widgets.analysis.compare import Comparison
from tvmdbg_widgets.figures.comparison import comparison_figure
from tvmdbg_widgets.figures.raster import Figure


def drawn(box: dict[str, Any]) -> str:
    """What a compact box says: a node with its id."""
    title: str = box["title"]
    return title if box["group"] is not None else f"#{box['node']} {title}"


def compared(corpus: Path, b: str, **options: object) -> tuple[Figure, Comparison]:
    runs = tuple(tvmdbg.open(corpus / "tvm" / each) for each in ("resnet20_cifar", b))
    comparison = tvmdbg.compare(*runs)
    facts = (runs[0].facts, runs[1].facts)
    return comparison_figure(facts, comparison, **options), comparison  # type: ignore[arg-type]


def test_nodes_are_colored_by_match_certainty(corpus: Path) -> None:
    figure, comparison = compared(corpus, "resnet20_cifar_nchw8c", width=960, color_by="match")
    assert_sound(figure, 400 * 1024)
    matching = comparison.matching
    alone = matching.only_b.tolist()
    boxes = figure.description["graphs"][1]["boxes"]
    said = {each["node"]: each["second"] for each in boxes if each["group"] is None}
    assert said
    for node, words in said.items():
        found = [each.certainty.label for each in matching if each.b == node]
        assert words == max(found, default="unmatched")
    assert [node for node in said if node in alone] == alone
    shown = texts(figure)
    assert sum("unmatched" in each for each in shown) >= len(alone)
    counts = [after for before, after in pairwise(shown) if before == "unmatched"]
    assert str(len(alone)) in counts


@pytest.mark.parametrize("b", ["resnet20_cifar_fp16_overflow", "resnet20_cifar_unfused"])
@pytest.mark.parametrize("saved", [False, True])
def test_matched_boxes_are_aligned(corpus: Path, b: str, saved: bool) -> None:
    """All groups are closed, and a match of a box is at its height."""
    figure, comparison = compared(corpus, b, saved=saved)
    assert_sound(figure, 40 * 1024)
    graphs = figure.description["graphs"]
    assert not any(graph["frames"] for graph in graphs)
    partner = dict(sorted(comparison.matching.pairs.tolist()))
    there = {each["node"]: each for each in graphs[1]["boxes"]}
    lines = lines_of(figure)
    table = next(line.y for line in lines if line.text == "difference")
    heights = {(line.x > 360, line.text): line.y for line in lines if line.y < table}
    level = 0
    for box in graphs[0]["boxes"]:
        match = there.get(partner[box["node"]])
        names = [drawn(box), drawn(match) if match else ""]
        counts = [
            [drawn(each) for each in graph["boxes"]].count(name)
            for graph, name in zip(graphs, names, strict=True)
        ]
        if counts == [1, 1]:
            assert heights[False, names[0]] == heights[True, names[1]]
            level += 1
    assert level >= 4


@pytest.mark.parametrize("width", [300, 420, 560])
def test_narrow_table_names_each_kind_of_difference(corpus: Path, width: int) -> None:
    figure, _ = compared(corpus, "resnet20_cifar_fp16_overflow", width=width)
    assert_sound(figure)
    assert {each["kind"] for each in figure.description["differences"]} <= set(texts(figure))


def test_difference_row_names_nodes_of_both_graphs(corpus: Path) -> None:
    figure, comparison = compared(corpus, "resnet20_cifar_unfused")
    (times, *_) = comparison.groups
    first = times.members[0]
    lines = lines_of(figure)
    row = min(line.y for line in lines if line.text == "time")
    told = sorted((line for line in lines if line.y == row), key=lambda line: line.x)
    assert [line.text for line in told] == [
        *("time", f"#{first.a} conv2d + add + add + relu", f"#{first.b} relu", times.change),
    ]
    bold = [line for line in figure.svg.split("<text")[1:] if comparison.sentence[:20] in line]
    assert len(bold) == 1
