"""From bytes to the JSON object of a graph: encodings, comments, a string around it."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass
from typing import Any

from tvmdbg_widgets.formats.tvm.graph.log import GraphLog
from tvmdbg_widgets.model.base.errors import FormatError
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.text import paired_json

# The last branch takes an unterminated string to the end, so that no text is scanned twice.
_STRING = r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)'
_COMMENT = re.compile(rf"({_STRING})|\#[^\r\n]*", re.DOTALL)
_TRAILING_COMMA = re.compile(rf"({_STRING})|,(?=\s*[\]}}])", re.DOTALL)
_HINT = "Is it the graph, whole? TVM writes it with lib.get_graph_json()."
_OTHER_FILES = {
    "traceEvents": "This is an execution trace, not a graph.",
    "calls": "This is a profiling report, not a graph.",
    "device_metrics": "This is a profiling report, not a graph.",
    "records": "This is a tensor cache, not a graph.",
}


@dataclass(frozen=True, slots=True)
class GraphDocument:
    """The JSON object of a graph file."""

    top: dict[str, Any]
    quoted: bool
    lenient: bool
    size: int


class _GraphJsonParser:
    def __init__(self, log: GraphLog, field: str) -> None:
        self.log = log
        self.field = field
        self.repeated: Counter[str] = Counter()
        self.constants: Counter[str] = Counter()
        self.lenient = False

    def parse(self, text: str) -> Any:
        text, count = paired_json(text)
        if count:
            found = f"{counted(count, 'single one')} in \\u escapes"
            self.log.add("lone-surrogate", self.field, found)
        try:
            value = self._decode(text)
        except json.JSONDecodeError as error:
            value = self._decode_leniently(text, error)
        self._report()
        return value

    def _decode(self, text: str) -> Any:
        self.repeated.clear()
        self.constants.clear()
        # TVM's writer leaves control characters in strings as they are.
        decoder = json.JSONDecoder(
            strict=False, object_pairs_hook=self._object, parse_constant=self._constant
        )
        start = len(text) - len(text.lstrip(" \t\r\n\ufeff"))
        value, end = decoder.raw_decode(text, start)
        rest = text[end:].strip(" \t\r\n\0")
        if rest:
            if rest[0] == "#" or isinstance(value, str):
                raise json.JSONDecodeError("Extra data", text, end)
            expected = f"nothing behind the JSON value (character {end})"
            found = counted(len(rest), "more character")
            self.log.add("trailing-data", self.field, found, expected=expected)
        return value

    def _decode_leniently(self, text: str, error: json.JSONDecodeError) -> Any:
        counts: Counter[str] = Counter()

        def blank(match: re.Match[str]) -> str:
            if match[1] is not None:
                return match[0]
            counts["comments" if match[0][0] == "#" else "trailing commas"] += 1
            return " " * len(match[0])

        bare = _TRAILING_COMMA.sub(blank, _COMMENT.sub(blank, text))
        if not counts:
            raise error
        value = self._decode(bare)
        self.lenient = True
        told = " and ".join(f"{count} {what}" for what, count in sorted(counts.items()))
        found = f"JSON with {told}, as in TVM's documentation"
        self.log.add("lenient-json", self.field, found)
        return value

    def _object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        result = dict(pairs)
        if len(result) != len(pairs):
            seen = Counter(key for key, _ in pairs)
            self.repeated.update(key for key, count in seen.items() if count > 1)
        return result

    def _constant(self, text: str) -> float:
        self.constants[text] += 1
        return float(text.replace("Infinity", "inf"))

    def _report(self) -> None:
        for key, count in self.repeated.items():
            found = f"repeated in {counted(count, 'object')}"
            self.log.add("duplicate-key", f"{self.field}: key {key!r}", found)
        for text, count in self.constants.items():
            self.lenient = True
            self.log.add("json-constant", self.field, f"{text}, {counted(count, 'time')}")


def parse_document(data: bytes, log: GraphLog) -> GraphDocument:
    """Parse the bytes of a graph file down to its JSON object."""
    text = _decoded(data, log)
    value, lenient = _parsed(text, "file", data, log)
    quoted = isinstance(value, str)
    if quoted:
        text = value
        value, inner_lenient = _parsed(text, "graph inside the JSON string", None, log)
        lenient = lenient or inner_lenient
    if isinstance(value, dict) and isinstance(value.get("nodes"), list):
        return GraphDocument(value, quoted, lenient, len(text))
    field, expected, hint = "nodes", "a list of nodes", _HINT
    if not isinstance(value, dict):
        field = "file"
        expected = "a JSON object with nodes, arg_nodes, heads, attrs and node_row_ptr"
        found = f"a JSON {_KIND.get(type(value), 'number')}"
    else:
        hint = next((told for key, told in _OTHER_FILES.items() if key in value), _HINT)
        has = ", ".join(repr(key[:40]) for key in list(value)[:6])
        found = f"an object with keys {has}" if has else "an empty object"
        if "nodes" in value:
            found = f"a JSON {_KIND.get(type(value['nodes']), 'number')}"
    raise FormatError(
        "not a graph", file=log.file, field=field, expected=expected, found=found, hint=hint
    )


_KIND: dict[type, str] = {
    str: "string",
    list: "list",
    dict: "object",
    type(None): "null",
    bool: "truth value",
}


def _decoded(data: bytes, log: GraphLog) -> str:
    if not data.strip(b" \t\r\n\0"):
        raise FormatError(
            "the file is empty",
            file=log.file,
            offset=0,
            expected="a graph in JSON",
            found=f"{counted(len(data), 'byte')} of nothing",
            hint=_HINT,
        )
    encoding = json.detect_encoding(data)
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        field, found = f"byte {error.start}", f"byte 0x{data[error.start]:02x}"
        log.add("not-unicode", field, found, expected=f"text in {error.encoding}")
        return data.decode(encoding, errors="replace")


def _parsed(text: str, field: str, data: bytes | None, log: GraphLog) -> tuple[Any, bool]:
    parser = _GraphJsonParser(log, field)
    offset, expected = None, "JSON"
    try:
        return parser.parse(text), parser.lenient
    except json.JSONDecodeError as error:
        what = f"not JSON: {error.msg[:1].lower()}{error.msg[1:]}"
        field += f", line {error.lineno}, column {error.colno}"
        if data is not None:
            before = text[: error.pos]
            offset = len(before.encode(json.detect_encoding(data), errors="replace"))
        found = repr(text[error.pos : error.pos + 20]) if error.pos < len(text) else "the end"
    except RecursionError:
        what, expected = "nested too deeply", "lists of lists, four deep"
        found = "more levels than can be read"
    except ValueError as error:
        what, expected = "a number too long to be read", "integers of 64 bits"
        found = str(error).partition(":")[0].lower()
    raise FormatError(
        what, file=log.file, field=field, offset=offset, expected=expected, found=found, hint=_HINT
    )
