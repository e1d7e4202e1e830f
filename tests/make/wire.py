"""Writes tests/data/wire: columns as Python packs them, with the values that went in.

``python tests/make/wire.py`` from the repository's root; js/tests/shared/columns.test.ts
unpacks them.
"""

import base64
import json
from pathlib import Path
from typing import Any

import numpy as np

from tvmdbg_widgets.engine import pack
from tvmdbg_widgets.model.base.columns import StringColumn

FOLDER = Path(__file__).parents[1] / "data" / "wire"
STRINGS = ("", "conv2d", "名前", "conv2d", "a\nb", "😀", "</script>", "\x00")


def columns() -> dict[str, np.ndarray[Any, Any] | StringColumn]:
    """One column of each kind, of lengths that leave gaps between them, and empty ones."""
    return {
        "flags": np.array([True, False, True]),
        "bytes": np.array([0, 1, 127, 128, 255], np.uint8),
        "codes": np.array([0, 1, 2**16 - 1], np.uint16),
        "counts": np.array([0, 2**31, 2**32 - 1], np.uint32),
        "ids": np.array([0, -1, 2**31 - 1, -(2**31), 7], np.int32),
        "means": np.array([0.0, -0.0, 1.5, 3.4028234663852886e38, 1e-45], np.float32),
        "times": np.array([5e-324, -1.7976931348623157e308, 0.1, 2**53 + 2.0]),
        "special": np.array([np.nan, np.inf, -np.inf]),
        "names": StringColumn.from_strings(STRINGS),
        "nothing": np.zeros(0),
        "no_names": StringColumn.from_strings([]),
        "last": np.array([42], np.uint8),
    }


def told(column: np.ndarray[Any, Any] | StringColumn) -> list[Any]:
    """The values of a column as JSON; what JSON has no number for as text."""
    if isinstance(column, StringColumn):
        return [column[i] for i in range(len(column))]
    plain = [value if np.isfinite(value) else str(value) for value in column.tolist()]
    return [int(value) for value in plain] if column.dtype == np.bool_ else plain


def written() -> bytes:
    """Content of columns.json."""
    given = columns()
    headers, buffer = pack(given)
    content = {
        "headers": headers,
        "buffer": base64.b64encode(buffer).decode(),
        "values": {name: told(each) for name, each in given.items()},
    }
    return (json.dumps(content, ensure_ascii=False, indent=1) + "\n").encode()


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / "columns.json").write_bytes(written())
