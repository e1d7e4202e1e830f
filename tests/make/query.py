"""Writes tests/data/query: columns of small runs, and what queries find in them.

``python -m tests.make.query`` from the repository's root; Python and TypeScript are both held to
it. The nodes are those that tests/unit/graph/query_truth.py finds one by one.
"""

import base64
import json
from pathlib import Path
from typing import Any

import tvmdbg_widgets as tvmdbg
from tests.unit.graph.query_truth import truth
from tvmdbg_widgets.analysis.query import QueryError, parse
from tvmdbg_widgets.answers.answers import answer

DATA = Path(__file__).parents[1] / "data"
RUNS = {
    "resnet20_cifar": tvmdbg.samples.resnet20_cifar,
    "split_multi": DATA / "graph/split_multi_v0.19/_tvmdbg_graph_dump.json",
    "odd_names": DATA / "graph/odd_names_v0.19/_tvmdbg_graph_dump.json",
    "hetero_copy": DATA / "graph/hetero_copy_v0.19/_tvmdbg_graph_dump.json",
}
QUERIES = [
    *("", "  ", "conv2d", "CONV2D relu", "64,8,8", "1x64x8x8", "(1, 64, 8, 8)", "(10,)"),
    *("()", "#3", "3", "#", "float32", '"conv2d + add"', "'a b'", "p1*", "conv2d*", "?"),
    *("*relu*", "op:conv", "op:nn.conv2d", "op=relu", "op!=relu", "op:conv*"),
    *("kind:parameter", "kind:conv", "kind!=operator", "name:p1", "name=p1", "name!=p1"),
    *("func:fused*", "func!=x", "name:*", "dtype:float", "dtype=float32", "dtype!=int8"),
    *("device:cpu", "device!=cpu", "layout:NCHW", "layout=OIHW", "layout!=NCHW"),
    *("group:residual", "group!=residual", 'group:"residual block"'),
    *("attr.data_layout:NCHW", "attr.data_layout!=NCHW", "attr.num_inputs>2"),
    *("attr.none:x", "time>1ms", "time < 100 us", "time<=2.571ms", "time>0", "time!=0"),
    *("share>=5%", "share<1 %", "bytes>100KB", "bytes<=64 KiB", "bytes=4", "bytes:4"),
    *("bytes!=4", "storage:3", "storage!=3", "rank:4", "rank<2", "rank!=4", "inputs>2"),
    *("outputs:1", "outputs>1", "consumers>1", "id<10", "id:5", "id!=5", "depth>20"),
    *("depth:0", "depth<=1", "shape:*,64,*,*", "shape:1x64x8x8", "shape=(1, 64, 8, 8)"),
    *("shape:[1,?0]", "shape!=*,*,*,*", "shape:...", "shape:...,8,8", "shape:1,..."),
    *("shape:1,...,8", "shape:6?,*", "shape:()", "conv2d->conv2d", "conv2d -> add -> relu"),
    *("op:conv*->(add|op:sum)->op:pool*", "kind:input->>op:softmax"),
    *("conv2d->>pool->>softmax", "(#62|#59)->#65", "kind:input->>#20->>#3", "not conv2d"),
    *("-kind:parameter conv", "not (conv or add)", "conv or #3 and #4", "a|b|c"),
    *("time>1ms op:conv shape:*,64,*,*", "not time<1ms", "((conv))", "conv AND relu"),
    *("-conv->relu", "/relu_\\d$/", "/^p\\d+$/", "/conv|pool/", "op:/^relu$/"),
    *("name:/[a-c]{2,}/", "/(a|b)+_/", "aten::relu", "conv:0", "a-b", "x", "ü", "日本"),
    *("time->x", "|a", "a b)", "(a", "()x", "tiem>1ms", "weights:x", "attr:x", "ops:conv"),
    *("time>1", "time>x", "time>1msx", "share>5", "bytes>1 qb", "bytes>1qb", "id:x"),
    *("id>1ms", "op:", "op<3", "shape<3", "shape:a", "shape:1,,2", "a and", "or", "not"),
    *("-", "a ->", "-> a", "a ->-> b", '"a', "name:'a", "/a(/", "/a**/", "/[z-a]/"),
    *("/\\b/", "name:/a{3,1}/", "é tiem>1ms", "😀 tiem>1ms", "a" * 10_001, "a " * 101),
    *("(" * 60, "-" * 60 + "a", "/(((a{9}){9}){9})/", "x=1", "time=1ms", "a\u00a0b"),
    *("a\u3000|\u3000#1", "kind:parameter ->> kind:operator"),
]


def packed(run: tvmdbg.DebugRun) -> dict[str, Any]:
    """Columns of graph and facts as a view is sent them, the buffers in base64."""
    found = {}
    for kind in ("graph", "facts"):
        reply = answer(run.facts, {"kind": kind})
        buffer = base64.b64encode(reply.buffers[0]).decode()
        found[kind] = {**reply.result, "buffer": buffer}
    return found


def expected(run: tvmdbg.DebugRun, text: str) -> dict[str, Any]:
    """What a query says and finds."""
    try:
        tree = parse(text)
    except QueryError as error:
        return {"error": error.message, "position": error.position}
    nodes = [] if tree is None else sorted(truth(run, tree))
    return {"tree": tree, "nodes": nodes}


def main() -> None:
    """Write one file a run."""
    folder = DATA / "query"
    folder.mkdir(exist_ok=True)
    for name, source in RUNS.items():
        run = tvmdbg.open(source)
        cases = [[text, expected(run, text)] for text in QUERIES]
        content = {"columns": packed(run), "cases": cases}
        text = json.dumps(content, indent=0, ensure_ascii=False)
        (folder / f"{name}.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
