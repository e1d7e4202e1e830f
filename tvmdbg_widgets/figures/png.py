"""PNG files of indexed colors."""

from __future__ import annotations

import base64
import struct
import zlib

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.base.numbers import counted

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_INDEXED = 3
_MOST_COLORS = 256


def png(codes: npt.NDArray[np.uint8], colors: npt.NDArray[np.uint8]) -> bytes:
    """Write a picture as PNG (ISO/IEC 15948), one byte a pixel."""
    rows, cols = codes.shape
    if not rows or not cols:
        raise ValueError(f"a picture of {rows} x {counted(cols, 'pixel')} cannot be written as PNG")
    if not 0 < len(colors) <= _MOST_COLORS or codes.max() >= len(colors):
        raise ValueError(f"codes up to {codes.max()} with {counted(len(colors), 'color')}")
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


def png_of(pixels: npt.NDArray[np.uint32]) -> bytes:
    """Write opaque pixels as PNG."""
    colors = pixels & np.uint32(0xFFFFFF)
    used, at = np.unique(colors, return_inverse=True)
    for lost in range(1, 8):
        if len(used) <= _MOST_COLORS:
            break
        kept = np.uint32(0x010101 * (0xFF >> lost << lost))
        used, at = np.unique(colors & kept, return_inverse=True)
    table = used.astype("<u4").view(np.uint8).reshape(-1, 4)[:, :3]
    return png(at.reshape(pixels.shape).astype(np.uint8), np.ascontiguousarray(table))


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def data_uri(data: bytes) -> str:
    """Return a PNG as an address that holds the picture itself."""
    return f"data:image/png;base64,{base64.b64encode(data).decode('ascii')}"
