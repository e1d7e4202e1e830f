import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from unit.tuning.printed_states import dag_rows

from tvmdbg_widgets.formats.tuning.dag_text import hashes_of, key_hash
from tvmdbg_widgets.model.base.text import FormatError
from tvmdbg_widgets.model.tuning.trials import CallExpr, Reduction, TensorRead, reads
from tvmdbg_widgets.tuning import parse_dag

ROWS = [pytest.param(row, id=f"{row['workload']} {row['conv_name']}") for row in dag_rows()]
# Extents that the text leaves open: padded convolutions, whose positions only a key's shapes
# give, and what sparse operations read through other inputs.
LEFT_OPEN = {"conv2d_layer": 8, "conv2d_nchw_bn_relu_auto_scheduler_test": 12, "sparse_dense": 2}
LEFT_OPEN_WITH_KEY = {"conv2d_nchw_bn_relu_auto_scheduler_test": 2, "sparse_dense": 2}

# Keys and DAGs that TVM printed: how_to/tune_with_autoscheduler of its documentation (v0.8 to
# v0.10), and the last with its FLOP count in the README of TenSet.
CONV2D_NHWC = """\
placeholder = PLACEHOLDER [1, 56, 56, 64]
pad_temp(i0, i1, i2, i3) = placeholder[i0, i1, i2, i3]
placeholder = PLACEHOLDER [1, 1, 64, 256]
conv2d_nhwc(nn, yy, xx, ff) += \
(pad_temp[nn, (yy + ry), (xx + rx), rc]*placeholder[ry, rx, rc, ff])
"""
SOFTMAX = """\
placeholder = PLACEHOLDER [1, 1000]
T_softmax_maxelem(i0) max= placeholder[i0, k]
T_softmax_exp(i0, i1) = tir.exp((placeholder[i0, i1] - T_softmax_maxelem[i0]))
T_softmax_expsum(i0) += T_softmax_exp[i0, k]
T_softmax_norm(i0, i1) = (T_softmax_exp[i0, i1]/T_softmax_expsum[i0])
"""
PADDED = """\
placeholder = PLACEHOLDER [1, 56, 56, 64]
PaddedInput(i0, i1, i2, i3) = tir.if_then_else(((((i1 >= 1) && (i1 < 57)) && (i2 >= 1)) && \
(i2 < 57)), placeholder[i0, (i1 - 1), (i2 - 1), i3], 0f)
placeholder = PLACEHOLDER [3, 3, 64, 128]
Conv2dOutput(nn, yy, xx, ff) += \
(PaddedInput[nn, ((yy*2) + ry), ((xx*2) + rx), rc]*placeholder[ry, rx, rc, ff])
placeholder = PLACEHOLDER [1, 1, 1, 128]
T_add(ax0, ax1, ax2, ax3) = (Conv2dOutput[ax0, ax1, ax2, ax3] + placeholder[ax0, 0, 0, ax3])
T_relu(ax0, ax1, ax2, ax3) = max(T_add[ax0, ax1, ax2, ax3], 0f)
"""
HASHES = {
    "8654f16aeddf785bad9f028164b3a48d": CONV2D_NHWC,
    "d7b65649a4dd54becea0a52aabbc5af5": SOFTMAX,
    "12b88bedece6984af589a28b43e0f3c4": PADDED,
}


def extents(row: dict[str, Any], shapes: list[list[int]]) -> int:
    """Check a DAG against what TVM says of it; return how many extents are left open."""
    dag = parse_dag(row["dag"], shapes=shapes)
    left_open = 0
    assert [each.name for each in dag.operations] == [op["name"] for op in row["ops"]]
    for found, true in zip(dag.operations, row["ops"], strict=True):
        assert (found.kind, list(found.shape)) == (true["kind"], true.get("shape", []))
        assert found.outputs == true.get("outputs", 1)
        assert len(found.bodies) == (0 if found.is_placeholder else found.outputs)
        for axes, named in (
            (found.axes, true.get("axis", [])),
            (found.reduce_axes, true.get("reduce_axis", [])),
        ):
            assert [axis.name for axis in axes] == [name for name, _ in named]
            for axis, (_, extent) in zip(axes, named, strict=True):
                assert axis.extent in (None, extent)
                left_open += axis.extent is None
    return left_open


@pytest.mark.parametrize("row", ROWS)
def test_names_and_extents_match_tvm_and_shapes_of_the_key_give_more(row: dict[str, Any]) -> None:
    name = json.loads(row["workload"])[0]
    padded = "if_then_else" in row["dag"] or name == "sparse_dense"
    assert extents(row, []) == (LEFT_OPEN.get(name, 0) if padded else 0)
    inputs = [op["shape"] for op in row["ops"] if op["kind"] == "placeholder"]
    output = [extent for _, extent in row["ops"][-1]["axis"]]
    assert extents(row, [*inputs, output]) == LEFT_OPEN_WITH_KEY.get(name, 0)


@pytest.mark.parametrize("row", ROWS)
def test_reads_refer_to_their_producer_operation(row: dict[str, Any]) -> None:
    dag = parse_dag(row["dag"])
    for at, operation in enumerate(dag.operations):
        for read in (each for body in operation.bodies for each in reads(body)):
            if "sparse" in row["workload"] and read.name == "placeholder":
                continue  # five inputs of one name
            producer = dag.operations[read.operation]
            assert 0 <= read.operation < at
            assert read.name in (producer.name, f"{producer.name}.v{read.output}")
            rank = len(producer.shape if producer.is_placeholder else producer.axes)
            assert rank == len(read.indices)


@pytest.mark.parametrize("digest", HASHES)
def test_keys_name_the_md5_of_the_simple_text(digest: str) -> None:
    assert key_hash(HASHES[digest]) == digest
    assert digest in hashes_of(HASHES[digest])
    other = HASHES[digest].replace("pad_temp", "pad").replace("max", "min")
    assert digest not in hashes_of(other)


def test_inputs_with_one_name_are_distinguished_by_position() -> None:
    dag = parse_dag(
        PADDED, shapes=[[1, 56, 56, 64], [3, 3, 64, 128], [1, 1, 1, 128], [1, 28, 28, 128]]
    )
    assert [read.operation for body in dag.operations[3].bodies for read in reads(body)] == [1, 2]
    assert [read.operation for body in dag.operations[5].bodies for read in reads(body)] == [3, 4]
    found = {axis.name: axis.extent for axis in dag.operations[3].axes}
    assert found == {"nn": 1, "yy": 28, "xx": 28, "ff": 128}
    assert [axis.extent for axis in dag.operations[3].reduce_axes] == [3, 3, 64]


def test_the_newer_style_gives_the_same_tree() -> None:
    older = parse_dag(
        "A.x = PLACEHOLDER [8, 8]\n"
        "B(i.o, j) = tir.if_then_else(((j >= 1) && !(j == 3)), A.x[i.o, (j - 1)], 0f)\n"
        "C() += (B[k, r]*float32(floordiv(k, 2)))\n"
        "D(i) = max(C[], -2.5f)\n"
    )
    newer = parse_dag(
        "A.x = PLACEHOLDER [8, 8]\n"
        "B(i.o, j) = T.if_then_else(j >= 1 and not j == 3, A.x[i_o, j - 1], T.float32(0))\n"
        'C() += B[k, r] * T.Cast("float32", k // 2)\n'
        "D(i) = T.max(C[()], T.float32(-2.5))\n"
    )
    assert older.operations == newer.operations
    body = older.operations[1].bodies[0]
    assert isinstance(body, CallExpr)
    assert body.function == "tir.if_then_else"


def test_argmax_has_two_outputs_and_two_sources() -> None:
    select = "select((lhs_1 >= rhs_1), lhs_{0}, rhs_{0})= (k,A[i, k])"
    dag = parse_dag(
        "A = PLACEHOLDER [4, 6]\n"
        f"A_red(i).v0 {select.format(0)}\n"
        f"A_red(i).v1 {select.format(1)}\n"
        "B(i) = A_red.v0[i]\n"
    )
    reduction = dag.operations[1]
    assert (reduction.outputs, [axis.name for axis in reduction.reduce_axes]) == (2, ["k"])
    assert [(axis.name, axis.extent) for axis in reduction.axes] == [("i", 4)]
    assert reduction.reduce_axes[0].extent == 6
    assert isinstance(reduction.bodies[1], Reduction)
    assert reduction.bodies[1].combiner == "select"
    assert reads(dag.operations[2].bodies[0]) == (
        TensorRead("A_red.v0", dag.operations[2].bodies[0].parts, 0, 1),
    )


def test_a_cut_body_is_left_out() -> None:
    cut = "B(i, j) = select((floormod(i, 6) == 5), 1f, sel ..(OMITTED).. , 0f))\n"
    dag = parse_dag(f"A = PLACEHOLDER [6, 6]\n{cut}C(i, j) += (A[i, k]*B[k, j])\n")
    assert dag.operations[1].bodies == ()
    assert [axis.name for axis in dag.operations[1].axes] == ["i", "j"]
    assert [axis.extent for axis in dag.operations[2].reduce_axes] == [6]
    with pytest.raises(FormatError) as refused:
        parse_dag("A = PLACEHOLDER [6]\n" + "C(i) += (A[k] ..(OMITTED).. 0f)\n", file="tasks.txt")
    assert "tasks.txt, line 2, column 15" in str(refused.value)
    assert "repr(task.compute_dag)" in str(refused.value)


NESTED = 10**5
BAD = {
    "": "no operations",
    "A = [4]": "line 1, column 1",
    "A = PLACEHOLDER ": "input without shape",
    "B(i).v1 = 0f": "output v1 without those before it",
    "B(i) += ": "expected an operand",
    "B(i) += " + "(" * NESTED: "nested deeper than 80",
    "B(i) += A[" * 3 + "k": "cannot be read",
    "B(i) max= \x00": "a character that no name",
    "B\x1b[31m(i) = 0f": "line 1, column 2",
    "A\u202e = PLACEHOLDER [4]": "a character that no name",
    "B(i) select(a, b": "expected '='",
    "A = PLACEHOLDER [1]\n" * 3000: "too long",
    "B(i) = 0f" + " " * (1 << 20): "too long",
}


@pytest.mark.parametrize("text", BAD, ids=range(len(BAD)))
def test_invalid_dag_text_is_refused_with_the_reason(text: str) -> None:
    started = time.process_time()
    with pytest.raises(FormatError) as refused:
        parse_dag(text)
    assert BAD[text] in str(refused.value)
    assert len(str(refused.value)) < 500
    assert time.process_time() - started < 5


@pytest.mark.parametrize(
    "body", ["(" * NESTED, "a + " * NESTED + "a", "!" * NESTED + "a", "f(" * NESTED, "1" * NESTED]
)
def test_overly_nested_bodies_are_left_out(body: str) -> None:
    dag = parse_dag(f"A = PLACEHOLDER [4]\nB(i) = {body}\nC(i) = A[i]")
    assert (dag.operations[1].bodies, dag.operations[2].axes[0].extent) == ((), 4)


LINES = st.sampled_from([line for row in dag_rows() for line in row["dag"].splitlines()])


@given(st.lists(LINES, max_size=6), st.randoms(use_true_random=False), st.text(max_size=3))
def test_mutated_texts_are_read_or_refused(lines: list[str], random: Any, scrap: str) -> None:
    text = "\n".join(lines)
    at = random.randrange(len(text) + 1)
    end = min(len(text), at + random.randrange(4))
    try:
        dag = parse_dag(text[:at] + scrap + text[end:])
    except FormatError:
        return
    assert dag.operations


def test_a_dag_shows_the_extents_of_its_axes() -> None:
    dag = parse_dag(
        "A = PLACEHOLDER [128, 64]\nB = PLACEHOLDER [64, 128]\nmatmul(i, j) += (A[i, k]*B[k, j])\n"
    )
    assert repr(dag).splitlines()[-1].strip() == "matmul: i 128, j 128; reduces k 64"
