"""The places in TVM's sources that must change together with ``DLDataType``.

Paths and lines: apache/tvm @ v0.5 to v0.26, apache/tvm-ffi, dmlc/dlpack.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

#: How the types of code, bits and lanes are written in a place.
Style = Literal["members", "casts", "handlers", "ctypes", "llvm", "intrinsics", "padding"]


@dataclass(frozen=True)
class Place:
    """One place that says how many bits a field of ``DLDataType`` has.

    Attributes
    ----------
    id : str
    what : str
        What stands there.
    paths : tuple of str
        Files of the releases, the newest first.
    style : str
        How the types are written there.
    required : bool
        Whether every build needs it; the others only where they are used.
    change : str
        What to write.
    forgotten : str
        What a person sees where it was left as it is.
    """

    id: str
    what: str
    paths: tuple[str, ...]
    style: Style
    required: bool
    change: str
    forgotten: str


PLACES: tuple[Place, ...] = (
    Place(
        "dlpack",
        "the struct itself",
        (
            "3rdparty/tvm-ffi/3rdparty/dlpack/include/dlpack/dlpack.h",
            "ffi/3rdparty/dlpack/include/dlpack/dlpack.h",
            "3rdparty/dlpack/include/dlpack/dlpack.h",
        ),
        "members",
        True,
        "declare code, bits and lanes with their new types",
        "nothing is wider: values are cut off wherever they are stored",
    ),
    Place(
        "data_type",
        "DataType's constructor, which casts what the compiler computes",
        ("include/tvm/runtime/data_type.h",),
        "casts",
        True,
        "cast to the new types, best to decltype(data_.lanes)",
        "types made by the compiler lose their high bits: lanes 65,536 becomes 0, code 300 "
        "becomes 44",
    ),
    Place(
        "serializer",
        "what params files and graph binaries are written and read by",
        ("include/tvm/runtime/serializer.h",),
        "handlers",
        True,
        "use the Handler of the new types, for Write and for Read",
        "it does not compile (a uint16_t* is no uint8_t*), or params files stay in the old "
        "layout: 'Invalid DLTensor file format'",
    ),
    Place(
        "cython",
        "the struct as Cython sees it",
        (
            "3rdparty/tvm-ffi/python/tvm_ffi/cython/base.pxi",
            "ffi/python/tvm_ffi/cython/base.pxi",
            "ffi/cython/base.pxi",
            "python/tvm/_ffi/_cython/base.pxi",
        ),
        "members",
        True,
        "declare the fields with the new types",
        "Cython stores the fields through the old types: data types passed from Python lose bits",
    ),
    Place(
        "ctypes",
        "the struct as ctypes sees it",
        (
            "3rdparty/tvm-ffi/python/tvm_ffi/dtype.py",
            "python/tvm/_ffi/runtime_ctypes.py",
        ),
        "ctypes",
        True,
        "give _fields_ the new types",
        "Python lays out a DLTensor of the old size: every field behind dtype is read from the "
        "wrong place, 'arg0.dtype is expected to be float32' although it is",
    ),
    Place(
        "arg_binder",
        "the checks at the start of every compiled function",
        (
            "src/tirx/transform/tvm_ffi_binder.cc",
            "src/tirx/transform/arg_binder.cc",
            "src/s_tir/transform/arg_binder.cc",
            "src/tir/transforms/arg_binder.cc",
            "src/tir/pass/arg_binder.cc",
            "src/pass/arg_binder.cc",
        ),
        "intrinsics",
        True,
        "compare with UInt of the new widths (Int for a signed field), in both operands",
        "compiled code compares the low bits alone, or does not compile: operands of icmp differ "
        "from what the struct of codegen_cpu.cc has",
    ),
    Place(
        "codegen_cpu",
        "the struct as compiled code sees it",
        (
            "src/target/llvm/codegen_cpu.cc",
            "src/codegen/llvm/codegen_cpu.cc",
        ),
        "llvm",
        True,
        "create t_tvm_type_ of the new integer types",
        "compiled code finds bits, lanes and all behind them elsewhere: 'Assert fail … arg0.dtype "
        "is expected to be float32' although it is, bits reads 0",
    ),
    Place(
        "rpc_padding",
        "the padding behind a data type in a packet",
        (
            "src/runtime/rpc/minrpc/rpc_reference.h",
            "src/runtime/minrpc/rpc_reference.h",
            "src/runtime/rpc/rpc_protocol.h",
            "src/runtime/rpc/rpc_session.cc",
        ),
        "padding",
        True,
        "write and read no padding where the type has 8 bytes",
        "each data type passed by RPC takes 12 bytes; a peer that changed it reads 4 too few and "
        "takes the rest for a length: the session hangs",
    ),
    Place(
        "stackvm",
        "the interpreter of stackvm targets",
        (
            "src/target/stackvm/stackvm.cc",
            "src/codegen/stack_vm/stack_vm.cc",
        ),
        "casts",
        False,
        "cast to the new types",
        "with target stackvm, data types set by host code lose their high bits",
    ),
    Place(
        "lower_tvm_builtin",
        "data types of tensors that compiled code makes for packed calls",
        (
            "src/tirx/transform/lower_tvm_builtin.cc",
            "src/tir/transforms/lower_tvm_builtin.cc",
            "src/tir/pass/lower_tvm_builtin.cc",
            "src/pass/lower_tvm_builtin.cc",
        ),
        "intrinsics",
        False,
        "set the fields with make_const of the new widths",
        "tensors passed to packed functions from compiled code (extern calls, cuBLAS) have data "
        "types with undefined high bits",
    ),
    Place(
        "ndarray",
        "TVMArrayAlloc of the C interface",
        ("src/runtime/ndarray.cc",),
        "casts",
        False,
        "cast to the new types",
        "arrays made from Python by tvm.nd.empty lose the high bits of their type",
    ),
)
