"""Questions to a run, the kernel's answers to them, and what a page in Node answers."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from tvmdbg_widgets.export.page.stored_values import float_limit
from tvmdbg_widgets.widgets.answers import answer

if TYPE_CHECKING:
    from tvmdbg_widgets.export.page.stored import Stored
    from tvmdbg_widgets.model.tensors import Tensor
    from tvmdbg_widgets.run import DebugRun

ROOT = Path(__file__).parents[2]
PARTS = ("summary", "graph", "timeline", "tensors")

junk = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.sampled_from([2**53 + 2, -1, 1.5, 1e300, "0", "packed", [], {}, [[0]]]),
)


@st.composite
def tensor_questions(draw: st.DrawFn, tensors: list[Tensor]) -> dict[str, Any]:
    """A question for a picture or for values: mostly sound, now and then odd."""
    tensor = draw(st.sampled_from(tensors))
    reading = draw(st.sampled_from([None, None, "packed", "bytes"]))
    shape = tensor.record.values(reading).view_shape
    found: dict[str, Any] = {
        "kind": draw(st.sampled_from(["tensor", "values"])),
        "id": "q",
        "entry": [tensor.node, tensor.output],
        "axes": draw(axes(len(shape))),
        "index": [draw(st.integers(0, max(0, size - 1))) for size in shape],
        "rows": draw(st.integers(1, 70)),
        "cols": draw(st.integers(1, 58)),
        "reading": reading,
        "bins": 64,
        "row": draw(st.integers(0, 40)),
        "col": draw(st.integers(0, 40)),
    }
    if draw(st.integers(0, 7)) == 0:
        found[draw(st.sampled_from(sorted(set(found) - {"kind", "bins", "id"})))] = draw(junk)
    if draw(st.integers(0, 15)) == 0:
        found["index"] = [draw(st.integers(0, 9)) for _ in range(draw(st.integers(0, 5)))]
    return found


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
    """What the kernel answers: result and buffers, or that it is an error."""
    try:
        reply = answer(run, question)
    except Exception:  # noqa: BLE001 (an error is an answer)
        return {"error": True}
    result = json.loads(json.dumps(reply.result, allow_nan=False))
    return {"result": result, "buffers": list(reply.buffers)}


def differences(
    folder: Path,
    stored: Stored | None = None,
    asked: list[tuple[Any, dict[str, Any]]] | None = None,
    texts: list[tuple[str, bool, bytes, list[str]]] | None = None,
) -> list[dict[str, Any]]:
    """Ask a page in Node and return where it answers something else.

    Parameters
    ----------
    folder : Path
    stored : Stored, optional
    asked : list of (question, answer of ``told``)
    texts : list of (name, whether float32, values as bytes, their texts)
    """
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
    for name, _, values, lines in texts or []:
        (folder / f"{name}.bin").write_bytes(values)
        (folder / f"{name}.txt").write_text("\n".join(lines))
    named = [
        {"name": name, "single": single, "limit": float_limit()}
        for name, single, _, _ in texts or []
    ]
    (folder / "questions.json").write_text(json.dumps({"questions": cases, "texts": named}))
    done = subprocess.run(
        ["node", "js/tests/stored_answers.mjs", str(folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found
