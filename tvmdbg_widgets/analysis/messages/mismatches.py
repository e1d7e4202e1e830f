"""The same checks as TVM words them from v0.24 on, and those of TVM FFI.

src/tirx/transform/tvm_ffi_binder.cc @ main: a TypeError or ValueError over three lines, the
function's signature on the second and what was expected on the third.
"""

from __future__ import annotations

from tvmdbg_widgets.analysis.messages.message import KnownMessage

_SOURCE = "src/tirx/transform/tvm_ffi_binder.cc @ main"
_FFI = "include/tvm/ffi/function_details.h @ tvm-ffi"
_VERSIONS = "v0.24 and later"
_NAME = r"(?P<name>\w[\w.]{0,200})"
_CALL = r"when calling:\s{1,8}`(?P<signature>[^`]{0,1000})`"
_EXPECTED = r"(?:,\s{1,8}expected (?P<expected>.{1,80}))?"
_WHERE = rf"on argument #(?P<index>\d{{1,4}})(?: {_CALL}{_EXPECTED})?"
_VALUE = r"(?:Mismatched|Invalid)"

MESSAGES = (
    KnownMessage(
        "mismatched-dtype",
        "Mismatched A.dtype on argument #0 when calling: `…`, expected float32",
        ".dtype on argument #",
        rf"Mismatched {_NAME}\.dtype {_WHERE}",
        _VERSIONS,
        "The function was compiled for an array of another data type than it was given, or code "
        "and runtime disagree about how DLDataType lies in memory.",
        "Print the array's dtype. If it is the expected one, two layouts of DLDataType are in "
        "play. bool is code 6 with 8 bits from v0.23 on, uint1 before.",
        (
            "print(array.dtype, array.shape)",
            "tvmdbg struct DLTensor --hex dump.txt",
            "tvmdbg struct --ir module.ll",
        ),
        _SOURCE,
        layout=True,
    ),
    KnownMessage(
        "mismatched-ndim",
        "Mismatched A.ndim on argument #0 when calling: `…`, expected 2",
        ".ndim on argument #",
        rf"Mismatched {_NAME}\.ndim {_WHERE}",
        _VERSIONS,
        "The array has another number of dimensions than the function was compiled for.",
        "Checked before dtype and shape.",
        ("print(array.shape)",),
        _SOURCE,
    ),
    KnownMessage(
        "mismatched-shape",
        "Invalid A.shape[0] on argument #0 when calling: `…`, expected 4",
        "] on argument #",
        rf"{_VALUE} {_NAME}\.shape\[(?P<axis>\d{{1,3}})\] {_WHERE}",
        _VERSIONS,
        "The array has another size along this axis than the function was compiled for: 'Invalid'. "
        "Or than another argument with the same symbolic size: 'Mismatched … expected to match'.",
        "dtype and ndim agree.",
        ("print(array.shape)",),
        _SOURCE,
    ),
    KnownMessage(
        "mismatched-strides",
        "Mismatched A.strides on argument #0 when calling: `…`, expected to be compact array",
        ".strides",
        rf"{_VALUE} {_NAME}\.strides(?:\[(?P<axis>\d{{1,3}})\])? {_WHERE}",
        _VERSIONS,
        "The array is not contiguous (a transposed view or a slice), and the function was compiled "
        "for a compact one; with an axis, for this stride.",
        "dtype and ndim agree.",
        ("numpy.ascontiguousarray(array)", "tensor.contiguous()  (torch)"),
        _SOURCE,
    ),
    KnownMessage(
        "mismatched-byte-offset",
        "Invalid A.byte_offset on argument #0 when calling: `…`, expected 0",
        ".byte_offset on argument #",
        rf"{_VALUE} {_NAME}\.byte_offset {_WHERE}",
        _VERSIONS,
        "The array begins within its memory at another place than the function was compiled for.",
        "Views of views have it; copies do not. Under another layout of DLDataType, byte_offset is "
        "read from the wrong place: look whether shape and strides are plausible.",
        ("pass a copy of the array", "tvmdbg struct DLTensor --hex dump.txt"),
        _SOURCE,
        layout=True,
    ),
    KnownMessage(
        "mismatched-device",
        "Mismatched A.device_type on argument #0 when calling: `…`, expected cuda",
        ".device_",
        rf"{_VALUE} {_NAME}\.(?P<field>device_(?:type|id)) {_WHERE}",
        _VERSIONS,
        "The array is on another device than the function was compiled for, or than another "
        "argument.",
        "device_type is the kind of device, device_id its number.",
        ("print(array.device)", "tvm.runtime.tensor(array, device=tvm.cuda(0))"),
        _SOURCE,
    ),
    KnownMessage(
        "null-data",
        "A data pointer is NULL on argument #0 when calling: `…`, expected non-NULL data pointer",
        " data pointer is NULL on argument #",
        rf"(?<![\w.]){_NAME} data pointer is NULL {_WHERE}",
        _VERSIONS,
        "The array has no memory: it was released, or never allocated. Arrays of size 0 may have "
        "none.",
        "A missing array says 'Mismatched type … expected Tensor'.",
        ("print(array.shape)",),
        _SOURCE,
    ),
    KnownMessage(
        "misaligned-data",
        "Misaligned Tensor data on argument #0 when calling: `…`, expected data alignment=64 bytes",
        "Misaligned ",
        rf"Misaligned (?:Tensor|buffer) data {_WHERE}",
        _VERSIONS,
        "The first byte of the array is not at a multiple of the alignment that the function was "
        "compiled for: a slice, or memory of another library.",
        "Other makers of kernels for TVM FFI print the same words.",
        ("pass a copy of the array",),
        _SOURCE,
    ),
    KnownMessage(
        "mismatched-type",
        "Mismatched type on argument #0 when calling: `…`, expected Tensor",
        "Mismatched type on argument #",
        rf"Mismatched type {_WHERE}(?:\. Expected `(?P<wanted>[^`]{{1,100}})` but got "
        r"`(?P<got>[^`]{1,100})`)?",
        "v0.21 and later",
        "The argument is of another kind: a number or None where an array is expected, or an array "
        "where a number is.",
        "'expected …' on a line of its own comes from compiled code, 'Expected `…` but got `…`' "
        "from TVM's own functions.",
        ("print([type(each) for each in arguments])",),
        f"{_SOURCE}, {_FFI}",
    ),
    KnownMessage(
        "mismatched-count",
        "Mismatched number of arguments when calling: `…`. Expected 1 but got 3 arguments",
        "Mismatched number of arguments",
        rf"Mismatched number of arguments {_CALL}\.\s{{1,8}}Expected (?P<expected>\d{{1,6}})"
        r"(?: but got (?P<got>\d{1,6}))?",
        "v0.21 and later",
        "One of TVM's own functions was called with another number of arguments than it takes: "
        "Python and the library are often of different releases.",
        "'Expected 3 arguments when calling' comes from compiled code.",
        ("python -c 'import tvm, tvm_ffi; print(tvm.__version__, tvm_ffi.__version__)'",),
        _FFI,
    ),
    KnownMessage(
        "expected-arguments",
        "Expected 3 arguments when calling: `…`",
        " arguments when calling",
        rf"Expected (?P<expected>\d{{1,6}}) arguments {_CALL}",
        _VERSIONS,
        "The function was called with another number of arguments than it was compiled for.",
        "Outputs are arguments too in destination-passing style.",
        ("count the parameters in the signature that the message shows",),
        _SOURCE,
    ),
    KnownMessage(
        "null-arguments",
        "args pointer is NULL when calling: `…`",
        "args pointer is NULL when calling",
        rf"args pointer is NULL {_CALL}",
        _VERSIONS,
        "The function was called from C with a null pointer in place of its arguments.",
        "The number of arguments is checked first and was right. Python never calls like that.",
        ("look at the call in your C or C++ code",),
        _SOURCE,
    ),
)
