"""A saved page as text: all that it holds but its code, its stored answers unpacked."""

import base64
import gzip
import hashlib
import json
import re
import struct
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np


def page(path: Path) -> str:
    """A saved page without its code: words and picture, state of its views, stored answers."""
    html = path.read_text("utf-8")
    html = re.sub(r"(?s)<style>.*?</style>|<script>.*?</script>|<meta [^>]*Policy.*?>", "", html)
    html = re.sub(r'<script [^>]*id="tvmdbg-(style|script)">[^<]*</script>', "", html)
    html = re.sub(r"data:image/svg\+xml,[^\"]*", lambda found: unquote(found[0]), html)
    html = re.sub(r'(?<=application/json" id="tvmdbg-settings">)[^<]*', _state, html)
    return re.sub(r'(<script type="application/octet-stream"[^>]*>)([^<]*)', _stored, html)


def _state(found: re.Match[str]) -> str:
    return json.dumps(json.loads(found[0]), indent=1)


def _stored(found: re.Match[str]) -> str:
    data = gzip.decompress(base64.b64decode(found[2]))
    (size,) = struct.unpack_from("<I", data, 8)
    head, body = json.loads(data[16 : 16 + size]), data[16 + size :]
    told = [found[1], f"sha256 {hashlib.sha256(body).hexdigest()}"]
    for question, (result, *places) in head["replies"].items():
        columns = result.get("columns", ()) if places and isinstance(result, dict) else ()
        for column in columns:
            at, size = places[0]
            values = _values(column, body[at : at + size])
            told.append(f"{question}.{column['name']} ({len(values)}): {values[:400]}")
    return "\n".join([*told, json.dumps(head, indent=1)])


def _values(column: dict[str, Any], buffer: bytes) -> list[Any]:
    def numbers(kind: str, offset: int, count: int) -> Any:
        part = np.frombuffer(buffer, "u1", count * int(kind[1]), offset)
        found = np.frombuffer(part.reshape(int(kind[1]), count).T.tobytes(), f"<{kind}")
        return np.cumsum(found, dtype="<i4") if kind == "i4" else found

    if column["kind"] != "strings":
        return list(numbers(column["kind"], column["offset"], column["length"]).tolist())
    ends = numbers("i4", column["offsets"], column["unique"] + 1) + column["bytes"]
    unique = [buffer[begin:end].decode() for begin, end in pairwise(ends)]
    return [unique[code] for code in numbers("i4", column["codes"], column["length"])]
