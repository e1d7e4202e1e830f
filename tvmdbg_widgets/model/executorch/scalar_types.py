"""ExecuTorch's numbers for element types: two numberings, one for each kind of file.

``devtools/etdump/scalar_type.fbs`` and ``schema/scalar_type.fbs`` @ v1.4.1 (ETDump, ``.pte``,
``.ptd``); ``exir/serde/schema.py`` @ v1.4.1 (programs in an ETRecord).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tvmdbg_widgets.model.tensors.dtypes import DataType

#: Name and data type by number, as the runtime's files have it; ``""`` where no numpy type fits.
RUNTIME: Final[Mapping[int, tuple[str, str]]] = {
    0: ("BYTE", "uint8"),
    1: ("CHAR", "int8"),
    2: ("SHORT", "int16"),
    3: ("INT", "int32"),
    4: ("LONG", "int64"),
    5: ("HALF", "float16"),
    6: ("FLOAT", "float32"),
    7: ("DOUBLE", "float64"),
    9: ("COMPLEXFLOAT", "complex64"),
    10: ("COMPLEXDOUBLE", "complex128"),
    11: ("BOOL", "bool"),
    12: ("QINT8", "int8"),
    13: ("QUINT8", "uint8"),
    14: ("QINT32", "int32"),
    15: ("BFLOAT16", "bfloat16"),
    16: ("QUINT4X2", ""),
    17: ("QUINT2X4", ""),
    22: ("BITS16", "uint16"),
    23: ("FLOAT8E5M2", "float8_e5m2"),
    24: ("FLOAT8E4M3FN", "float8_e4m3fn"),
    25: ("FLOAT8E5M2FNUZ", "float8_e5m2fnuz"),
    26: ("FLOAT8E4M3FNUZ", "float8_e4m3fnuz"),
    27: ("UINT16", "uint16"),
    28: ("UINT32", "uint32"),
    29: ("UINT64", "uint64"),
}

#: Data type by number, as exported programs in an ETRecord have it.
EXPORTED: Final[Mapping[int, str]] = {
    1: "uint8",
    2: "int8",
    3: "int16",
    4: "int32",
    5: "int64",
    6: "float16",
    7: "float32",
    8: "float64",
    10: "complex64",
    11: "complex128",
    12: "bool",
    13: "bfloat16",
    14: "uint16",
    15: "float8_e5m2",
    16: "float8_e4m3fn",
}


def runtime_dtype(number: int) -> DataType | None:
    """Return the data type of a runtime number (ETDump, ``.pte``), None where it is unknown."""
    known = RUNTIME.get(number)
    return DataType.parse(known[1]) if known and known[1] else None


def exported_dtype(number: int) -> DataType | None:
    """Return the data type of a number in an exported program, None where it is unknown."""
    known = EXPORTED.get(number)
    return None if known is None else DataType.parse(known)


#: Numbers to write: quantized and raw types share their numpy types, complex ones are in no schema.
_WRITTEN: Final[Mapping[DataType, int]] = {
    DataType.parse(name): number
    for number, (label, name) in RUNTIME.items()
    if name and not label.startswith(("Q", "BITS", "COMPLEX"))
}


def runtime_number(dtype: DataType) -> int | None:
    """Return the number that an ETDump has for a data type, None where it has none."""
    return _WRITTEN.get(dtype)
