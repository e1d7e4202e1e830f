"""Columns as one header and one buffer, as ``js/src/shared/client/columns.ts`` unpacks them."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

import numpy as np

from tvmdbg_widgets.engine.wire import check
from tvmdbg_widgets.model.base.numbers import StringColumn, counted

#: Kinds of arrays that JavaScript has.
_KINDS = ("u1", "u2", "u4", "i4", "f4", "f8")
_ALIGNMENT = 8


def pack(
    columns: Mapping[str, np.ndarray[Any, Any] | StringColumn], answer: str = ""
) -> tuple[list[dict[str, Any]], bytes]:
    """Pack columns into a list of headers and one buffer."""
    headers: list[dict[str, Any]] = []
    buffer = bytearray()
    for name, column in columns.items():
        if isinstance(column, StringColumn):
            headers.append({"name": name, "kind": "strings", **_strings(column, buffer)})
            continue
        array = np.ascontiguousarray(column)
        kind = _kind(name, array)
        headers.append(
            {
                "name": name,
                "kind": kind,
                "offset": _append(buffer, array, kind),
                "length": array.size,
            }
        )
    if answer:
        check(answer, headers)
    return headers, bytes(buffer)


def packed_text(
    columns: Mapping[str, np.ndarray[Any, Any] | StringColumn], answer: str = ""
) -> dict[str, Any]:
    """Pack columns as JSON, as ``js/src/engine/engine.ts`` unpacks them."""
    headers, buffer = pack(columns, answer)
    return {"columns": headers, "base64": base64.b64encode(buffer).decode("ascii")}


def _kind(name: str, array: np.ndarray[Any, Any]) -> str:
    if array.dtype == np.bool_:
        return "u1"
    kind: str = array.dtype.str[1:]
    if kind in _KINDS:
        return kind
    raise TypeError(f"column {name!r} is {array.dtype}; expected one of {', '.join(_KINDS)}")


def _append(buffer: bytearray, array: np.ndarray[Any, Any], kind: str) -> int:
    buffer.extend(b"\0" * (-len(buffer) % _ALIGNMENT))
    offset = len(buffer)
    buffer.extend(array.astype(f"<{kind}", copy=False).tobytes())
    return offset


def _strings(column: StringColumn, buffer: bytearray) -> dict[str, int]:
    encoded = [text.encode("utf-8", "replace") for text in column.unique]
    ends = np.cumsum([0, *map(len, encoded)])
    if ends[-1] > np.iinfo(np.int32).max:
        raise TypeError(
            f"{counted(ends[-1], 'byte')} of text in one column; at most 2**31 - 1 can be sent"
        )
    where = {
        "length": len(column),
        "unique": len(encoded),
        "codes": _append(buffer, column.codes, "i4"),
        "offsets": _append(buffer, ends.astype(np.int32), "i4"),
    }
    where["bytes"] = len(buffer)
    buffer.extend(b"".join(encoded))
    return where
