"""Source trees of TVM, of the lines that know ``DLDataType`` alone, each narrow or wide.

The lines are those that formats/tvm.md §4.5 names; paths are those of releases.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

NARROW = ("uint8_t", "uint8_t", "uint16_t")
WIDE = ("uint16_t", "uint16_t", "int32_t")
#: Path of each place by release.
PATHS = {
    "v0.6.0": {
        "dlpack": "3rdparty/dlpack/include/dlpack/dlpack.h",
        "serializer": "include/tvm/runtime/serializer.h",
        "cython": "python/tvm/_ffi/_cython/base.pxi",
        "ctypes": "python/tvm/_ffi/runtime_ctypes.py",
        "arg_binder": "src/pass/arg_binder.cc",
        "codegen_cpu": "src/codegen/llvm/codegen_cpu.cc",
        "rpc_padding": "src/runtime/rpc/rpc_session.cc",
        "stackvm": "src/codegen/stack_vm/stack_vm.cc",
        "lower_tvm_builtin": "src/pass/lower_tvm_builtin.cc",
        "ndarray": "src/runtime/ndarray.cc",
    },
    "v0.8.0": {
        "dlpack": "3rdparty/dlpack/include/dlpack/dlpack.h",
        "data_type": "include/tvm/runtime/data_type.h",
        "serializer": "include/tvm/runtime/serializer.h",
        "cython": "python/tvm/_ffi/_cython/base.pxi",
        "ctypes": "python/tvm/_ffi/runtime_ctypes.py",
        "arg_binder": "src/tir/transforms/arg_binder.cc",
        "codegen_cpu": "src/target/llvm/codegen_cpu.cc",
        "rpc_padding": "src/runtime/minrpc/rpc_reference.h",
        "stackvm": "src/target/stackvm/stackvm.cc",
        "lower_tvm_builtin": "src/tir/transforms/lower_tvm_builtin.cc",
        "ndarray": "src/runtime/ndarray.cc",
    },
}
_BITS = {"uint8_t": 8, "uint16_t": 16, "int32_t": 32, "uint32_t": 32}


def lines_of(  # noqa: C901 (one case a place)
    place: str, types: tuple[str, str, str], release: str = "v0.8.0"
) -> str:
    """The lines of one place with these types."""
    code, bits, lanes = types
    wide = [str(_BITS[each]) for each in types]
    sign = ["UInt" if each[0] == "u" else "Int" for each in types]
    data_type = "DataType::" if release != "v0.6.0" else ""
    kind = "builtin" if release != "v0.6.0" else "intrinsic"
    make = "IntImm" if release != "v0.6.0" else "UIntImm::make"
    typed = [f"{data_type}{s}({w})" for s, w in zip(sign, wide, strict=True)]
    size = sum(_BITS[each] for each in types) // 8
    match place:
        case "dlpack":
            return (
                "typedef struct {\n  /*!\n   * \\brief uint8_t instead of DLDataTypeCode\n"
                f"   * */\n  {code} code;\n  /*! \\brief Number of bits. */\n  {bits} bits;\n"
                f"  {lanes} lanes;  // lanes of a vector\n}} DLDataType;\n"
            )
        case "data_type":
            return (
                "  DataType(int code, int bits, int lanes) {\n"
                f"    data_.code = static_cast<{code}>(code);\n"
                f"    data_.bits = static_cast<{bits}>(bits);\n"
                f"    data_.lanes = static_cast<{lanes}>(lanes);\n  }}\n"
            )
        case "serializer":
            names = ("code", "bits", "lanes")
            pairs = list(zip(types, names, strict=True))
            writes = [f"    Handler<{t}>::Write(strm, dtype.{n});" for t, n in pairs]
            reads = [
                f"    if (!Handler<{t}>::Read(strm, &(dtype->{n}))) return false;" for t, n in pairs
            ]
            return "\n".join([*writes, *reads]) + "\n"
        case "cython":
            head = "    ctypedef struct DLDataType:\n"
            return f"{head}        {code} code\n        {bits} bits\n        {lanes} lanes\n"
        case "ctypes":
            short = [each.removesuffix("_t") for each in types]
            return (
                '    _fields_ = [("type_code", ctypes.c_' + short[0] + "),\n"
                f'                ("bits", ctypes.c_{short[1]}),\n'
                f'                ("lanes", ctypes.c_{short[2]})]\n'
            )
        case "arg_binder":
            rows = [
                f"TVMArrayGet({t}, handle, {kind}::kArrType{n.title()}) ==\n"
                f"                       {make}({t}, dtype.{n}())"
                for t, n in zip(typed, ("code", "bits", "lanes"), strict=True)
            ]
            return "  PrimExpr cond = (" + " &&\n                   ".join(rows) + ");\n"
        case "codegen_cpu":
            inner = ", ".join(f"t_int{w}_" for w in wide)
            return f"  t_tvm_type_ = llvm::StructType::create({{{inner}}});\n"
        case "rpc_padding":
            case = "kTVMType" if release == "v0.6.0" else "kTVMDataType"
            padded = size < 8
            write = "          // padding\n          int32_t padding = 0;\n"
            out = (
                "          this->Write<int32_t>(padding);\n"
                if release == "v0.6.0"
                else ("          channel->template Write<int32_t>(padding);\n")
            )
            back = out.replace("Write<int32_t>(padding)", "Read<int32_t>(&padding)")
            return (
                f"        case {case}: {{\n          channel->Write(value.v_type);\n"
                + (write + out if padded else "")
                + "          break;\n        }\n"
                f"        case {case}: {{\n          channel->Read(&(value.v_type));\n"
                + ("          int32_t padding = 0;\n" + back if padded else "")
                + "          break;\n        }\n"
            )
        case "stackvm" | "ndarray":
            owner = "arr[index]." if place == "stackvm" else ""
            value = "stack[sp].v_int64" if place == "stackvm" else "dtype_code"
            return "".join(
                f"            {owner}dtype.{n} = static_cast<{t}>({value});\n"
                for t, n in zip(types, ("code", "bits", "lanes"), strict=True)
            )
        case "lower_tvm_builtin":
            return "".join(
                f"    prep_seq.emplace_back(\n        TVMStructSet(scope.stack_array, idx, "
                f"{kind}::kArrType{n.title()},\n"
                f"                     make_const({t}, dtype.{n}())));\n"
                for t, n in zip(typed, ("code", "bits", "lanes"), strict=True)
            )
    raise KeyError(place)


def tree(
    folder: Path,
    types: tuple[str, str, str],
    *,
    release: str = "v0.8.0",
    forgotten: Collection[str] = (),
    old: tuple[str, str, str] = NARROW,
) -> Path:
    """Write a tree whose places have these types, but those forgotten, which have the old ones."""
    for place, path in PATHS[release].items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        own = old if place in forgotten else types
        target.write_text("// surroundings\n" * 5 + lines_of(place, own, release))
    (folder / "python/tvm/_ffi/libinfo.py").write_text(f'__version__ = "{release[1:]}"\n')
    return folder
