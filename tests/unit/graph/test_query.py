"""Queries, against what is found node by node."""

import contextlib
import json
import math
import pickle
import random
import re
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import tvmdbg_widgets as tvmdbg
from tests.graph_json import graph_json, null
from tests.unit.graph.query_texts import trees, written
from tests.unit.graph.query_truth import numbers, texts_of, truth
from tvmdbg_widgets import engine as host
from tvmdbg_widgets.analysis import query as regex
from tvmdbg_widgets.analysis import selection
from tvmdbg_widgets.analysis.query import QueryError, RegexError, parse, search

GOLDEN = ("resnet20_cifar", "split_multi", "odd_names", "hetero_copy")
SOURCES = {
    name: f"graph/{name}_v0.19/_tvmdbg_graph_dump.json" for name in GOLDEN if name != GOLDEN[0]
}
CORPUS = (
    *("resnet20_cifar", "resnet20_cifar_nchw8c", "resnet20_two_devices", "transformer_encoder"),
    *("resnet20_cifar_int8", "resnet20_cifar_unfused", "resnet20_cifar_v0.6"),
)


def golden_run(data: Path, name: str) -> tvmdbg.DebugRun:
    source = SOURCES.get(name)
    return tvmdbg.open(data / source if source else tvmdbg.samples.resnet20_cifar)


def ours(run: tvmdbg.DebugRun, text: str) -> dict[str, Any]:
    """What Python says of a query."""
    try:
        tree = parse(text)
        found = run.select(text)
    except QueryError as error:
        return {"error": error.message, "position": error.position}
    return {"tree": tree, "nodes": list(found), "unknown": found.unknown}


@pytest.fixture(scope="module")
def sample() -> tvmdbg.DebugRun:
    return tvmdbg.open(tvmdbg.samples.resnet20_cifar)


@pytest.mark.parametrize("name", GOLDEN)
def test_queries_match_golden_cases(data: Path, name: str) -> None:
    run = golden_run(data, name)
    golden = json.loads((data / "query" / f"{name}.json").read_text("utf-8"))
    for text, expected in golden["cases"]:
        found = ours(run, text)
        assert {key: found.get(key) for key in expected} == expected, text[:100]


@pytest.mark.parametrize("name", GOLDEN)
@pytest.mark.parametrize(
    "query",
    [
        *("time>0", "share>=1%", "bytes>4", "storage:0", "rank<3", "inputs>0", "depth:0"),
        *("dtype:float", "device:cpu", "layout:nchw", "attr.data_layout:nchw"),
    ],
)
def test_unknown_field_count_matches_node_by_node_count(data: Path, name: str, query: str) -> None:
    run = golden_run(data, name)
    (field,) = re.findall(r"^[a-z._]+", query)
    is_text = field in ("dtype", "device", "layout") or field.startswith("attr.")
    count = sum(
        not texts_of(run, node, field)
        if is_text
        else all(math.isnan(each) for each in numbers(run, node, field))
        for node in range(run.graph.num_nodes)
    )
    assert run.select(query).unknown == ({field: count} if count else {})


ATOMS = st.sampled_from(
    [
        *("conv2d", "relu", "1x64", "64,8", "(1, 64, 8, 8)", "#3", "#62", "13", "p1?", "*add*"),
        *("op:conv", "op=add", "op!=relu", "op:pool*", "kind:parameter", "kind!=input", "name:p"),
        *("func:fused*", "dtype:float", "dtype!=int8", "device:cpu", "layout:NCHW", "group:block"),
        *("attr.data_layout=nchw", "attr.num_inputs>=3", "attr.none!=x", "/conv.*_[1-4]$/"),
        *("time>1ms", "time<=0.5 ms", "share>5%", "bytes>=4KiB", "storage:3", "rank:4", "inputs>3"),
        *("outputs:1", "consumers>1", "depth>10", "id<20", "shape:*,64,...", "shape!=1,*", '"p 1"'),
    ]
)
QUERIES = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from([" ", " and ", " or ", "|"]), inner).map("".join),
        st.tuples(st.sampled_from(["not ", "-"]), inner).map(lambda pair: f"{pair[0]}({pair[1]})"),
        st.tuples(inner, st.sampled_from(["->", " ->> ", "->>"]), inner).map(
            lambda three: f"({three[0]}){three[1]}({three[2]})"
        ),
    ),
    max_leaves=5,
)
PIECES = st.sampled_from(
    [
        *(
            *("a", "conv", "not", "and", "or", "->", "->>", "-", "(", ")", "|", ":", "=", "!="),
            *("<", ">="),
        ),
        *(
            *(" ", "\t", "\u00a0", "\u3000", '"', "'", "/", "\\", "[", "]", "{2,3}", "{", "*"),
            *("?", "+", "^", "$"),
        ),
        *(
            *("#", "1", "2.5e3", "ms", "%", "KiB", ",", "x", "×", "...", ".", "attr.a", "😀", "İ"),
            *("ß", "Σ"),
        ),
        *("name", "op", "kind", "layout", "shape", "id", "time", "share", "bytes", "rank", "attr."),
    ]
)
TEXTS = st.one_of(
    st.lists(PIECES, max_size=14).map("".join),
    st.lists(PIECES, max_size=10).map(lambda parts: f"/{''.join(parts)}/"),
    st.text(max_size=20),
)


@settings(max_examples=60)
@given(QUERIES)
def test_random_queries_match_node_by_node_search(sample: tvmdbg.DebugRun, text: str) -> None:
    tree = parse(text)
    assert tree is not None
    assert set(sample.select(text)) == truth(sample, tree), text


@settings(max_examples=100)
@given(trees())
def test_written_query_tree_parses_back(made: list[Any]) -> None:
    tree, text = written(made)
    assert parse(text) == tree, text


@settings(max_examples=100)
@given(TEXTS)
def test_any_text_finds_matching_nodes_or_reports_error(sample: tvmdbg.DebugRun, text: str) -> None:
    found = ours(sample, text)
    if "error" in found:
        assert 0 <= found["position"] <= len(text)
    elif found["tree"]:
        assert set(found["nodes"]) == truth(sample, found["tree"]), text


@pytest.mark.parametrize("name", CORPUS)
def test_queries_on_recorded_runs_match_node_by_node_search(
    corpus: Path, data: Path, name: str
) -> None:
    run = tvmdbg.open(corpus / "tvm" / name)
    golden = json.loads((data / "query" / f"{GOLDEN[0]}.json").read_text("utf-8"))
    for text, _ in golden["cases"]:
        found = ours(run, text)
        if found.get("tree") and "->" not in text:
            assert set(found["nodes"]) == truth(run, found["tree"]), text


SIGNS = st.sampled_from(
    [
        *"aabbc019_ \n",
        *"a*+?.|^$",
        *(r"\d", r"\W", r"\s", "[ab]", "[^a]", "[a-c0]", "(a|b)", "(?:ab)*"),
    ]
)


@settings(max_examples=100)
@given(st.lists(SIGNS, max_size=7).map("".join), st.text("abc01_ \n", max_size=8))
@example("(a*)*$", "aab")
def test_regular_expressions_match_python_re(pattern: str, text: str) -> None:
    try:
        found = search(pattern, [text])
    except RegexError:
        return
    # "$" of re also matches before a line break at the end.
    try:
        theirs = re.compile(pattern.replace("$", r"\Z"), re.DOTALL | re.ASCII)
    except re.error:
        return
    assert list(found) == [theirs.search(text) is not None]


@pytest.mark.parametrize(
    ("text", "position", "message"),
    [
        ("tiem>1ms", 0, "unknown field 'tiem' at 0; did you mean time?"),
        ("storge:0", 0, "unknown field 'storge' at 0; did you mean storage?"),
        ("conv (a | b", 5, "expected a ')' for the '(' at 5"),
        ("time>1", 6, "expected a unit (ns, us, ms or s) at 6"),
        ("op:", 3, "expected a pattern after 'op:' at 3"),
        ("shape:1,a", 8, "expected a size, * or ... at 8, found 'a'"),
        ("conv ->", 7, "expected a word or a field at 7"),
        ("name:/a(/", 7, "expected a ')' for this '(' at 7"),
    ],
)
def test_errors_report_position_and_message(
    sample: tvmdbg.DebugRun, text: str, position: int, message: str
) -> None:
    with pytest.raises(ValueError, match=r"expected|unknown") as caught:
        sample.select(text)
    error = caught.value
    assert isinstance(error, QueryError)
    assert (error.position, error.message) == (position, message)
    assert str(error).splitlines()[-1] == "  " + " " * position + "^"
    assert pickle.loads(pickle.dumps(error)).message == message  # noqa: S301 (our own)


def test_search_without_engine_names_missing_package(
    sample: tvmdbg.DebugRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "quickjs", None)
    monkeypatch.setattr(host, "_threads", threading.local())
    with pytest.raises(host.EngineMissingError, match="pip install quickjs-ng"):
        sample.select("conv")
    assert list(sample.select("")) == []
    for view in ("graph", "debugger"):
        figure = sample.figure(view, search="conv")
        assert "quickjs" in figure.svg
        assert "72 nodes" in figure.text


def test_query_that_is_not_a_string_is_refused(sample: tvmdbg.DebugRun) -> None:
    with pytest.raises(TypeError, match="a query is a str"):
        sample.select(["conv"])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="no graph"):
        tvmdbg.open(
            tvmdbg.samples.resnet20_cifar / "_tvmdbg_device_CPU_0/_tvmdbg_execution_trace.json"
        ).select("a")


def test_unknown_values_match_no_comparison(data: Path) -> None:
    run = golden_run(data, "split_multi")
    count = run.graph.num_nodes
    assert list(run.select("time<1ms")) == list(run.select("time>=1ms")) == []
    assert (list(run.select("time!=1ms")), len(run.select("not time<1ms"))) == ([], count)
    assert repr(run.select("time<1ms")) == f"0 of {count} nodes: time<1ms; no node has a time"
    assert run.select("attr.none>1").caption.endswith("; no node has attr.none")


def test_selection_provides_ids_nodes_and_table(sample: tvmdbg.DebugRun) -> None:
    pytest.importorskip("pandas")
    found = sample.select("time>2.2ms shape:*,64,*,*")
    assert found == (49, 56, 59, 62, 65)
    assert [node.id for node in found.nodes] == list(found)
    frame = found.to_dataframe()
    assert list(frame.index) == list(found)
    assert (frame["time_ns"] > 2.2e6).all()
    sample.session.selected = found
    assert sample.session.selected == list(found)
    assert repr(found).splitlines()[0] == "5 of 72 nodes: time>2.2ms shape:*,64,*,*"
    assert "<caption>5 of 72 nodes: time&gt;2.2ms" in found._repr_html_()
    assert pickle.loads(pickle.dumps(found)) == tuple(found)  # noqa: S301 (our own)
    assert repr(sample.select("nothing_of_it")) == "0 of 72 nodes: nothing_of_it"


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        *("a" * 10_000_000, "(" * 10_000_000, "not " * 2_500, "a->" * 3_000, "-" * 10_000),
        *("/" + "(a*)*" * 60 + "$/", "/" + "a?" * 300 + "a" * 90 + "/", "/(a|b)*a(a|b){18}$/"),
        *('"' + "a" * 9_990, "shape:" + "1," * 4_000, "*" * 9_000, "*a" * 190, "1" * 9_000 + "x"),
        *("time>" + "9" * 9_000 + "ms", "/" * 9_000, "[(" * 4_000, "(1," * 3_000),
    ],
    ids=lambda text: text[:12],
)
def test_hostile_queries_end_quickly(text: str) -> None:
    generator = random.Random(1)
    names = ["".join(generator.choices("ab", k=2_000)) for _ in range(20)]
    run = tvmdbg.open(graph_of(names))
    start = time.process_time()
    with contextlib.suppress(QueryError):
        run.select(text)
    assert time.process_time() - start < 4


def graph_of(names: list[str]) -> bytes:
    """A graph of inputs with these names."""
    return graph_json([null(name) for name in names], heads=[0], shapes=[1])


@pytest.mark.slow
def test_a_long_name_takes_time_linear_in_it() -> None:
    run = tvmdbg.open(graph_of(["a" * 3_000_000, "b"]))
    start = time.process_time()
    assert list(run.select("/(a*)*b$/")) == [1]
    assert time.process_time() - start < 6


@pytest.mark.slow
def test_paths_take_time_linear_in_the_edges() -> None:
    count = 20_000
    graph = json.loads(graph_of([f"n{each}" for each in range(count)]))
    graph["nodes"][1:] = [
        {
            "op": "tvm_op",
            "name": f"n{each}",
            "attrs": {"func_name": "relu"},
            "inputs": [[each - 1, 0, 0]],
        }
        for each in range(1, count)
    ]
    run = tvmdbg.open(json.dumps(graph).encode())
    start = time.process_time()
    assert len(run.select("->>".join(["n"] * 30))) == count
    assert len(run.select("->".join(["n"] * 30))) == count
    assert run.select("depth>=19999") == (19_999,)
    assert time.process_time() - start < 10


def test_long_pattern_is_refused_with_position(sample: tvmdbg.DebugRun) -> None:
    text = f"op:add name:{'a*' * 300}"
    refused = {"error": "expected a shorter pattern with * or ? at 12", "position": 12}
    assert ours(sample, text) == refused
    view = tvmdbg.GraphView(sample)
    with pytest.raises(QueryError, match="shorter pattern"):
        view.hide(text)


def test_concurrent_queries_of_several_runs_match_their_run(data: Path) -> None:
    runs = [golden_run(data, name) for name in GOLDEN]
    expected = [(len(run.select("id>=0")), run.select("group:block|bytes>0")) for run in runs]
    assert [count for count, _ in expected] == [run.graph.num_nodes for run in runs]
    found: list[Any] = []

    def select() -> None:
        found.append(
            [(len(run.select("id>=0")), run.select("group:block|bytes>0")) for run in runs]
        )

    threads = [threading.Thread(target=select) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 2


def test_slow_query_raises_query_error(
    sample: tvmdbg.DebugRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: object, **__: object) -> str:
        raise host.EngineTimeError("it took longer than 10 s")

    monkeypatch.setattr(selection, "call", never)
    with pytest.raises(QueryError, match="expected a simpler query: it took longer than 10 s"):
        sample.select("conv")


def test_query_without_room_is_read_in_new_engine(
    sample: tvmdbg.DebugRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = sample.select("conv and bytes>0")
    asked: list[str] = []

    def full(function: str, *arguments: str, failure: str) -> str:
        asked.append(function)
        if len(asked) == 1:
            host._threads.engine = None
            raise host.EngineMemoryError("out of memory")
        return host.call(function, *arguments, failure=failure)

    monkeypatch.setattr(selection, "call", full)
    assert sample.select("conv and bytes>0") == expected
    assert asked == ["findNodes", "findNodes", "keepColumns", "findNodes"]


def test_search_result_does_not_depend_on_block_size(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["", "conv_1", "a" * 30, "relu", "conv_2", "", "x"]
    expected = ["conv" in each for each in texts]
    for size in (1, 7, 12, 100):
        monkeypatch.setattr(regex, "_BLOCK", size)
        assert list(search("conv", texts)) == expected
    assert list(search("conv", [])) == []


def test_selection_table_shows_no_time_for_unrun_nodes(sample: tvmdbg.DebugRun) -> None:
    told = sample.select("id<4")
    lines = repr(told).splitlines()
    assert [line.split()[0] for line in lines if "graph input " in line] == ["0"]
    assert [line.split()[0] for line in lines if "parameter " in line] == ["1", "2"]
    assert "523.4 µs" in repr(told)
    assert "0 ns" not in repr(told)
    assert "graph input" in told._repr_html_()
