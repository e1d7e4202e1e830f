"""Questions to a run, the kernel's answers to them, and what a page in Node answers."""

import json
import math
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st

from tvmdbg_widgets.answers.answers import answer
from tvmdbg_widgets.export.page.stored_page import StoredPage
from tvmdbg_widgets.model.tensors.layouts import Layout
from tvmdbg_widgets.model.tensors.tensors import Tensor
from tvmdbg_widgets.model.tensors.values import ArrayView, Unfolded
from tvmdbg_widgets.run import DebugRun

ROOT = Path(__file__).parents[3]
PARTS = ("summary", "graph", "timeline", "tensors", "health")

junk = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.sampled_from([2**53 + 2, -1, 1.5, 1e300, "0", "packed", [], {}, [[0]]]),
)


KINDS = (
    *("tensor", "tensor", "tensor", "values", "values", "channels", "data", "data"),
    "statistics",
)
FORMATS = (None, "number", "number", "hex", "bits", "dequantized")


@st.composite
def tensor_questions(draw: st.DrawFn, tensors: list[Tensor]) -> dict[str, Any]:
    """A question about one tensor, as a view may ask it."""
    tensor = draw(st.sampled_from(tensors))
    reading = draw(st.sampled_from([None, *tensor.readings]))
    values: ArrayView = tensor.values(reading)
    layout, sizes = draw(layouts(values.view_shape))
    if layout:
        values = Unfolded(values, Layout.parse(layout), sizes)
    shape = values.view_shape
    plane = draw(axes(len(shape)))
    found: dict[str, Any] = {
        "kind": draw(st.sampled_from(KINDS)),
        "id": "q",
        "entry": [tensor.node, tensor.output],
        "reading": reading,
        "layout": layout,
        "sizes": sizes,
        "axes": draw(st.sampled_from([plane, plane, plane, None])),
        "index": draw(
            st.sampled_from([[draw(st.integers(0, max(0, size - 1))) for size in shape], None])
        ),
        "part": draw(parts([1 if axis is None else shape[axis] for axis in plane])),
        "rows": draw(st.integers(1, 70)),
        "cols": draw(st.integers(1, 58)),
        "exact": True,
        "row": draw(st.integers(0, 40)),
        "col": draw(st.integers(0, 40)),
        "format": draw(st.sampled_from(FORMATS)),
        "scale": draw(st.sampled_from([1, 0.5, 0.1, -3e-5, 1e300])),
        "zeroPoint": draw(st.integers(-300, 300)),
        "axis": draw(st.sampled_from([*set(range(len(shape))).difference(plane), 0])),
        "first": draw(st.integers(0, 5)),
        "count": draw(st.integers(1, 9)),
    }
    if draw(st.integers(0, 15)) == 0:
        other = draw(st.integers(0, 5).filter(lambda rank: rank != len(shape)))
        found["index"] = [draw(st.integers(0, 9)) for _ in range(other)]
    return found


@st.composite
def layouts(draw: st.DrawFn, shape: tuple[int, ...]) -> tuple[str | None, dict[str, int]]:
    """A layout of an array of some shape, with sizes that hide padding; often none."""
    if not shape or math.prod(shape) == 0 or draw(st.booleans()):
        return draw(st.sampled_from([None, ""])), {}
    splits = draw(st.integers(0, len(shape) // 2))
    letters = draw(st.permutations("NCHWDOI"))[: len(shape) - splits]
    axes_ = [*letters, *(draw(st.sampled_from(letters)).lower() for _ in range(splits))]
    axes_ = draw(st.permutations(axes_))
    text = "".join(
        f"{size}{axis}" if axis.islower() else axis for axis, size in zip(axes_, shape, strict=True)
    )
    layout = Layout.parse(text)
    sizes = {
        letter: draw(st.integers(1, size))
        for letter, size in zip(layout.letters, layout.logical_shape(shape), strict=True)
        if draw(st.integers(0, 2)) == 0
    }
    return text, sizes


@st.composite
def parts(draw: st.DrawFn, size: list[int]) -> list[int] | None:
    """A part of a plane that may reach beyond it; often all of it."""
    if draw(st.booleans()):
        return None
    row, col = (draw(st.integers(0, each + 1)) for each in size)
    return [row, col, *(draw(st.integers(1, max(1, each))) for each in size)]


def axes(count: int) -> st.SearchStrategy[list[int | None]]:
    """Two axes of so many, in any order; as there are."""
    if count < 2:
        return st.just([None, 0 if count else None])
    pairs = st.permutations(range(count)).map(lambda order: list(order[:2]))
    return st.one_of(pairs, pairs, st.integers(0, count - 1).map(lambda axis: [None, axis]))


def questions(run: DebugRun) -> st.SearchStrategy[Any]:
    """Any question to a run."""
    last = run.graph.num_nodes + 1 if run.graph is not None else 3
    nodes = st.integers(0, last).map(lambda node: {"kind": "node", "node": node})
    kinds = [
        nodes,
        st.builds(lambda node: {"kind": "node", "node": node}, junk),
        st.sampled_from([{"kind": kind, "id": "7"} for kind in PARTS]),
        st.one_of(junk, st.just({"kind": "nothing"})),
    ]
    tensors = list((run.tensors or {}).values())
    if tensors:
        kinds += [tensor_questions(tensors)] * 8
    return st.one_of(*kinds)


def told(run: DebugRun, question: Any) -> dict[str, Any]:
    """What the kernel answers: result and buffers, or that it fails."""
    try:
        reply = answer(run.facts, question)
    except Exception:  # noqa: BLE001 (an error is an answer)
        return {"error": True}
    result = json.loads(json.dumps(reply.result, allow_nan=False))
    buffers = list(reply.buffers)
    if isinstance(result, dict):
        result.pop("cheap", None)  # a page asks for nothing before it is wanted
        if result.get("distribution") and run.tensors is not None:
            node, output = question["entry"]
            if run.tensors[node, output].values(question["reading"]).numpy_dtype.itemsize > 1:
                result["distribution"], buffers = None, []  # a page has histograms alone
    return {"result": result, "buffers": buffers}


class Written(NamedTuple):
    """Numbers, and what a function of ``js/src/shared/number_text.ts`` is to write of them."""

    how: str
    dtype: str
    values: np.ndarray[Any, Any]
    lines: list[str]


def differences(
    folder: Path,
    stored: StoredPage | None = None,
    asked: list[tuple[Any, dict[str, Any]]] | None = None,
    texts: list[Written] | None = None,
) -> list[dict[str, Any]]:
    """Ask a page in Node and return where it answers something else."""
    folder.mkdir(exist_ok=True, parents=True)
    buffers = bytearray()
    cases = []
    for question, expected in asked or []:
        places = []
        for each in expected.get("buffers", ()):
            places.append([len(buffers), len(buffers) + len(each)])
            buffers += each
        case = {**expected, "buffers": places}
        cases.append({"question": question, "expected": case})
    if stored is not None:
        (folder / "page.bin").write_bytes(stored.data)
    (folder / "buffers.bin").write_bytes(buffers)
    named = []
    for number, each in enumerate(texts or []):
        name = f"{number} {each.how}"
        (folder / f"{name}.bin").write_bytes(each.values.astype("<f8").tobytes())
        (folder / f"{name}.txt").write_text("\n".join(each.lines))
        named.append({"name": name, "dtype": each.dtype, "how": each.how})
    (folder / "questions.json").write_text(json.dumps({"questions": cases, "texts": named}))
    done = subprocess.run(
        ["node", "js/tests/stored_answers.mjs", str(folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return json.loads(done.stdout)
