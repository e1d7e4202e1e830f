"""Workloads of TVM's tutorials and tests, and of nnfusion, by the names of their functions.

A log has only the name and the arguments; another function of the same name would give other
loops. Each was held to the DAG that TVM prints for a key of its name.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from tvmdbg_widgets.formats.tuning.registered import RegisteredWorkload, read_registered
from tvmdbg_widgets.model.base.errors import FormatError
from tvmdbg_widgets.model.tuning.dag import ComputeDag, DagSource

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# Read as data, as a user's module is.
_SOURCE = """
def product(A, B, name, shape):
    k = te.reduce_axis((0, A.shape[1]), name="k")
    return te.compute(shape, lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name=name)

def square(name, N):
    return te.placeholder((N, N), name=name)

@register_workload
def matmul_add(N, L, M, dtype):
    A = te.placeholder((N, L), dtype, "A")
    B = te.placeholder((L, M), dtype, "B")
    C = te.placeholder((N, M), dtype, "C")
    matmul = product(A, B, "matmul", (N, M))
    out = te.compute((N, M), lambda i, j: matmul[i, j] + C[i, j], name="out")
    return [A, B, C, out]

@register_workload
def matmul_auto_scheduler_test(N, M, K):
    A = te.placeholder((N, K), name="A")
    B = te.placeholder((K, M), name="B")
    return [A, B, product(A, B, "C", (N, M))]

@register_workload
def double_matmul_auto_scheduler_test(N):
    A, B, C = square("A", N), square("B", N), square("C", N)
    D = product(A, B, "D", (N, N))
    return [A, B, C, product(D, C, "E", (N, N))]

@register_workload
def parallel_matmul_auto_scheduler_test(N):
    A, B, C = square("A", N), square("B", N), square("C", N)
    D = product(A, B, "D", (N, N))
    return [A, B, C, D, product(A, C, "E", (N, N))]

@register_workload
def min_nm_auto_scheduler_test(N, M):
    A = te.placeholder((N, M), name="A")
    return [A, topi.min(A, axis=-1)]

@register_workload
def softmax_nm_auto_scheduler_test(N, M):
    A = te.placeholder((N, M), name="A")
    return [A, topi.nn.softmax(A, axis=1)]

@register_workload
def softmax_abcd_auto_scheduler_test(a, b, c, d):
    A = te.placeholder((a, b, c, d), name="A")
    return [A, topi.nn.softmax(A, axis=-1)]

@register_workload
def zero_rank_compute_auto_scheduler_test(N):
    A = te.placeholder((N,), name="A")
    return [A, te.compute((), lambda *i: A[0], name="B")]

@register_workload
def zero_rank_reduce_auto_scheduler_test(N):
    A = te.placeholder((N,), name="A")
    k = te.reduce_axis((0, N), name="k")
    return [A, te.compute((), lambda *i: te.sum(A[k], axis=k), name="B")]

@register_workload
def conv2d_nchw_bn_relu_auto_scheduler_test(
    N, H, W, CI, CO, kernel_size, strides, padding, dilation=1
):
    data = te.placeholder((N, CI, H, W), name="Data")
    kernel = te.placeholder((CO, CI, kernel_size, kernel_size), name="Kernel")
    bias = te.placeholder((CO, 1, 1), name="Bias")
    scale = te.placeholder((CO, 1, 1), name="Bn_scale")
    offset = te.placeholder((CO, 1, 1), name="Bn_offset")
    conv = topi.nn.conv2d_nchw(data, kernel, strides, padding, dilation)
    size = conv.shape
    conv1 = te.compute(size, lambda i, j, k, l: conv[i, j, k, l] + bias[j, 0, 0], name="Bias_add")
    conv2 = te.compute(size, lambda i, j, k, l: conv1[i, j, k, l] * scale[j, 0, 0], name="Bn_mul")
    conv3 = te.compute(size, lambda i, j, k, l: conv2[i, j, k, l] + offset[j, 0, 0], name="Bn_add")
    return [data, kernel, bias, offset, scale, topi.nn.relu(conv3)]

@register_workload
def conv2d_layer(N, H, W, CO, CI, KH, KW, stride, padding):
    data = te.placeholder((N, CI, H, W), name="data")
    kernel = te.placeholder((CO, CI, KH, KW), name="kernel")
    bias = te.placeholder((1, CO, 1, 1), name="bias")
    conv = topi.nn.conv2d_nchw(data, kernel, stride, padding, 1, "float32")
    return [data, kernel, bias, topi.nn.relu(conv + bias)]

@register_workload
def sparse_dense(M, N, K, data_shape, indices_shape, indptr_shape, dtype):
    X = te.placeholder((M, K), dtype)
    W_data = te.placeholder(data_shape, dtype)
    W_indices = te.placeholder(indices_shape, "int32")
    W_indptr = te.placeholder(indptr_shape, "int32")
    B = te.placeholder((M, N), dtype)
    out = topi.nn.sparse_dense(topi.nn.relu(X), W_data, W_indices, W_indptr)
    biased = te.compute((M, N), lambda i, j: out[i, j] + B[i, j], name="BiasAdd")
    return [X, W_data, W_indices, W_indptr, B, topi.nn.relu(biased)]

@register_workload("conv2d_layer of nnfusion")
def nnfusion_conv2d_layer(N, CI, H, W, CO, KH, KW, stride, padding):
    data = te.placeholder((N, CI, H, W), name="data")
    kernel = te.placeholder((CO, CI, KH, KW), name="kernel")
    return [data, kernel, topi.nn.conv2d_nchw(data, kernel, stride, padding, 1, "float32")]

@register_workload
def matmul_layer(M, K, N):
    A = te.placeholder((M, K), name="A")
    B = te.placeholder((K, N), name="B")
    k = te.reduce_axis((0, K), name="k")
    return [A, B, te.compute((M, N), lambda x, y: te.sum(A[x, k] * B[k, y], axis=k))]

@register_workload
def relu_layer(N, C, H, W):
    data = te.placeholder((N, C, H, W), name="data")
    return [data, topi.nn.relu(data)]
"""


def assumed_dag(
    name: str, args: Sequence[Any], release: tuple[int, int] = (0, 8)
) -> ComputeDag | None:
    """Return the DAG of a well-known function for its arguments, None where none is known."""
    if name == "conv2d_layer" and args and isinstance(args[-1], int):
        name = "conv2d_layer of nnfusion"
    found = _known().get(name)
    if found is None:
        return None
    try:
        return found.dag(args, DagSource.ASSUMED, release)
    except FormatError:
        return None


@cache
def _known() -> Mapping[str, RegisteredWorkload]:
    return read_registered(_SOURCE, "the table of known workloads")
