"""Lines of a MetaSchedule database: tuning records, and workloads.

``JSONDatabase``, src/meta_schedule/database/{database,json_database}.cc (v0.8 … v0.22) and
src/s_tir/meta_schedule (v0.24 on). A record is ``[workload, [trace, run_secs, target, args_info]]``
with the number of a workload, from 0; a workload is ``["<structural hash>", "<base64>"]``.
"""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import msgspec

from tvmdbg_widgets.formats.tuning.lines import InWords, LineProblem, array, text, whole
from tvmdbg_widgets.formats.tuning.result import Result, read_seconds
from tvmdbg_widgets.model.tuning.measure_errors import ANSOR_FAILED_COST, MeasureError
from tvmdbg_widgets.model.tuning.target import Target

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
        found = msgspec.json.encode([self.workload, self.target.text, self.trace])
        return blake2b(found, digest_size=8).digest()


def read_record(value: list[Any]) -> MetaScheduleRecord:
    """Check a tuning record."""
    number, found = array(value, "record", 2)
    trace, seconds, target, arguments = array(found, "[1]", 4)
    instructions, decisions = array(trace, "[1][0]", 2)
    for i, each in enumerate(array(instructions, "[1][0][0]")):
        text(array(each, f"[1][0][0][{i}]", 4)[0], f"[1][0][0][{i}][0]")
    for i, each in enumerate(array(decisions, "[1][0][1]")):
        array(each, f"[1][0][1][{i}]", 2)
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
    if all(each >= ANSOR_FAILED_COST for each in costs):
        return Result([], error=MeasureError.UNRECORDED)
    return Result(costs, cost=sum(costs) / len(costs))


def _target(value: Any) -> Target:
    if value is None:
        return Target("", "")
    if isinstance(value, str):
        return Target.parse(value)
    if not isinstance(value, dict):
        raise LineProblem("[1][2]", "a target: an object, a string or null", value)
    attrs = {name: _words(each) for name, each in value.items() if name not in ("kind", "keys")}
    keys = value.get("keys", [])
    return Target(
        msgspec.json.encode(value).decode(),
        text(value.get("kind"), "[1][2].kind"),
        tuple(text(each, "[1][2].keys") for each in array(keys, "[1][2].keys")),
        attrs,
    )


def _words(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _shapes(arguments: Any) -> tuple[list[int], ...]:
    """Return the shapes of ``["TENSOR", dtype, shape]`` (``ArgInfo``, arg_info.cc)."""
    shapes = []
    for i, each in enumerate([] if arguments is None else array(arguments, "[1][3]")):
        kind, *rest = array(each, f"[1][3][{i}]") or [None]
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
    """Check a workload, and take the names of its blocks out of its node graph.

    The base64 is of 8 bytes, the length of what follows, and JSON: nodes with ``type_key`` and
    ``attrs`` up to v0.21, with ``type`` and ``data`` since (``ffi::ToJSONGraph``).
    """
    found, encoded = array(value, "workload", 2)
    number = text(found, "[0]")
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
    names = [_block_name(each, nodes) for each in nodes]
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
