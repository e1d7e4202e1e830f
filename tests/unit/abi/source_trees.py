"""Source trees of TVM, of the lines that know ``DLDataType`` alone, each narrow or wide.

The lines are those that formats/tvm.md §4.5 names; paths and spellings are those of releases.
"""

from collections.abc import Callable, Collection
from pathlib import Path

Types = tuple[str, str, str]
NARROW = ("uint8_t", "uint8_t", "uint16_t")
WIDE = ("uint16_t", "uint16_t", "int32_t")
_OLD = {
    "dlpack": "3rdparty/dlpack/include/dlpack/dlpack.h",
    "data_type names": "include/tvm/runtime/packed_func.h",
    "serializer": "include/tvm/runtime/serializer.h",
    "cython": "python/tvm/_ffi/_cython/base.pxi",
    "ctypes": "python/tvm/_ffi/runtime_ctypes.py",
    "arg_binder": "src/pass/arg_binder.cc",
    "codegen_cpu": "src/codegen/llvm/codegen_cpu.cc",
    "rpc_padding": "src/runtime/rpc/rpc_session.cc",
    "stackvm": "src/codegen/stack_vm/stack_vm.cc",
    "lower_tvm_builtin": "src/pass/lower_tvm_builtin.cc",
    "ndarray": "src/runtime/ndarray.cc",
}
_RELAY = {
    "dlpack": "3rdparty/dlpack/include/dlpack/dlpack.h",
    "data_type": "include/tvm/runtime/data_type.h",
    "serializer": "include/tvm/runtime/serializer.h",
    "cython": "python/tvm/_ffi/_cython/base.pxi",
    "ctypes": "python/tvm/_ffi/runtime_ctypes.py",
    "arg_binder": "src/tir/transforms/arg_binder.cc",
    "codegen_cpu": "src/target/llvm/codegen_cpu.cc",
    "rpc_padding": "src/runtime/minrpc/rpc_reference.h",
    "stackvm": "src/runtime/stackvm/stackvm.cc",
    "lower_tvm_builtin": "src/tir/transforms/lower_tvm_builtin.cc",
    "ndarray": "src/runtime/ndarray.cc",
}
#: Path of each place by release; a second word tells files of one place apart.
PATHS = {
    "v0.5.0": _OLD,
    "v0.6.0": _OLD,
    "v0.8.0": _RELAY,
    "v0.20.0": _RELAY,
    "v0.21.0": {
        "dlpack": "ffi/3rdparty/dlpack/include/dlpack/dlpack.h",
        "data_type": "include/tvm/runtime/data_type.h",
        "data_type names": "ffi/src/ffi/dtype.cc",
        "serializer": "include/tvm/runtime/serializer.h",
        "cython": "python/tvm/ffi/cython/base.pxi",
        "arg_binder": "src/tir/transforms/arg_binder.cc",
        "codegen_cpu": "src/target/llvm/codegen_cpu.cc",
        "rpc_padding": "src/runtime/minrpc/rpc_reference.h",
        "lower_tvm_builtin": "src/tir/transforms/lower_tvm_builtin.cc",
    },
    "v0.27.0": {
        "dlpack": "3rdparty/tvm-ffi/3rdparty/dlpack/include/dlpack/dlpack.h",
        "data_type": "src/ir/type.cc",
        "data_type names": "3rdparty/tvm-ffi/src/ffi/dtype.cc",
        "serializer": "include/tvm/support/serializer.h",
        "cython": "3rdparty/tvm-ffi/python/tvm_ffi/cython/base.pxi",
        "arg_binder": "src/tirx/transform/tvm_ffi_binder.cc",
        "codegen_cpu": "src/target/llvm/codegen_cpu.cc",
        "rpc_padding": "src/runtime/rpc/minrpc/rpc_reference.h",
        "lower_tvm_builtin": "src/tirx/transform/lower_tvm_builtin.cc",
    },
}
_FIELDS = ("code", "bits", "lanes")
_BITS = {"uint8_t": 8, "uint16_t": 16, "int16_t": 16, "int32_t": 32, "uint32_t": 32}


def lines_of(place: str, types: Types, release: str = "v0.8.0") -> str:
    """The lines of one place with these types, as a release spells them."""
    return _LINES[place](types, int(release.split(".")[1]))


def _cython(types: Types, minor: int) -> str:
    # Sources of the new FFI read u16 lanes as int16_t.
    lanes = "int16_t" if minor >= 21 and types[2] == "uint16_t" else types[2]
    rows = zip((*types[:2], lanes), _FIELDS, strict=True)
    fields = "\n".join(f"        {kind} {name}" for kind, name in rows)
    return f"    ctypedef struct DLDataType:\n{fields}\n\n    ctypedef struct DLDevice:\n"


def _ctypes(types: Types, _: int) -> str:
    short = [each.removesuffix("_t") for each in types]
    return (
        f'    _fields_ = [("type_code", ctypes.c_{short[0]}),\n'
        f'                ("bits", ctypes.c_{short[1]}),\n'
        f'                ("lanes", ctypes.c_{short[2]})]\n'
    )


def _codegen(types: Types, _: int) -> str:
    inner = ", ".join(f"t_int{_BITS[each]}_" for each in types)
    return (
        "  t_tvm_device_ = llvm::StructType::create({t_int_, t_int_});\n"
        f"  t_tvm_type_ = llvm::StructType::create({{{inner}}});\n"
        "  t_tvm_ffi_any_ = llvm::StructType::create({t_int32_, t_int32_, t_float64_});\n"
    )


def _stackvm(types: Types, _: int) -> str:
    return "".join(
        f"            stack[sp].v_int64 = static_cast<int64_t>(\n"
        f"                arr[index].dtype.{n}); break;\n"
        f"            arr[index].dtype.{n} = static_cast<{t}>(stack[sp].v_int64);\n"
        for t, n in zip(types, _FIELDS, strict=True)
    )


def _ndarray(types: Types, _: int) -> str:
    pairs = zip(types, _FIELDS, strict=True)
    return "".join(f"  dtype.{n} = static_cast<{t}>(dtype_{n});\n" for t, n in pairs)


def _builtin(types: Types, minor: int) -> str:
    _, kind, make, owner = _spelling(minor)
    make = "make_const" if minor < 24 else make
    return "".join(
        f"    prep_seq.emplace_back(\n        TVMStructSet(scope.stack_array, idx, "
        f"{kind}{n.title()},\n                     {make}({t}, {owner}.{n}())));\n"
        for t, n in zip(_typed(types, minor), _FIELDS, strict=True)
    )


def _dlpack(types: Types, _: int) -> str:
    code, bits, lanes = types
    return (
        "typedef enum {\n  kDLInt = 0U,\n} DLDataTypeCode;\n"
        "typedef struct {\n  /*!\n   * \\brief uint8_t instead of DLDataTypeCode\n"
        f"   * */\n  {code} code;\n  /*!\n   * \\brief Number of bits; uint8_t bits;\n   */\n"
        f"  {bits} bits;\n  /*! \\brief uint64_t lanes; */\n"
        f"  {lanes} lanes;  // lanes of a vector\n}} DLDataType;\n"
    )


def _data_type(types: Types, minor: int) -> str:
    code, bits, lanes = types
    if minor >= 26:
        return (
            "PrimType::PrimType(DLDataTypeCode code, int bits, int lanes)\n"
            f"    : PrimType(DLDataType{{static_cast<{code}>(code), static_cast<{bits}>(bits),\n"
            f"                          static_cast<{lanes}>(lanes)}}) {{}}\n"
        )
    plain = f"static_cast<{lanes}>(lanes)"
    scalable = f"is_scalable ? static_cast<{lanes}>(-lanes) : {plain}"
    return (
        f"    data_.code = static_cast<{code}>(code);\n"
        f"    data_.bits = static_cast<{bits}>(bits);\n"
        f"    data_.lanes = {scalable if minor >= 16 else plain};\n"
        "  int bits() const { return static_cast<int>(data_.bits); }\n"
        '      LOG(FATAL) << "unknown type_code=" << static_cast<int>(type_code);\n'
    )


def _names(types: Types, minor: int) -> str:
    code, bits, lanes = types
    if minor < 21:
        return (
            f"  {bits} bits = static_cast<{bits}>(strtoul(scan, &xdelim, 10));\n"
            f"    t.lanes = static_cast<{lanes}>(strtoul(xdelim + 1, &endpt, 10));\n"
        )
    return (
        f"    dtype.code = static_cast<{code}>(code);\n"
        f"    dtype.bits = static_cast<{bits}>(bits);\n"
        f"    return static_cast<{lanes}>(multiplier * lanes_val);\n"
    )


def _serializer(types: Types, minor: int) -> str:
    handler = "Serializer" if minor >= 25 else "Handler"
    pairs = list(zip(types, _FIELDS, strict=True))
    taken = "&dtype->{}" if minor >= 25 else "&(dtype->{})"
    writes = [f"    {handler}<{t}>::Write(strm, dtype.{n});" for t, n in pairs]
    reads = [
        f"    if (!{handler}<{t}>::Read(strm, {taken.format(n)})) return false;" for t, n in pairs
    ]
    device = [f"    {handler}<int32_t>::Write(strm, device_type);"]
    return "\n".join([*writes, *reads, *device]) + "\n"


def _spelling(minor: int) -> tuple[str, str, str, str]:
    """Name of a type, of a field, of a constant, and who has the data type."""
    if minor < 7:
        return "", "intrinsic::kArrType", "UIntImm::make", "dtype"
    if minor < 24:
        return "DataType::", "builtin::kArrType", "IntImm", "buffer->dtype"
    return "PrimType::", "builtin::kDLTensorType", "IntImm", "buffer->dtype"


def _typed(types: Types, minor: int) -> list[str]:
    prefix = _spelling(minor)[0]
    return [f"{prefix}{'UInt' if t[0] == 'u' else 'Int'}({_BITS[t]})" for t in types]


def _binder(types: Types, minor: int) -> str:
    _, kind, make, owner = _spelling(minor)
    rows = list(zip(_typed(types, minor), _FIELDS, strict=True))
    if minor < 24:
        compared = [
            f"TVMArrayGet({t}, handle, {kind}{n.title()}) ==\n"
            f"                       {make}({t}, {owner}.{n}())"
            for t, n in rows
        ]
        joined = " &&\n                   ".join(compared)
        return f"  PrimExpr cond = ({joined});\n  const Type tvm_ndim_type = Int(32);\n"
    return "".join(
        f"    PrimExpr {n}_matches =\n        TVMStructGet({t}, handle, 0, {kind}{n.title()}) ==\n"
        f"        {make}({t}, {owner}.{n}());\n"
        for t, n in rows
    )


def _rpc(types: Types, minor: int) -> str:
    case = "kTVMType" if minor < 7 else "kTVMDataType"
    case = "ffi::TypeIndex::kTVMFFIDataType" if minor >= 21 else case
    value = "v_dtype" if minor >= 21 else "v_type"
    channel = "this->" if minor < 7 else "channel->"
    typed = channel if minor < 7 else f"{channel}template "
    declared = "          int32_t padding = 0;\n"
    write = f"          // padding\n{declared}          {typed}Write<int32_t>(padding);\n"
    read = f"{declared}          {typed}Read<int32_t>(&padding);\n"
    if sum(_BITS[each] for each in types) == 64:
        write = read = ""
    end = "          break;\n        }\n"
    return (
        f"      case {case}:\n      case kHandle: {{\n        this->RequestBytes(8); break;\n"
        f"      }}\n        case {case}: {{\n          {channel}Write(value.{value});\n{write}{end}"
        f"        case {case}: {{\n          {channel}Read(&(value.{value}));\n{read}{end}"
    )


_LINES: dict[str, Callable[[Types, int], str]] = {
    "dlpack": _dlpack,
    "data_type": _data_type,
    "data_type names": _names,
    "serializer": _serializer,
    "cython": _cython,
    "ctypes": _ctypes,
    "arg_binder": _binder,
    "codegen_cpu": _codegen,
    "rpc_padding": _rpc,
    "stackvm": _stackvm,
    "ndarray": _ndarray,
    "lower_tvm_builtin": _builtin,
}


def tree(
    folder: Path,
    types: Types,
    *,
    release: str = "v0.8.0",
    forgotten: Collection[str] = (),
    old: Types = NARROW,
) -> Path:
    """Write a tree whose places have these types, but those forgotten, which have the old ones."""
    for place, path in PATHS[release].items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        own = old if place in forgotten else types
        target.write_text("// surroundings\n" * 5 + lines_of(place, own, release))
    old_ffi = int(release.split(".")[1]) < 21
    version = folder / ("python/tvm/_ffi/libinfo.py" if old_ffi else "python/tvm/libinfo.py")
    version.parent.mkdir(parents=True, exist_ok=True)
    version.write_text(f'__version__ = "{release[1:]}"\n')
    return folder
