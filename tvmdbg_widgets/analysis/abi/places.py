"""The places in TVM's sources that must change together with ``DLDataType``.

Paths and lines were read in apache/tvm and apache/tvm-ffi at the commits that stand beside the
places, and in the wheels 0.25 to 0.27, which have the sources of the runtime. A path without
releases was found in the history of apache/tvm, at no release that was looked at. What breaks where
no message is quoted was concluded from these lines, not observed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

#: How the types of code, bits and lanes are written in a place.
Style = Literal["members", "casts", "handlers", "ctypes", "llvm", "intrinsics", "padding"]


class PlaceFile(NamedTuple):
    """A file in which a place was at some time."""

    path: str
    releases: str = ""


@dataclass(frozen=True)
class Place:
    """One place that says how many bits a field of ``DLDataType`` has.

    Attributes
    ----------
    id : str
    what : str
        What stands there.
    files : tuple of PlaceFile
        Where it was, the newest first.
    style : str
        How the types are written there.
    required : bool
        Whether every build needs it; the others only where they are used.
    change : str
        What to write.
    forgotten : str
        What a person sees where it was left as it is.
    last : str or None
        The last release that has it; None for today's sources.
    """

    id: str
    what: str
    files: tuple[PlaceFile, ...]
    style: Style
    required: bool
    change: str
    forgotten: str
    last: str | None = None

    @property
    def paths(self) -> tuple[str, ...]:
        """The files by their paths."""
        return tuple(file.path for file in self.files)


PLACES: tuple[Place, ...] = (
    # dlpack.h of tvm-ffi 0.1.15; ffi/CMakeLists.txt @ apache/tvm 00dd76b994.
    Place(
        "dlpack",
        "the struct itself",
        (
            PlaceFile("3rdparty/tvm-ffi/3rdparty/dlpack/include/dlpack/dlpack.h", "v0.22 to today"),
            PlaceFile("ffi/3rdparty/dlpack/include/dlpack/dlpack.h", "v0.21"),
            PlaceFile("3rdparty/dlpack/include/dlpack/dlpack.h", "v0.5 to v0.20, and tvm-ffi"),
            PlaceFile("include/dlpack/dlpack.h", "dlpack by itself"),
        ),
        "members",
        True,
        "declare code, bits and lanes with their new types",
        "serializer.h with the new handlers does not compile (g++: cannot convert 'uint8_t*' to "
        "'short unsigned int*'); without it nothing is wider, and values are cut off wherever "
        "they are stored",
    ),
    # data_type.h @ v0.7 to v0.25 (wheel 0.25.0.post1: lines 90 to 95); src/ir/type.cc @ apache/tvm
    # main; dtype.cc:279 to 285 and 422 of tvm-ffi 0.1.15; packed_func.h @ v0.5, String2TVMType.
    Place(
        "data_type",
        "the casts that make a DLDataType of numbers and of names such as float32x4",
        (
            PlaceFile("include/tvm/runtime/data_type.h", "v0.7 to v0.25"),
            PlaceFile("src/ir/type.cc", "today"),
            PlaceFile("3rdparty/tvm-ffi/src/ffi/dtype.cc", "v0.22 to today"),
            PlaceFile("ffi/src/ffi/dtype.cc", "v0.21"),
            PlaceFile("src/ffi/dtype.cc", "tvm-ffi by itself"),
            PlaceFile("include/tvm/runtime/packed_func.h", "v0.5 and v0.6"),
        ),
        "casts",
        True,
        "cast to the new types, best to decltype(data_.lanes)",
        "types made by the compiler and from their names lose the high bits: lanes 65,536 becomes "
        "0, code 300 becomes 44",
    ),
    # serializer.h @ apache/tvm 8d0e088eb3; include/tvm/support/serializer.h @ f8dbbdaf5c, which
    # the sources of wheels 0.25, 0.26 and 0.27 include.
    Place(
        "serializer",
        "what params files and graph binaries are written and read by",
        (
            PlaceFile("include/tvm/support/serializer.h", "v0.25 to today"),
            PlaceFile("include/tvm/runtime/serializer.h", "v0.5 on, gone by v0.25"),
        ),
        "handlers",
        True,
        "use the Handler (Serializer) of the new types, for Write and for Read",
        "Read does not compile (g++: cannot convert 'uint16_t*' to 'unsigned char*'); where "
        "Write alone was forgotten, params files are written in the old layout and do not load: "
        "'Invalid DLTensor file format'",
    ),
    # base.pxi @ apache/tvm 02990b139d, python/tvm/ffi/cython/base.pxi @ 0041570320 and base.pxi of
    # tvm-ffi 0.1.15; the latter two declare int16_t lanes.
    Place(
        "cython",
        "the struct as Cython sees it",
        (
            PlaceFile("3rdparty/tvm-ffi/python/tvm_ffi/cython/base.pxi", "v0.22 to today"),
            PlaceFile("ffi/python/tvm_ffi/cython/base.pxi"),
            PlaceFile("python/tvm/ffi/cython/base.pxi", "v0.21"),
            PlaceFile("python/tvm_ffi/cython/base.pxi", "tvm-ffi by itself"),
            PlaceFile("python/tvm/_ffi/_cython/base.pxi", "v0.5 to v0.20"),
        ),
        "members",
        True,
        "declare the fields with the new types",
        "the sizes are those of dlpack.h, but Cython stores and reads the fields through the old "
        "types: 'OverflowError: value too large to convert to uint8_t', or values cut off",
    ),
    # runtime_ctypes.py @ apache/tvm a1bfd5367c; the FFI of v0.21 has no ctypes.
    Place(
        "ctypes",
        "the struct as ctypes sees it",
        (PlaceFile("python/tvm/_ffi/runtime_ctypes.py", "v0.5 to v0.20"),),
        "ctypes",
        True,
        "give _fields_ the new types",
        "Python lays out a DLTensor of the old size: the dtype of a float32 array has bits 0 "
        "and lanes 32, its shape is read 8 bytes too early (a crash), and data types passed as "
        "arguments arrive with code 8194",
        "0.20",
    ),
    # src/pass/arg_binder.cc @ apache/tvm 00506a62e7, src/tir/transforms @ 05423ea02c,
    # src/tirx/transform/tvm_ffi_binder.cc @ 02629406a4.
    Place(
        "arg_binder",
        "the checks at the start of every compiled function",
        (
            PlaceFile("src/tirx/transform/tvm_ffi_binder.cc", "v0.24 to today"),
            PlaceFile("src/tir/transform/arg_binder.cc"),
            PlaceFile("src/tir/transforms/arg_binder.cc", "v0.7 to v0.23"),
            PlaceFile("src/tir/pass/arg_binder.cc"),
            PlaceFile("src/pass/arg_binder.cc", "v0.5 and v0.6"),
        ),
        "intrinsics",
        True,
        "compare with UInt of the new widths (Int for a signed field), in both operands",
        "the build of every model stops: 'LLVM module verification failed with the following "
        "errors: Both operands to ICmp instruction are not of the same type!'. Where only one "
        "operand was changed, 'Assert fail: …, arg0.dtype is expected to be float32'",
    ),
    # src/codegen/llvm/codegen_cpu.cc @ apache/tvm 47eca2c634, src/target/llvm @ 00369adb13;
    # codegen_hexagon.cc had the struct of its own in 2020 and 2021.
    Place(
        "codegen_cpu",
        "the struct as compiled code sees it",
        (
            PlaceFile("src/target/llvm/codegen_cpu.cc", "v0.7 to today"),
            PlaceFile("src/codegen/llvm/codegen_cpu.cc", "v0.5 and v0.6"),
            PlaceFile("src/target/llvm/codegen_hexagon.cc"),
        ),
        "llvm",
        True,
        "create t_tvm_type_ of the new integer types",
        "compiled code finds bits, lanes and all behind them elsewhere: 'Assert fail: …, "
        "arg0.dtype is expected to be float32' although it is, code matches and bits reads 0; if "
        "arg_binder.cc was changed, the build stops: 'Both operands to ICmp instruction are not "
        "of the same type!'",
    ),
    # rpc_session.cc @ apache/tvm 05c53ee809, rpc_protocol.h @ 3de5727d77, rpc_reference.h of the
    # wheels 0.25 to 0.27, lines 331 and 432.
    Place(
        "rpc_padding",
        "the padding behind a data type in a packet",
        (
            PlaceFile("src/runtime/rpc/minrpc/rpc_reference.h", "v0.25 to today"),
            PlaceFile("src/runtime/minrpc/rpc_reference.h", "v0.7 on, gone by v0.25"),
            PlaceFile("src/runtime/rpc/rpc_protocol.h"),
            PlaceFile("src/runtime/rpc/rpc_session.cc", "v0.5 and v0.6"),
        ),
        "padding",
        True,
        "write and read no padding where the type has 8 bytes",
        "each data type passed by RPC takes 12 bytes; a peer that changed it reads 4 too few and "
        "takes the rest for a length: the session hangs",
    ),
    # stack_vm.cc @ apache/tvm a8866f3634, stackvm.cc @ 0ec27f4bcf; the wheels from 0.25 on have
    # none.
    Place(
        "stackvm",
        "the interpreter of stackvm targets",
        (
            PlaceFile("src/runtime/stackvm/stackvm.cc", "v0.7 on, gone by v0.25"),
            PlaceFile("src/codegen/stack_vm/stack_vm.cc", "v0.5 and v0.6"),
        ),
        "casts",
        False,
        "cast to the new types",
        "with target stackvm, data types set by host code lose their high bits",
        "0.24",
    ),
    # src/pass/lower_tvm_builtin.cc @ apache/tvm 00eb18c90d, src/tirx/transform @ 0b9fe404ff.
    Place(
        "lower_tvm_builtin",
        "data types of tensors that compiled code makes for packed calls",
        (
            PlaceFile("src/tirx/transform/lower_tvm_builtin.cc", "v0.24 to today"),
            PlaceFile("src/tir/transform/lower_tvm_builtin.cc"),
            PlaceFile("src/tir/transforms/lower_tvm_builtin.cc", "v0.7 to v0.23"),
            PlaceFile("src/tir/pass/lower_tvm_builtin.cc"),
            PlaceFile("src/pass/lower_tvm_builtin.cc", "v0.5 and v0.6"),
        ),
        "intrinsics",
        False,
        "set the fields with make_const of the new widths",
        "tensors passed to packed functions from compiled code (extern calls, cuBLAS) have data "
        "types with undefined high bits",
    ),
    # ndarray.cc @ apache/tvm 03fbe4cd6e, TVMArrayAlloc.
    Place(
        "ndarray",
        "TVMArrayAlloc of the C interface",
        (PlaceFile("src/runtime/ndarray.cc", "v0.5 to v0.20"),),
        "casts",
        False,
        "cast to the new types",
        "arrays made from Python by tvm.nd.empty lose the high bits of their type",
        "0.20",
    ),
)
