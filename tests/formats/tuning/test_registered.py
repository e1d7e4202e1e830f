from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from unit.tuning.printed_states import dag_rows

from tvmdbg_widgets.analysis.tuning.workloads import assumed_dag
from tvmdbg_widgets.formats.tuning.dag_text import parse_dag
from tvmdbg_widgets.formats.tuning.registered import read_registered
from tvmdbg_widgets.model.base.errors import FormatError
from tvmdbg_widgets.model.tuning.dag import DagSource

# DAGs that were made for the printed states; TVM has no function of these names.
OTHERS = {"cache_read_write_test", "names_test", "reduce3_test", "two_outputs_test"}
ROWS = [
    pytest.param(row, id=f"{row['workload']} {row['conv_name']}")
    for row in dag_rows()
    if json.loads(row["workload"])[0] not in OTHERS
]

MATMUL = """\
import tvm
from tvm import te, topi, auto_scheduler as ansor

DTYPE = "float32"

@ansor.register_workload
def matmul(N, M, K=16, dtype=DTYPE):
    '''C = A x B, and what is larger than nothing of it.'''
    assert N > 0
    (A, B) = [te.placeholder((N, K), name="A", dtype=dtype), te.placeholder((K, M), dtype=dtype)]
    k = te.reduce_axis((0, K), name="k")
    half = M // 2 if M % 2 == 0 else M
    M = half * (2 if M % 2 == 0 else 1)

    def body(i, j):
        return te.sum(A[i][k] * B(k, j), axis=[k])

    C = te.compute((N, M), body, name="C")
    return [A, B, te.compute((N, M), lambda *i: te.max(C[i], tvm.tir.const(0, dtype)))]
"""
MATMUL_TEXT = """\
A = PLACEHOLDER [8, 16]
placeholder = PLACEHOLDER [16, 4]
C(i, j) += (A[i, k]*placeholder[k, j])
compute(i0, i1) = max(C[i0, i1], 0f)
"""


@pytest.mark.parametrize("row", ROWS)
def test_known_workloads_are_the_dags_that_tvm_prints(row: dict[str, Any]) -> None:
    name, *args = json.loads(row["workload"])
    release = (0, 9) if row["conv_name"] == "conv2d_nchw" else (0, 8)
    dag = assumed_dag(name, args, release)
    assert dag is not None
    assert dag.source is DagSource.ASSUMED
    assert dag.text == row["dag"]
    for found, true in zip(dag.operations, row["ops"], strict=True):
        for axes, named in (
            (found.axes, true.get("axis", [])),
            (found.reduce_axes, true.get("reduce_axis", [])),
        ):
            assert [[axis.name, axis.extent or axis.symbol] for axis in axes] == named


@pytest.mark.parametrize("row", ROWS)
def test_what_is_written_and_what_is_printed_read_as_one(row: dict[str, Any]) -> None:
    name, *args = json.loads(row["workload"])
    release = (0, 9) if row["conv_name"] == "conv2d_nchw" else (0, 8)
    written = assumed_dag(name, args, release)
    assert written is not None
    printed = parse_dag(row["dag"])
    for ours, read in zip(written.operations, printed.operations, strict=True):
        if name != "sparse_dense":  # five inputs of one name
            assert ours.bodies == read.bodies


def test_other_arguments_than_a_function_takes_are_no_workload() -> None:
    assert assumed_dag("matmul_add", [1, 2]) is None
    assert assumed_dag("matmul_add", [0, -1, 2**80, "float32"]) is None
    assert assumed_dag("conv2d_layer", [1, 2, 3, 4, 5, 6, 7, "a", [1]]) is None
    assert assumed_dag("matmul_nobody_knows", []) is None


def test_functions_are_read_with_their_axes_and_default_names() -> None:
    found = read_registered(MATMUL)
    assert list(found) == ["matmul"]
    dag = found["matmul"].dag([8, 4])
    assert dag.text == MATMUL_TEXT
    assert dag.source is DagSource.REGISTERED
    c = dag.operations[2]
    assert [(axis.name, axis.extent) for axis in (*c.axes, *c.reduce_axes)] == [
        ("i", 8),
        ("j", 4),
        ("k", 16),
    ]
    assert {each.dtype for each in dag.operations} == {"float32"}


def test_names_are_those_registered() -> None:
    body = "(N):\n    A = te.placeholder((N,), name='A')\n    return [A, A + 1.5]\n"
    source = (
        f"@auto_scheduler.register_workload('given')\ndef first{body}\n"
        f"@register_workload(func_name='named', override=True)\ndef second{body}\n"
        f"def third{body}\nauto_scheduler.register_workload('called', f=third)\n"
        f"def fourth{body}\nregister_workload(fourth)\n"
        f"def fifth{body}\n"
    )
    found = read_registered(source)
    assert list(found) == ["given", "named", "called", "fourth"]
    assert found["called"].dag([3]).text == "A = PLACEHOLDER [3]\nT_add(ax0) = (A[ax0] + 1.5f)\n"


def test_expressions_are_folded_as_tvm_folds_them() -> None:
    source = """\
@register_workload
def f(N, pad, shapes):
    (h, w), n = shapes
    A = te.placeholder((N, h), name="A")
    T = A.astype if False else A
    B = te.compute((N, h), lambda i, j: te.if_then_else(
        te.all(i >= 1, i < N - 1, j * 1 + pad < h), T[i, j - pad] / 2, te.min_value), name="B")
    return [A, B]
"""
    with pytest.raises(FormatError, match="line 7"):
        read_registered(source)["f"].dag([4, 0, [[2, 3], 5]])
    dag = read_registered(source.replace("te.min_value", "-1.5 + 2"))["f"].dag([4, 0, [[2, 3], 5]])
    assert dag.text.splitlines()[1] == (
        "B(i, j) = tir.if_then_else((((i >= 1) && (i < 3)) && (j < 2)), (A[i, j]/2f), 0.5f)"
    )


def test_tensors_among_the_arguments_are_inputs() -> None:
    source = "@register_workload\ndef f(x, scale=2):\n    return [x, x * scale]\n"
    dag = read_registered(source)["f"].dag([["TENSOR", [2, 3], "float16"]])
    assert dag.text == (
        "placeholder = PLACEHOLDER [2, 3]\nT_multiply(ax0, ax1) = (placeholder[ax0, ax1]*2h)\n"
    )


REFUSED = {
    "return [open('/etc/passwd')]": "'open'",
    "import os\n    return os.system('true')": "'os.system'",
    "return [te.extern((N,), [], None)]": "te.extern'",
    "return [topi.nn.winograd(N)]": "topi.nn.winograd'",
    "while True:\n        pass": "a statement of kind While",
    "return [i for i in N]": "an expression of kind ListComp",
    "return f(N)": "nested deeper than 30",
    "return (lambda g: g(g))(lambda g: g(g))": "nested deeper than 30",
    "return 10 ** 10 ** 10": "a power",
    "return 2 ** 62 * 2 ** 62": "64 bits",
    "return 1 // (N - N)": "a division by 0",
    "return [N]": "no tensors",
    "return []": "no tensors",
    "A = te.placeholder((N, -1))\n    return [A]": "no number from 1",
    "A = te.placeholder((N,))\n    return [te.compute((N,), lambda i, j: A[i])]": "2 arguments",
    "A = te.placeholder((N,))\n    return [te.compute((N,), lambda i: A[i, i])]": "2 indices",
    "return N[0]": "an index",
    "return (N, N)[7]": "index 7 into 2",
    "a, b = N, N, N": "3 values for 2 names",
    "return N.__class__": "an attribute '__class__'",
    "return te.__globals__['x']": "an index",
    "return 0x" + "f" * 10_000: "64 bits",
    "return 1.5 * 0x" + "f" * 10_000: "64 bits",
    "k = te.reduce_axis((0, 4))\n    return k + 1e308 * 1e308": "a whole number that is infinite",
    "k = te.reduce_axis((0, 1.5))": "an extent that is no number",
    "return te.placeholder((4,), name=5)": "a name that is no text",
    "return te.placeholder((4,), name='\\x1b[31m')": "of printable characters",
    "return te.placeholder((4,), dtype=te)": "a name that is no text",
    "return te.reduce_axis((0, 4), te)": "a name that is no text",
}


@pytest.mark.parametrize("body", REFUSED)
def test_what_is_not_understood_is_named_with_its_line(body: str) -> None:
    source = f"@register_workload\ndef f(N):\n    {body}\n"
    with pytest.raises(FormatError) as refused:
        read_registered(source, "mine.py")["f"].dag([4])
    assert REFUSED[body] in str(refused.value)
    assert "mine.py, line " in str(refused.value)
    assert "repr(task.compute_dag)" in str(refused.value)


NESTED = 10**5


@pytest.mark.parametrize(
    "source",
    ["(" * NESTED, "x = " + "-" * NESTED + "1", "a\x00b", "def f(:", "x" * (1 << 21), "[" * 5000],
    ids=range(6),
)
def test_what_is_no_python_is_refused(source: str) -> None:
    with pytest.raises(FormatError):
        read_registered(source)


def test_lists_that_grow_without_end_are_refused() -> None:
    head = "@register_workload\ndef f(N):\n    a, b = (N,), (N,)\n"
    doubled = read_registered(head + "    a = a + a\n" * 60)["f"]
    with pytest.raises(FormatError, match="more than 1,000 values"):
        doubled.dag([4])
    nested = read_registered(head + "    a, b = (a, a), (b, b)\n" * 60 + "    return a == b\n")["f"]
    with pytest.raises(FormatError, match="a comparison of what are no numbers"):
        nested.dag([4])


def test_work_without_end_ends() -> None:
    chain = " + ".join(["1"] * 300)
    grown = "\n".join(f"    x = (x, x, {chain})" for _ in range(50))
    doubled = "\n".join("    A = te.compute((N,), lambda i: A[i] + A[i + i])" for _ in range(60))
    shared = "\n".join("        i = i + i" for _ in range(60))
    source = (
        f"@register_workload\ndef f(N):\n    x = 1\n{grown}\n    return x\n"
        f"@register_workload\ndef g(N):\n    A = te.placeholder((N,))\n{doubled}\n    return [A]\n"
        f"@register_workload\ndef h(N):\n    A = te.placeholder((N,))\n    def b(i):\n{shared}\n"
        "        return A[i]\n    return [te.compute((N,), b)]\n"
    )
    started = time.process_time()
    found = read_registered(source)
    with pytest.raises(FormatError):
        found["f"].dag([1])
    with pytest.raises(FormatError, match="5,000 parts"):
        found["h"].dag([1])
    assert len(found["g"].dag([4]).operations) == 61
    assert time.process_time() - started < 10


TOKENS = st.sampled_from(MATMUL.replace("\n", " \n ").split(" "))


@given(st.lists(TOKENS, max_size=8), st.integers(0, len(MATMUL)), st.integers(0, 6))
def test_mutated_sources_are_read_or_refused(tokens: list[str], at: int, cut: int) -> None:
    source = MATMUL[:at] + " ".join(tokens) + MATMUL[at + cut :]
    try:
        for workload in read_registered(source).values():
            workload.dag([8, 4])
    except FormatError:
        pass
