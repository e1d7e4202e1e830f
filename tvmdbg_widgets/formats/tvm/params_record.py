"""Header of one array in a params file.

``SaveDLTensor`` and ``NDArray::Load``, include/tvm/runtime/ndarray.h @ v0.5 to v0.21,
include/tvm/runtime/tensor.h @ v0.22 to v0.26: little endian, nothing aligned::

     0 u64 magic   8 u64 reserved   16 i32 device type   20 i32 device id   24 i32 ndim
    28 dtype, narrow: u8 code, u8 bits, u16 lanes; wide: u16 code, u16 bits, i32 lanes
    then ndim × i64 shape, i64 nbytes, nbytes of values in C order
"""

from __future__ import annotations

import math
import struct
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from tvmdbg_widgets.model.dtypes import STORABLE_BITS, DataType
from tvmdbg_widgets.model.errors import FormatError

if TYPE_CHECKING:
    from tvmdbg_widgets.model.readahead import ReadAhead

Layout: TypeAlias = Literal["narrow", "wide"]

ARRAY_MAGIC = 0xDD5E40F096B4A13F
CPU = 1
#: numpy's limit; TVM itself sets none.
MAX_NDIM = 64
#: Beyond it the field means a scalable vector, which no array has.
MAX_LANES = 0x7FFF

HEADERS: dict[Layout, struct.Struct] = {
    "narrow": struct.Struct("<QQiiiBBH"),
    "wide": struct.Struct("<QQiiiHHi"),
}
#: The byte after the first of the dtype: ``bits`` (never 0) or the high byte of ``code`` (always).
DECIDING_BYTE = 29


class RecordHeader(NamedTuple):
    """Header values of one array.

    Attributes
    ----------
    dtype, shape, nbytes
        As stored.
    offset
        Where the values start.
    odd
        Ignored fields that are not zero.
    """

    dtype: DataType
    shape: tuple[int, ...]
    nbytes: int
    offset: int
    odd: tuple[str, ...]


class HeaderReader:
    """Reads and checks the headers of one file.

    Parameters
    ----------
    ahead
        The file.
    file
        Its name in messages.
    """

    def __init__(self, ahead: ReadAhead, file: str) -> None:
        self._ahead = ahead
        self._file = file

    def detect_layout(self, offset: int, label: str) -> Layout:
        """Tell the two dtype layouts apart by one byte of the record at ``offset``.

        Raises
        ------
        FormatError
            The file ends before that byte.
        """
        self._require(offset, DECIDING_BYTE + 1, f"{label}: header")
        return "wide" if self._ahead.bytes(offset + DECIDING_BYTE, 1) == b"\0" else "narrow"

    def read(self, offset: int, layout: Layout, label: str) -> RecordHeader:
        """Read and check the header at ``offset``.

        Parameters
        ----------
        layout
            Of the dtype field.
        label
            What to call the record in messages.

        Raises
        ------
        FormatError
            A field is not what the format allows, or header or values lie beyond the file's end.
        """
        header = HEADERS[layout]
        self._require(offset, header.size, f"{label}: header")
        position = self._ahead.locate(offset, header.size)
        fields = header.unpack_from(self._ahead.buffer, position)
        magic, reserved, device_type, device_id, ndim, code, bits, lanes = fields
        if not (
            magic == ARRAY_MAGIC
            and device_type == CPU
            and 0 <= ndim <= MAX_NDIM
            and code <= 0xFF
            and bits in STORABLE_BITS
            and 1 <= lanes <= MAX_LANES
        ):
            raise self._wrong_field(fields, offset, layout, label)
        dtype = _data_type(code, bits, lanes)
        sizes = _sizes(ndim)
        self._require(offset + header.size, sizes.size, f"{label}: shape and nbytes")
        position = self._ahead.locate(offset + header.size, sizes.size)
        *dims, nbytes = sizes.unpack_from(self._ahead.buffer, position)
        shape = tuple(dims)
        start = offset + header.size + sizes.size
        self._check_size(dtype, shape, nbytes, start, label=label)
        self._require(start, nbytes, f"{label}: values")
        odd: tuple[str, ...] = ()
        if reserved or device_id:
            pairs = (("reserved", reserved), ("device_id", device_id))
            odd = tuple(f"{name} is {value}" for name, value in pairs if value)
        return RecordHeader(dtype, shape, nbytes, start, odd)

    def _wrong_field(
        self, fields: tuple[int, ...], offset: int, layout: Layout, label: str
    ) -> FormatError:
        magic, _, device_type, _, ndim, code, bits, lanes = fields
        wide = layout == "wide"
        checks = (
            ("magic", 0, magic == ARRAY_MAGIC, f"{ARRAY_MAGIC:#018x}", f"{magic:#018x}"),
            ("device_type", 16, device_type == CPU, "1 (CPU)", device_type),
            ("ndim", 24, 0 <= ndim <= MAX_NDIM, f"0 to {MAX_NDIM}", ndim),
            ("dtype code", 28, code <= 0xFF, "a type code up to 255", code),
            (
                "dtype bits",
                30 if wide else 29,
                bits in STORABLE_BITS,
                f"one of {sorted(STORABLE_BITS)}",
                bits,
            ),
            (
                "dtype lanes",
                32 if wide else 30,
                1 <= lanes <= MAX_LANES,
                f"1 to {MAX_LANES}",
                lanes,
            ),
        )
        name, where, _, expected, found = next(check for check in checks if not check[2])
        return FormatError(
            f"not a valid {layout} array header",
            file=self._file,
            field=f"{label}: {name}",
            offset=offset + where,
            expected=expected,
            found=found,
            hint="The file is damaged here or before." if name == "magic" else None,
        )

    def _check_size(
        self, dtype: DataType, shape: tuple[int, ...], nbytes: int, start: int, *, label: str
    ) -> None:
        count = 1
        for dim in shape:
            count *= dim
        expected = count * dtype.itemsize
        # TVM 0.6 counts bits // 8 bytes an element, which is 0 for bool.
        plausible = nbytes in (expected, count * (dtype.bits // 8))
        if plausible and expected > 0 and (not shape or min(shape) > 0):
            return
        first_dim = start - 8 * (len(shape) + 1)
        axis = next((axis for axis, dim in enumerate(shape) if dim < 0), None)
        if axis is not None:
            raise FormatError(
                "negative dimension",
                file=self._file,
                field=f"{label}: shape[{axis}]",
                offset=first_dim + 8 * axis,
                expected="0 or more",
                found=shape[axis],
            )
        if not plausible:
            raise FormatError(
                "the number of bytes does not fit shape and type",
                file=self._file,
                field=f"{label}: nbytes",
                offset=start - 8,
                expected=f"{expected} (shape {list(shape)}, {dtype})",
                found=nbytes,
            )
        if math.prod(dim for dim in shape if dim) * dtype.itemsize >= 1 << 63:
            raise FormatError(
                "the shape is beyond what any array can have",
                file=self._file,
                field=f"{label}: shape",
                offset=first_dim,
                expected="less than 2**63 bytes over the dimensions that are not 0",
                found=list(shape),
            )

    def _require(self, offset: int, length: int, field: str) -> None:
        if offset + length > self._ahead.size:
            raise FormatError(
                "the file ends too early",
                file=self._file,
                field=field,
                offset=offset,
                expected=f"{length} bytes",
                found=f"{max(0, self._ahead.size - offset)} bytes",
                hint="The file is cut off: copy or write it again.",
            )


@lru_cache(maxsize=256)
def _data_type(code: int, bits: int, lanes: int) -> DataType:
    return DataType(code, bits, lanes)


@lru_cache(maxsize=MAX_NDIM + 1)
def _sizes(ndim: int) -> struct.Struct:
    return struct.Struct(f"<{ndim + 1}q")
