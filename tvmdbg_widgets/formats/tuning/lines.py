"""Lines of a file in blocks, and the reasons for unreadable lines."""

from __future__ import annotations

import base64
import binascii
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from typing import Annotated, Any, NamedTuple

import msgspec
from msgspec import Meta

from tvmdbg_widgets.model.base.text import one_line
from tvmdbg_widgets.model.tuning.measure_errors import ANSOR_FAILED_COST, MeasureError
from tvmdbg_widgets.model.tuning.parts import Target
from tvmdbg_widgets.sources.byte_source import ByteSource

#: Bytes of the longest line that is read. Records take about 1 kB; a MetaSchedule workload holds
#: the constants of its function.
LONGEST = 32 << 20
BOM = b"\xef\xbb\xbf"
#: Starts of lines that are no records.
COMMENT = b"# "
_BASE64 = re.compile(rb"(?:[A-Za-z0-9+/]{4})+[A-Za-z0-9+/]{2}[A-Za-z0-9+/=]{2}")
_PICKLED = range(1, 4)
_COLUMNS = frozenset((4, 6))
#: Small enough that its lines stay in the processor's cache until they are read.
_CHUNK, _CHUNK_FAR = 256 << 10, 4 << 20
_SHOWN = 60


class LineProblem(ValueError):  # noqa: N818 (it is told of a line, and the others are read)
    """The reason why a line is no record."""

    def __init__(
        self, field: str, expected: str, found: object, *, unfinished: bool = False
    ) -> None:
        super().__init__()
        self.field = field
        self.expected = expected
        self.unfinished = unfinished
        self._found = found

    @property
    def found(self) -> InWords:
        """Describe the value at fault: few of millions of lines are reported."""
        return self._found if isinstance(self._found, InWords) else InWords(shown(self._found))

    def __str__(self) -> str:
        where = "" if self.field == "line" else f"field {one_line(self.field)}: "
        return f"{where}expected {self.expected}; found {self.found}"


class InWords(str):
    """A value that is already described."""

    __slots__ = ()


def shown(value: object) -> str:
    """Describe a JSON value in short."""
    if isinstance(value, list):
        return f"an array of {len(value):,}"
    if isinstance(value, dict):
        return f"an object of {len(value):,}"
    if isinstance(value, str):
        text = repr(value[:_SHOWN])
        return one_line(text if len(value) <= _SHOWN else f"{text[:-1]}…{text[-1]}")
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def whole(value: Any, field: str, low: int, high: int) -> int:
    """Return an integer within a closed range."""
    if type(value) is not int or not low <= value <= high:
        raise LineProblem(field, f"an integer from {low} to {high}", value)
    return value


def text(value: Any, field: str) -> str:
    """Return a string."""
    if type(value) is not str:
        raise LineProblem(field, "a string", value)
    return value


def array(value: Any, field: str, *lengths: int) -> list[Any]:
    """Return an array, of one of the lengths if given."""
    if type(value) is not list or (lengths and len(value) not in lengths):
        wanted = " or ".join(map(str, lengths))
        raise LineProblem(field, f"an array of {wanted}" if lengths else "an array", value)
    return value


@dataclass(frozen=True, slots=True)
class LineBlock:
    """Consecutive lines."""

    number: int
    offset: int
    lines: list[bytes]
    ended: bool = True
    too_long: int = 0


def blocks(source: ByteSource, offset: int = 0, number: int = 1) -> Iterator[LineBlock]:
    """Yield the lines of a file from an offset on; memory holds at most one chunk and one line."""
    size = _CHUNK_FAR if source.far else _CHUNK
    at, begin = offset, offset
    pieces: list[bytes] = []
    while at < source.size:
        chunk = source.read(at, min(size, source.size - at))
        at += len(chunk)
        pieces.append(chunk)
        if b"\n" in chunk:
            lines = b"".join(pieces).split(b"\n")
            pieces = [lines.pop()]
            yield LineBlock(number, begin, lines)
            begin, number = at - len(pieces[0]), number + len(lines)
        elif at - begin > LONGEST:
            end = _line_end(source, at)
            yield LineBlock(number, begin, [], end < source.size, too_long=end - begin)
            at = begin = min(end + 1, source.size)
            pieces, number = [], number + 1
    if at > begin:
        yield LineBlock(number, begin, [b"".join(pieces)], ended=False)


def _line_end(source: ByteSource, at: int) -> int:
    """Return the end of the line at ``at``: a line feed, or the end of the file."""
    while at < source.size:
        chunk = source.read(at, min(_CHUNK_FAR, source.size - at))
        if (end := chunk.find(b"\n")) >= 0:
            return at + end
        at += len(chunk)
    return at


def pickled(line: bytes) -> str | None:
    """Describe a line of AutoTVM's tab-separated pickle protocol; None for any other line."""
    columns = line.split(b"\t")
    if len(columns) not in _COLUMNS or not all(_BASE64.fullmatch(columns[i]) for i in _PICKLED):
        return None
    target = columns[0].decode("utf-8", "replace")[:_SHOWN]
    version = columns[4].decode("utf-8", "replace")[:_SHOWN] if len(columns) > 4 else "0.1"
    return one_line(f"AutoTVM pickle line {version} for {target}")


_HASH = re.compile(r"[0-9]{1,20}")
_MOST_WORKLOADS = 2**31
_MOST_GRAPH = 4 << 20
_BLOCK_TYPE = re.compile(r".*\.S?Block")


@dataclass(frozen=True)
class MetaScheduleRecord:
    """One tuning record."""

    workload: int
    trace: list[Any]
    result: Result
    target: Target
    shapes: tuple[list[int], ...]

    def digest(self) -> bytes:
        """Return 8 bytes that are equal for equal traces of the same workload and target."""
        encoded = msgspec.json.encode([self.workload, self.target.text, self.trace])
        return blake2b(encoded, digest_size=8).digest()


def read_record(value: list[Any]) -> MetaScheduleRecord:
    """Check a tuning record."""
    number, fields = array(value, "record", 2)
    trace, seconds, target, arguments = array(fields, "[1]", 4)
    instructions, decisions = array(trace, "[1][0]", 2)
    for i, item in enumerate(array(instructions, "[1][0][0]")):
        text(array(item, f"[1][0][0][{i}]", 4)[0], f"[1][0][0][{i}][0]")
    for i, item in enumerate(array(decisions, "[1][0][1]")):
        array(item, f"[1][0][1][{i}]", 2)
    return MetaScheduleRecord(
        whole(number, "[0]", 0, _MOST_WORKLOADS),
        trace,
        _result(seconds),
        _target(target),
        _shapes(arguments),
    )


def _result(seconds: Any) -> Result:
    costs = [] if seconds is None else read_seconds(seconds, "[1][1]")
    # A record is valid if some run is not the failure's (`JSONDatabaseNode::CommitTuningRecord`).
    if all(cost >= ANSOR_FAILED_COST for cost in costs):
        return Result([], error=MeasureError.UNRECORDED)
    return result_of((costs, 0, math.nan, math.nan), "[1][1]", ANSOR_FAILED_COST)


def _target(value: Any) -> Target:
    if value is None:
        return Target("", "")
    if isinstance(value, str):
        return Target.parse(value)
    if not isinstance(value, dict):
        raise LineProblem("[1][2]", "a target: an object, a string or null", value)
    attrs = {name: _words(attr) for name, attr in value.items() if name not in ("kind", "keys")}
    keys = value.get("keys", [])
    return Target(
        msgspec.json.encode(value).decode(),
        text(value.get("kind"), "[1][2].kind"),
        tuple(text(attr, "[1][2].keys") for attr in array(keys, "[1][2].keys")),
        attrs,
    )


def _words(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _shapes(arguments: Any) -> tuple[list[int], ...]:
    """Return the shapes of ``["TENSOR", dtype, shape]`` (``ArgInfo``, arg_info.cc)."""
    shapes = []
    for i, argument in enumerate([] if arguments is None else array(arguments, "[1][3]")):
        kind, *rest = array(argument, f"[1][3][{i}]") or [None]
        if kind == "TENSOR" and len(rest) == 2:
            field = f"[1][3][{i}][2]"
            sizes = array(rest[1], field)
            shapes.append([whole(size, field, -(2**63), 2**63 - 1) for size in sizes])
    return tuple(shapes)


@dataclass(frozen=True)
class StoredWorkload:
    """A workload of a database: its structural hash, and the names of its blocks."""

    hash: str
    name: str


def read_workload(value: list[Any]) -> StoredWorkload:
    """Read a workload with the names of its blocks from the node graph in its base64."""
    digest, encoded = array(value, "workload", 2)
    number = text(digest, "[0]")
    if not _HASH.fullmatch(number):
        raise LineProblem("[0]", "a structural hash in decimal digits", number)
    try:
        content = base64.b64decode(text(encoded, "[1]"), validate=True)
    except (binascii.Error, ValueError):
        raise LineProblem("[1]", "base64", InWords("other text")) from None
    return StoredWorkload(number, _name(content[8:]))


def _name(graph: bytes) -> str:
    if len(graph) > _MOST_GRAPH:
        return ""
    try:
        document = msgspec.json.decode(graph)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return ""
    nodes = document.get("nodes") if isinstance(document, dict) else None
    nodes = nodes if isinstance(nodes, list) else []
    names = [_block_name(node, nodes) for node in nodes]
    return ", ".join(dict.fromkeys(name for name in names if name not in ("", "root")))


def _block_name(node: Any, nodes: list[Any]) -> str:
    if not isinstance(node, dict):
        return ""
    kind, content = node.get("type_key", node.get("type")), node.get("attrs", node.get("data"))
    if not isinstance(kind, str) or not isinstance(content, dict) or not _BLOCK_TYPE.match(kind):
        return ""
    try:
        at = nodes[int(content["name_hint"])]
        name = at.get("repr_str", at.get("data"))
    except (KeyError, IndexError, TypeError, ValueError, AttributeError):
        return ""
    return name if isinstance(name, str) else ""


_LAST_ERROR = max(MeasureError)


#: A result with usual numbers.
Usual = tuple[
    list[Annotated[float, Meta(ge=0, le=ANSOR_FAILED_COST)]],
    Annotated[int, Meta(ge=0, le=int(_LAST_ERROR))],
    Annotated[float, Meta(ge=0, lt=2**63)],
    Annotated[float, Meta(ge=0, lt=2**63)],
]


class Result(NamedTuple):
    """One result; numbers are columns of :class:`~.Trials` of the same name."""

    costs: list[float]
    odd: str = ""
    cost: float = math.nan
    error: int = 0
    all_cost: float = math.nan
    timestamp: float = math.nan


MEASURED = Result._fields[2:]
_NUMBERS = MEASURED[2:]


def read_result(value: Any, field: str, failed_cost: float) -> Result:
    """Check a result in a record."""
    costs, error, *numbers = array(value, field, 2 + len(_NUMBERS))
    costs = read_seconds(costs, f"{field}[0]")
    error = whole(error, f"{field}[1]", 0, _LAST_ERROR)
    numbers = [_number(item, f"{field}[{i}]") for i, item in enumerate(numbers, 2)]
    return result_of((costs, error, *numbers), field, failed_cost)


def result_of(
    checked: tuple[list[float], int, *tuple[float, ...]], field: str, failed_cost: float
) -> Result:
    """Return a failed or measured trial from checked numbers."""
    costs, error, *numbers = checked
    if error:
        odd = "" if costs == [failed_cost] else f"error {error} with costs {costs[:3]}"
        return Result([], odd, math.nan, error, *numbers)
    if not costs:
        raise LineProblem(f"{field}[0]", "a cost, as there is no error", costs)
    cost = sum(costs) / len(costs)
    if not math.isfinite(cost):
        raise LineProblem(f"{field}[0]", "costs whose mean is finite", cost)
    odd = "no error with the cost of a failed trial" if costs == [failed_cost] else ""
    return Result(costs, odd, cost, 0, *numbers)


def read_seconds(value: Any, field: str) -> list[float]:
    """Return an array of seconds, none of them negative."""
    numbers = [_number(item, f"{field}[{i}]") for i, item in enumerate(array(value, field))]
    for i, number in enumerate(numbers):
        if number < 0:
            raise LineProblem(f"{field}[{i}]", "seconds, 0 or more", number)
    return numbers


def _number(value: Any, field: str) -> float:
    if type(value) not in (int, float):
        raise LineProblem(field, "a number", value)
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise LineProblem(field, "a finite number", value)
    return number
