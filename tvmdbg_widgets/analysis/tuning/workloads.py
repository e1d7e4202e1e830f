"""Compute DAGs of workloads in TVM's tutorials and tests, and of nnfusion, by function name.

A log only has name and arguments; another function of that name would give other loops. Every DAG
was checked against the one TVM prints for a key of its name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from tvmdbg_widgets.formats.tuning.dag_text import parse_dag
from tvmdbg_widgets.model.base.text import FormatError
from tvmdbg_widgets.model.tuning.trials import (
    Axis,
    ComputeDag,
    DagSource,
    Expression,
    TensorRead,
    rebuilt,
)

_NUMBER = re.compile(r"__[0-9]+\b")  # number suffix of operations of one name: ``placeholder__1``


@dataclass(frozen=True)
class _Op:
    """An operation: a head without axes is an input, whose body is its shape."""

    name: str
    body: str
    axes: Mapping[str, int] = field(default_factory=dict)
    reduced: Mapping[str, int | str] = field(default_factory=dict)
    dtype: str = "float32"

    @property
    def line(self) -> str:
        head = "" if self.body.startswith("= PLACEHOLDER") else f"({', '.join(self.axes)})"
        return f"{self.name}{head} {self.body}"


def _input(name: str, *shape: Any, dtype: str = "float32") -> _Op:
    if not all(isinstance(size, int) and size > 0 for size in shape):
        raise TypeError
    return _Op(name, f"= PLACEHOLDER [{', '.join(map(str, shape))}]", dtype=dtype)


def _product(  # noqa: PLR0917
    name: str, a: str, b: str, rows: int, columns: int, inner: int, dtype: str = "float32"
) -> _Op:
    axes = {"i": rows, "j": columns}
    return _Op(name, f"+= ({a}[i, k]*{b}[k, j])", axes, {"k": inner}, dtype)


def _named_axes(sizes: Sequence[int], names: str = "i") -> dict[str, int]:
    return {
        (names[at] if len(names) > 1 else f"{names}{at}"): size for at, size in enumerate(sizes)
    }


def _relu(data: str, sizes: Sequence[int], number: int = 0, dtype: str = "float32") -> _Op:
    axes = _named_axes(sizes)
    name = f"compute__{number}" if number else "compute"
    return _Op(name, f"= max({data}[{', '.join(axes)}], 0f)", axes, dtype=dtype)


def _matmul_add(n: int, inner: int, m: int, dtype: str) -> list[_Op]:
    return [
        _input("A", n, inner, dtype=dtype),
        _input("B", inner, m, dtype=dtype),
        _product("matmul", "A", "B", n, m, inner, dtype),
        _input("C", n, m, dtype=dtype),
        _Op("out", "= (matmul[i, j] + C[i, j])", {"i": n, "j": m}, dtype=dtype),
    ]


def _matmul(n: int, m: int, k: int) -> list[_Op]:
    return [_input("A", n, k), _input("B", k, m), _product("C", "A", "B", n, m, k)]


def _two_matmuls(first: str) -> Callable[[int], list[_Op]]:
    def found(n: int) -> list[_Op]:
        return [
            _input("A", n, n),
            _input("B", n, n),
            _product("D", "A", "B", n, n, n),
            _input("C", n, n),
            _product("E", first, "C", n, n, n),
        ]

    return found


def _min(n: int, m: int) -> list[_Op]:
    return [_input("A", n, m), _Op("A_red", "min= A[ax0, k1]", {"ax0": n}, {"k1": m})]


def _softmax(first: int, second: int, *more: int) -> list[_Op]:
    shape = (first, second, *more)
    axes = _named_axes(shape)
    kept = _named_axes(shape[:-1])
    every, outer = ", ".join(axes), ", ".join(kept)
    inner = {"k": shape[-1]}
    exp = f"= tir.exp((A[{every}] - T_softmax_maxelem[{outer}]))"
    norm = f"= (T_softmax_exp[{every}]/T_softmax_expsum[{outer}])"
    return [
        _input("A", *shape),
        _Op("T_softmax_maxelem", f"max= A[{outer}, k]", kept, inner),
        _Op("T_softmax_exp", exp, axes),
        _Op("T_softmax_expsum", f"+= T_softmax_exp[{outer}, k]", kept, inner),
        _Op("T_softmax_norm", norm, axes),
    ]


def _pair(value: Any) -> tuple[int, int]:
    first, second = (value, value) if isinstance(value, int) else value
    if not (isinstance(first, int) and isinstance(second, int) and first > 0 and second > 0):
        raise ValueError
    return first, second


def _paddings(padding: Any, reach: Sequence[int]) -> tuple[Sequence[int], Sequence[int]]:
    if isinstance(padding, list | tuple) and len(padding) == 4:
        return padding[:2], padding[2:]
    if padding in ("VALID", "SAME"):
        both = [size - 1 if padding == "SAME" else 0 for size in reach]
    else:
        first, second = (padding, padding) if isinstance(padding, int) else padding
        both = [2 * first, 2 * second]
    if min(both) < 0:
        raise ValueError
    before = [(total + 1) // 2 for total in both]
    return before, [whole - low for whole, low in zip(both, before, strict=True)]


def _conv2d(  # noqa: PLR0917
    data: str,
    kernel: str,
    shape: Sequence[int],
    filters: Sequence[int],
    strides: Any,
    padding: Any,
    dilation: Any,
    name: str,
) -> tuple[list[_Op], list[int]]:
    steps, apart = _pair(strides), _pair(dilation)
    reach = [(k - 1) * d + 1 for k, d in zip(filters[2:], apart, strict=True)]
    before, after = _paddings(padding, reach)
    padded, places, checks, at = [*shape[:2]], ["i0", "i1"], "", []
    moved = zip(shape[2:], before, after, ("i2", "i3"), strict=True)
    for size, low, high, axis in moved:
        padded.append(low + size + high)
        places.append(f"({axis} - {low})" if low else axis)
        for check in (f"({axis} >= {low})", f"({axis} < {size + low})") if low or high else ():
            checks = f"({checks} && {check})" if checks else check
    for axis, step, inner, gap in zip(("yy", "xx"), steps, ("ry", "rx"), apart, strict=True):
        outer = f"({axis}*{step})" if step > 1 else axis
        at.append(f"({outer} + {f'({inner}*{gap})' if gap > 1 else inner})")
    element = f"{data}[{', '.join(places)}]"
    pad = f"= tir.if_then_else({checks}, {element}, 0f)" if checks else f"= {element}"
    positions = [(n - r) // s + 1 for n, r, s in zip(padded[2:], reach, steps, strict=True)]
    if min(positions) < 1:
        raise ValueError
    sizes = [shape[0], filters[0], *positions]
    body = f"+= (pad_temp[nn, rc, {', '.join(at)}]*{kernel}[ff, rc, ry, rx])"
    reduced = dict(zip(("rc", "ry", "rx"), (shape[1], *filters[2:]), strict=True))
    return [
        _input(data, *shape),
        _Op("pad_temp", pad, _named_axes(padded)),
        _input(kernel, *filters),
        _Op(name, body, dict(zip(("nn", "ff", "yy", "xx"), sizes, strict=True)), reduced),
    ], sizes


def _conv2d_bn(  # noqa: PLR0917
    n: int,
    h: int,
    w: int,
    ci: int,
    co: int,
    size: int,
    strides: Any,
    padding: Any,
    dilation: Any = 1,
    *,
    name: str = "compute__1",
) -> Iterator[_Op]:
    shapes = (n, ci, h, w), (co, ci, size, size)
    conv, sizes = _conv2d("Data", "Kernel", *shapes, strides, padding, dilation, name)
    yield from conv
    axes = _named_axes(sizes, "ijkl")
    inputs = (
        ("Bias", " + ", "Bias_add"),
        ("Bn_scale", "*", "Bn_mul"),
        ("Bn_offset", " + ", "Bn_add"),
    )
    for other, sign, made in inputs:
        yield _input(other, co, 1, 1)
        yield _Op(made, f"= ({name}[i, j, k, l]{sign}{other}[j, 0, 0])", axes)
        name = made
    yield _relu(name, sizes, 2)


def _conv2d_layer(*args: Any, name: str = "compute__1") -> Iterator[_Op]:
    if isinstance(args[-1], int):
        n, ci, h, w, co, kh, kw, strides, padding = args
    else:
        n, h, w, co, ci, kh, kw, strides, padding = args
    shapes = (n, ci, h, w), (co, ci, kh, kw)
    conv, sizes = _conv2d("data", "kernel", *shapes, strides, padding, 1, name)
    yield from conv
    if not isinstance(args[-1], int):
        axes = {f"ax{at}": size for at, size in enumerate(sizes)}
        yield _input("bias", 1, co, 1, 1)
        yield _Op("T_add", f"= ({name}[ax0, ax1, ax2, ax3] + bias[ax0, ax1, 0, 0])", axes)
        yield _relu("T_add", sizes, 2)


def _sparse_dense(  # noqa: PLR0917
    m: int,
    n: int,
    k: int,
    data: Sequence[int],
    indices: Sequence[int],
    pointers: Sequence[int],
    dtype: str,
) -> Iterator[_Op]:
    _, rows, columns = data
    place = "placeholder__3[(placeholder__1[nb_j] + elem_idx)]"
    place = place if columns == 1 else f"({columns}*{place})"
    yield _input("placeholder__1", *pointers, dtype="int32")
    yield _input("placeholder__2", *data, dtype=dtype)
    yield _input("placeholder__3", *indices, dtype="int32")
    yield _input("placeholder__4", m, k, dtype=dtype)
    yield _relu("placeholder__4", (m, k), 1, dtype)
    yield _Op(
        "compute__2",
        "+= (placeholder__2[(placeholder__1[nb_j] + elem_idx), j, c]"
        f"*compute__1[i, ({place} + c)])",
        {"i": m, "nb_j": pointers[0] - 1, "j": rows},
        {"elem_idx": "(placeholder[(nb_j + 1)] - placeholder[nb_j])", "c": columns},
        dtype,
    )
    blocks = f"floordiv(n, {rows}), floormod(n, {rows})"
    sizes = {"m": m, "n": (pointers[0] - 1) * rows}
    yield _Op("compute__3", f"= compute__2[m, {blocks}]", sizes, dtype=dtype)
    yield _input("placeholder__5", m, n, dtype=dtype)
    axes = {"i": m, "j": n}
    yield _Op("BiasAdd", "= (compute__3[i, j] + placeholder__5[i, j])", axes, dtype=dtype)
    yield _relu("BiasAdd", (m, n), 4, dtype)


def _matmul_layer(m: int, k: int, n: int) -> list[_Op]:
    product = _Op("compute", "+= (A[x, k]*B[k, y])", {"x": m, "y": n}, {"k": k})
    return [_input("A", m, k), _input("B", k, n), product]


_OF_TESTS = "_auto_scheduler_test"
_WORKLOADS: Final[Mapping[str, Callable[..., Any]]] = {
    "matmul_add": _matmul_add,
    f"matmul{_OF_TESTS}": _matmul,
    f"double_matmul{_OF_TESTS}": _two_matmuls("D"),
    f"parallel_matmul{_OF_TESTS}": _two_matmuls("A"),
    f"min_nm{_OF_TESTS}": _min,
    f"softmax_nm{_OF_TESTS}": _softmax,
    f"softmax_abcd{_OF_TESTS}": _softmax,
    f"zero_rank_compute{_OF_TESTS}": lambda n: [_input("A", n), _Op("B", "= A[0]")],
    f"zero_rank_reduce{_OF_TESTS}": lambda n: [_input("A", n), _Op("B", "+= A[k]", {}, {"k": n})],
    f"conv2d_nchw_bn_relu{_OF_TESTS}": _conv2d_bn,
    "conv2d_layer": _conv2d_layer,
    "sparse_dense": _sparse_dense,
    "matmul_layer": _matmul_layer,
    "relu_layer": lambda n, c, h, w: [_input("data", n, c, h, w), _relu("data", (n, c, h, w))],
}
_CONVOLUTIONS: Final = ("conv2d_layer", f"conv2d_nchw_bn_relu{_OF_TESTS}")


def assumed_dag(
    name: str, args: Sequence[Any], release: tuple[int, int] = (0, 8)
) -> ComputeDag | None:
    """Return the DAG of a well-known function for its arguments, None for others."""
    make = _WORKLOADS.get(name)
    if make is None:
        return None
    named = {"name": "conv2d_nchw"} if name in _CONVOLUTIONS and release >= (0, 10) else {}
    try:
        operations = list(make(*args, **named))
        text = "\n".join(operation.line for operation in operations)
        dag = parse_dag(f"{text}\n")
    except (FormatError, TypeError, ValueError, LookupError):
        return None
    known = tuple(
        replace(
            read,
            name=_NUMBER.sub("", operation.name),
            axes=tuple(Axis(axis, size) for axis, size in operation.axes.items()),
            reduce_axes=tuple(
                Axis(axis, None, size) if isinstance(size, str) else Axis(axis, size)
                for axis, size in operation.reduced.items()
            ),
            bodies=tuple(map(_renamed, read.bodies)),
            dtype=operation.dtype,
        )
        for operation, read in zip(operations, dag.operations, strict=True)
    )
    return ComputeDag(known, DagSource.ASSUMED, _NUMBER.sub("", f"{text}\n"))


def _renamed(body: Expression) -> Expression:
    whole = rebuilt(body, _renamed)
    return (
        replace(whole, name=_NUMBER.sub("", whole.name)) if isinstance(whole, TensorRead) else whole
    )
