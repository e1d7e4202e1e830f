"""Recorded graphs against a plain walk over the JSON that TVM was given."""

import json
from pathlib import Path

import numpy as np
import pytest
from conftest import corpus_path
from formats.tvm.graph_truth import assert_consistent, assert_is, edges_of

from tvmdbg_widgets.formats.tvm.graph.graph_json import read_graph
from tvmdbg_widgets.model.base.numbers import Trust
from tvmdbg_widgets.model.base.text import IssueSeverity
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.sources.file_source import FileSource

DATA = Path(__file__).parents[2] / "data" / "graph"
OWN = sorted(DATA.glob("*/graph.json"))
CORPUS = corpus_path()
RECORDED = (
    sorted([*CORPUS.glob("tvm/**/graph.json"), *CORPUS.glob("relax/*/capture/graph.json")])
    if CORPUS
    else []
)


def case_name(path: Path) -> str:
    return "-".join(path.parent.parts[-2:])


def read(path: Path, raw: Graph | None = None) -> Graph:
    graph = read_graph(FileSource(path), raw)
    assert_consistent(graph)
    return graph


def dumps_beside(path: Path) -> list[Path]:
    found = path.parent.rglob("_tvmdbg_graph_dump.json")
    return [file for file in found if not file.is_relative_to(path.parent / "edge_cases")]


@pytest.fixture(params=[*OWN, *RECORDED], ids=case_name)
def given(request: pytest.FixtureRequest) -> Path:
    return request.param


def test_corpus_is_read(corpus: Path) -> None:
    assert len(RECORDED) >= 50


def test_raw_graph(given: Path) -> None:
    graph = read(given)
    assert_is(graph, json.loads(given.read_bytes()))
    assert graph.form == "raw"
    assert not graph.lenient
    assert {issue.severity for issue in graph.issues} <= {IssueSeverity.NOTE}


def test_dump_alone(given: Path) -> None:
    raw = json.loads(given.read_bytes())
    truth = read(given)
    for path in dumps_beside(given):
        graph = read(path)
        assert graph.form == (
            "string" if "_v0.6" in str(path) or "/v0.6" in str(path) else "mutated"
        )
        assert_is(graph, raw, edges=False)
        assert graph.edge_target.tolist() == truth.edge_target.tolist()
        for edge, (got, want) in enumerate(zip(edges_of(graph), edges_of(truth), strict=True)):
            if graph.edge_trust[edge] == Trust.AMBIGUOUS:
                assert want[0] in graph.edge_candidates[edge]
            else:
                assert got == want
        assert (graph.edge_trust != Trust.ABSENT).all()


def test_dump_with_the_raw_graph(given: Path) -> None:
    for path in dumps_beside(given):
        graph = read(path, read(given))
        assert_is(graph, json.loads(given.read_bytes()))
        assert not graph.issues.by_rule("raw-graph-does-not-match")
        assert not graph.issues.by_rule("edge-ambiguous")


def test_multi_output_producers_of_a_dump(data: Path) -> None:
    graph = read(data / "graph/split_multi_v0.19/_tvmdbg_graph_dump.json")
    ambiguous = np.flatnonzero(graph.edge_trust == Trust.AMBIGUOUS).tolist()
    assert [graph.edge_target[edge] for edge in ambiguous] == [2, 3]
    assert [graph.edge_candidates[edge] for edge in ambiguous] == [(1,), (1,)]
    assert len(graph.issues.by_rule("edge-ambiguous")) == 1
    assert graph.ancestors(3) == frozenset()
    assert graph.ancestors(3, include_ambiguous=True) == {0, 1}
