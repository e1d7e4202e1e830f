"""PNG files of indexed colors."""

from __future__ import annotations

import base64
import struct
import zlib

import numpy as np
import numpy.typing as npt

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_INDEXED = 3
_MOST_COLORS = 256


def png(codes: npt.NDArray[np.uint8], colors: npt.NDArray[np.uint8]) -> bytes:
    """Write a picture as PNG (ISO/IEC 15948), one byte a pixel.

    Parameters
    ----------
    codes : uint8 [rows, cols]
        Rows of ``colors``.
    colors : uint8 [n, 3]
        At most 256.

    Raises
    ------
    ValueError
        A picture without pixels, or codes without a color.
    """
    rows, cols = codes.shape
    if not rows or not cols:
        raise ValueError(f"a picture of {rows} x {cols} pixels cannot be written as PNG")
    if not 0 < len(colors) <= _MOST_COLORS or codes.max() >= len(colors):
        raise ValueError(f"codes up to {codes.max()} with {len(colors)} colors")
    lines = np.zeros((rows, cols + 1), np.uint8)
    lines[:, 1:] = codes
    header = struct.pack(">IIBBBBB", cols, rows, 8, _INDEXED, 0, 0, 0)
    return b"".join(
        [
            _SIGNATURE,
            _chunk(b"IHDR", header),
            _chunk(b"PLTE", colors.tobytes()),
            _chunk(b"IDAT", zlib.compress(lines.tobytes(), 9)),
            _chunk(b"IEND", b""),
        ]
    )


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def data_uri(data: bytes) -> str:
    """Return a PNG as an address that holds the picture itself."""
    return f"data:image/png;base64,{base64.b64encode(data).decode('ascii')}"
