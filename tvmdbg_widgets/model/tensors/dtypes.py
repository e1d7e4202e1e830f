"""Data types as TVM stores and spells them (``DLDataType``), and their numpy counterparts.

Codes: ``include/tvm/runtime/data_type.h`` @ v0.7 to v0.25, ``dlpack.h`` 0.3 to 1.1,
``include/tvm/ffi/dtype.h`` of tvm-ffi. Codes 6, 7 and 8 changed their meaning between releases.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import ml_dtypes
import numpy as np

from tvmdbg_widgets.model.base.slips import meant

INT, UINT, FLOAT, HANDLE, BFLOAT, COMPLEX, BOOL = range(7)
FIRST_CUSTOM = 129
#: Codes only dlpack 1.1 has, hence TVM >= 0.21.
CURRENT_ONLY = range(9, 18)
#: Code and bits of float4_e2m1fn in TVM 0.20, and in no other.
_FLOAT4_OF_V20 = (8, 4)
_UINT1 = (UINT, 1, 1)

#: Widths TVM can store: powers of two (`VerifyDataType`, src/runtime/ndarray.cc @ v0.19.0) and 6.
STORABLE_BITS = frozenset({1, 2, 4, 6, 8, 16, 32, 64, 128})

_PLAIN = {INT: "int", UINT: "uint", FLOAT: "float", BFLOAT: "bfloat", COMPLEX: "complex"}
_SMALL_FLOATS = {
    (7, 8): "float8_e3m4",
    (8, 4): "float4_e2m1fn",
    (8, 8): "float8_e4m3",
    (9, 8): "float8_e4m3b11fnuz",
    (10, 8): "float8_e4m3fn",
    (11, 8): "float8_e4m3fnuz",
    (12, 8): "float8_e5m2",
    (13, 8): "float8_e5m2fnuz",
    (14, 8): "float8_e8m0fnu",
    (15, 6): "float6_e2m3fn",
    (16, 6): "float6_e3m2fn",
    (17, 4): "float4_e2m1fn",
}
_SMALL_FLOAT_CODES = {name: key for key, name in _SMALL_FLOATS.items()}
_OLD_SPELLINGS = {"e4m3_float8": "float8_e4m3fn", "e5m2_float8": "float8_e5m2"}
_DEFAULT_BITS = {"int": 32, "uint": 32, "float": 32, "bfloat": 16, "complex": 64, "handle": 64}
_SHORT = {"i": "int", "u": "uint", "f": "float", "bf": "bfloat"}
_CODES = {name: code for code, name in _PLAIN.items()} | {"handle": HANDLE}

_LANES = r"(?:x(?P<lanes>[0-9]+)|xvscalex(?P<scale>[0-9]+))?"
_PATTERN = re.compile(
    r"(?:(?P<bool>bool)|"
    r"(?P<old>e4m3_float8|e5m2_float8)|"
    r"(?P<small>(?:float|fp|f)[468]_e[0-9]m[0-9](?:b11)?(?:fnuz|fnu|fn)?)|"
    r"custom\[(?P<custom>[^\]]*)\](?P<custom_bits>[0-9]+)?|"
    r"(?P<word>uint|int|float|bfloat|complex|handle)(?P<bits>[0-9]+)?|"
    r"(?P<short>bf|[iuf])(?P<short_bits>[0-9]+))" + _LANES
)


@dataclass(frozen=True, slots=True)
class DataType:
    """One ``DLDataType``.

    Attributes
    ----------
    code
        Type code: 0 int, 1 uint, 2 float, 3 handle, 4 bfloat, 5 complex, 6 bool, 7 to 17 the
        small floats of dlpack 1.1, from 129 on custom types.
    bits
        Bits of one lane.
    lanes
        1 for a scalar; -n for a scalable vector ``xvscalex<n>`` (as TVM keeps it, v0.16+).
    custom_name
        Name of a custom type, where text gave one; not part of the identity.
    """

    code: int
    bits: int
    lanes: int = 1
    custom_name: str = field(default="", compare=False)

    @classmethod
    def parse(cls, text: str) -> DataType:
        """Read a dtype string as TVM and tvm-ffi spell it.

        ``(int|uint|float|bfloat|complex|handle)<bits>?(x<lanes>|xvscalex<n>)?``, ``bool``,
        ``void`` or empty, ``custom[<name>]<bits>``, ``e4m3_float8``, ``float8_e4m3fn`` and its
        kin, and the short forms ``i32 u8 f16 bf16 fp8_e4m3fn f4_e2m1fn`` (``data_type.h``
        @ v0.19.0, ``src/ffi/dtype.cc`` of tvm-ffi).

        Raises
        ------
        ValueError
            The text is not a dtype.
        """
        return _parse(text)

    @classmethod
    def known(cls, text: str) -> DataType | None:
        """Read a dtype string; None if it is not one."""
        try:
            return _parse(text)
        except ValueError:
            return None

    @property
    def name(self) -> str:
        """TVM's spelling, such as ``"float32x4"``; one name for one meaning.

        ``(1, 1, 1)`` and ``(6, 8)`` are both ``"bool"``; a vector of code 1 stays ``"uint1x32"``.
        """
        return self._scalar_name() + self._lanes_name()

    def _scalar_name(self) -> str:
        if self.is_bool:
            return "bool"
        if self.code in _PLAIN:
            return f"{_PLAIN[self.code]}{self.bits}"
        if self.code == HANDLE:
            if self.bits == 0:
                return "void"
            return "handle" if self.bits == 64 else f"handle{self.bits}"
        if self.code >= FIRST_CUSTOM:
            return f"custom[{self.custom_name or self.code}]{self.bits}"
        return _SMALL_FLOATS.get((self.code, self.bits), f"code{self.code}[{self.bits}]")

    def _lanes_name(self) -> str:
        if self.lanes in (0, 1):
            return ""
        return f"x{self.lanes}" if self.lanes > 0 else f"xvscalex{-self.lanes}"

    @property
    def itemsize(self) -> int:
        """Bytes one lane takes in a params file: ``(bits + 7) // 8``, also below one byte."""
        return (self.bits + 7) // 8

    @property
    def is_bool(self) -> bool:
        """Whether it is bool, in the form of TVM <= 0.22 (uint1) or of dlpack (code 6)."""
        return (self.code, self.bits) == (BOOL, 8) or (self.code, self.bits, self.lanes) == _UINT1

    @property
    def is_packed(self) -> bool:
        """Whether several elements share a byte in TVM >= 0.21 (fewer than 8 bits, not bool)."""
        return self.bits < 8 and not self.is_bool

    @property
    def in_bytes(self) -> bool:
        """Whether elements of fewer than 8 bits are known to take a byte in memory."""
        return (self.code, self.bits) == _FLOAT4_OF_V20

    @property
    def numpy_dtype(self) -> np.dtype[Any] | None:
        """The numpy dtype of one lane, little endian, or None where the bytes stay raw.

        Types below one byte have a numpy (``ml_dtypes``) type that takes one byte an element.
        """
        return np.dtype(np.bool_) if self.is_bool else _numpy_dtype(self.code, self.bits)

    @property
    def alternatives(self) -> tuple[DataType, ...]:
        """The other meanings this (code, bits) had in some release of TVM."""
        if (self.code, self.bits) == (BOOL, 8):
            return (DataType(10, 8, self.lanes),)
        if (self.code, self.bits) == (7, 8):
            return (DataType(12, 8, self.lanes),)
        return ()

    def legacy(self) -> DataType:
        """Meaning of a stored type in TVM v0.13 to v0.20 (code 6 e4m3fn, code 7 e5m2)."""
        return self.alternatives[0] if self.alternatives else self

    def __str__(self) -> str:
        return self.name


@lru_cache(maxsize=1024)
def _parse(text: str) -> DataType:
    if text in ("", "void"):
        return DataType(HANDLE, 0, 0)
    match = _PATTERN.fullmatch(text)
    if match is None:
        raise ValueError(
            f"{text!r} is not a dtype; expected for example float32, int8x4, bool, bfloat16, "
            "float8_e4m3fn or custom[name]16"
        )
    lanes = int(match["lanes"]) if match["lanes"] else 1
    if match["scale"]:
        lanes = -int(match["scale"])
    if lanes == 0:
        raise ValueError(f"{text!r} has 0 lanes; expected at least 1")
    if match["bool"]:
        return DataType(BOOL, 8, lanes)
    if match["custom"] is not None:
        custom = match["custom"]
        code = int(custom) if re.fullmatch(r"1[0-9]{2}|2[0-9]{2}", custom) else FIRST_CUSTOM
        return DataType(code, int(match["custom_bits"] or 32), lanes, custom)
    if match["old"]:
        return DataType(*_SMALL_FLOAT_CODES[_OLD_SPELLINGS[match["old"]]], lanes)
    if match["small"]:
        name = re.sub(r"^(?:float|fp|f)", "float", match["small"])
        if name not in _SMALL_FLOAT_CODES:
            raise ValueError(f"{text!r} is not a dtype{meant(name, sorted(_SMALL_FLOAT_CODES))}")
        return DataType(*_SMALL_FLOAT_CODES[name], lanes)
    word = match["word"] or _SHORT[match["short"]]
    bits = int(match["bits"] or match["short_bits"] or _DEFAULT_BITS[word])
    return DataType(_CODES[word], bits, lanes)


@lru_cache(maxsize=1024)
def canonical(text: str) -> str:
    """Return the canonical spelling of a type: ``"uint1"`` is ``"bool"``; others stay."""
    try:
        return DataType.parse(text).name if text else text
    except ValueError:
        return text


@lru_cache(maxsize=1024)
def _numpy_dtype(code: int, bits: int) -> np.dtype[Any] | None:
    if code in (INT, UINT) and bits in (8, 16, 32, 64):
        return np.dtype(f"<{'iu'[code]}{bits // 8}")
    if code == FLOAT and bits in (16, 32, 64):
        return np.dtype(f"<f{bits // 8}")
    if code == COMPLEX and bits in (64, 128):
        return np.dtype(f"<c{bits // 8}")
    name = _SMALL_FLOATS.get((code, bits)) or f"{_PLAIN.get(code, '')}{bits}"
    scalar: type[np.generic] | None = None
    if code in (INT, UINT, BFLOAT) or (code, bits) in _SMALL_FLOATS:
        scalar = getattr(ml_dtypes, name, None)
    if scalar is not None:
        return np.dtype(scalar)
    if code in (INT, UINT) and bits < 8:
        return np.dtype(np.int8 if code == INT else np.uint8)
    return None


def from_numpy(dtype: np.dtype[Any]) -> DataType:
    """Return the TVM type of a numpy (or ``ml_dtypes``) dtype."""
    parsed = DataType.known(dtype.newbyteorder("=").name)
    if parsed is None or parsed.numpy_dtype is None:
        raise ValueError(f"TVM has no data type for numpy's {dtype}")
    return parsed
