"""The same checks as TVM words them from v0.24 on.

src/tirx/transform/tvm_ffi_binder.cc @ main: a TypeError or ValueError with the signature.
"""

from __future__ import annotations

from tvmdbg_widgets.analysis.messages.message import KnownMessage

_SOURCE = "src/tirx/transform/tvm_ffi_binder.cc @ main"
_VERSIONS = "v0.24 and later"
_NAME = r"(?P<name>[\w.]{1,120})"
_WHERE = r"on argument #(?P<index>\d{1,4})"

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
        "Mismatched A.shape[0] on argument #0 when calling: `…`, expected 4",
        ".shape[",
        rf"Mismatched {_NAME}\.shape\[(?P<axis>\d{{1,3}})\] {_WHERE}",
        _VERSIONS,
        "The array has another size along this axis than the function was compiled for, or than "
        "another argument with the same symbolic size.",
        "dtype and ndim agree.",
        ("print(array.shape)",),
        _SOURCE,
    ),
    KnownMessage(
        "mismatched-type",
        "Mismatched type on argument #0 when calling: `…`, expected Tensor",
        "Mismatched type on argument #",
        rf"Mismatched type {_WHERE}",
        _VERSIONS,
        "The argument is of another kind: a number where an array is expected, or the other way "
        "round.",
        "The signature in the message names what is expected.",
        ("print([type(each) for each in arguments])",),
        _SOURCE,
    ),
    KnownMessage(
        "expected-arguments",
        "Expected 3 arguments when calling: `…`",
        " arguments when calling",
        r"Expected (?P<expected>\d{1,6}) arguments when calling",
        _VERSIONS,
        "The function was called with another number of arguments than it was compiled for.",
        "Outputs are arguments too in destination-passing style.",
        ("count the parameters in the signature that the message shows",),
        _SOURCE,
    ),
)
