"""Columns as they travel, read by the rules alone and not by our own code."""

from typing import Any

import numpy as np

DTYPES = {"u1": "<u1", "u2": "<u2", "u4": "<u4", "i4": "<i4", "f4": "<f4", "f8": "<f8"}


def unpack(headers: list[dict[str, Any]], buffer: bytes) -> dict[str, Any]:
    """Arrays and lists of strings by name."""
    return {header["name"]: _column(header, buffer) for header in headers}


def cells(headers: list[dict[str, Any]], buffer: bytes) -> dict[str, np.ndarray[Any, Any]]:
    """Cells with what is left out because it follows from the mean."""
    found = unpack(headers, buffer)
    mean = found["mean"]
    return {"minimum": mean, "maximum": mean, "flags": np.zeros(len(mean), np.uint8), **found}


def _column(header: dict[str, Any], buffer: bytes) -> Any:
    if header["kind"] != "strings":
        return _numbers(buffer, header["kind"], header["offset"], header["length"])
    codes = _numbers(buffer, "i4", header["codes"], header["length"])
    ends = _numbers(buffer, "i4", header["offsets"], header["unique"] + 1) + header["bytes"]
    unique = [buffer[ends[i] : ends[i + 1]].decode() for i in range(header["unique"])]
    return [unique[code] for code in codes]


def _numbers(buffer: bytes, kind: str, offset: int, length: int) -> np.ndarray[Any, Any]:
    assert offset % 8 == 0
    return np.frombuffer(buffer, DTYPES[kind], length, offset)
