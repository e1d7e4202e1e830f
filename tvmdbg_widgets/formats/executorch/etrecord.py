"""Reader of ETRecords: the programs of a model and the maps that tie run-time ids to them.

``parse_etrecord`` in ``devtools/etrecord/_etrecord.py`` @ v0.2.0 to v1.4.1. Weights, constants and
example inputs are not read; nothing is unpickled.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

import msgspec

from tvmdbg_widgets.formats.family import Kind
from tvmdbg_widgets.formats.json_fields import convert, decode, parse
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.text import (
    FormatError,
    IssueLog,
    Issues,
    one_line,
)
from tvmdbg_widgets.model.executorch.etrecord import DelegateCall, ETRecord, HandlesByInstruction
from tvmdbg_widgets.sources.byte_source import ByteSource
from tvmdbg_widgets.sources.unpacking import (
    LOCAL,
    LOCAL_HEADER,
    MOST_MEMBERS,
    ZipDirectory,
    ZipMember,
    read_directory,
)

IDENTIFIER: Final = "ETRECORD_V0"
_EDGE: Final = "edge_dialect_exported_program"
_STREAMED: Final = 8
_TENSORS: Final = ("reference_outputs", "representative_inputs")
#: Bytes of a map; of 100,000 handles it has 2 MB.
_MOST_MAP: Final = 64 << 20
#: Ends of members with weights, constants and example inputs.
_SAVED: Final = ("state_dict", "constants", "example_inputs")
_PICKLE: Final = b"\x80"


def sniff(head: bytes) -> bool:
    """Return whether a zip archive has the member ETRECORD_V0; stored members are stepped over."""
    at = 0
    while at + LOCAL.size <= len(head):
        magic, flags, packed, length, extra = LOCAL.unpack_from(head, at)
        if magic != LOCAL_HEADER:
            return False
        name = at + LOCAL.size
        if head[name : name + length] == IDENTIFIER.encode():
            return True
        if flags & _STREAMED and not packed:
            return False
        at = name + length + extra + packed
    return False


def is_etrecord(source: ByteSource) -> bool:
    """Return whether the directory of an archive is an ETRecord's, with or without identifier."""
    if source.read(0, min(4, source.size)) != LOCAL_HEADER:
        return False
    try:
        members = read_directory(source).members
    except FormatError:
        return False
    return IDENTIFIER in members or any(name.startswith(_EDGE) for name in members)


def read_etrecord(source: ByteSource) -> ETRecord:
    """Read an ETRecord of any version."""
    directory = read_directory(source)
    if IDENTIFIER not in directory.members:
        raise FormatError(
            "this zip archive is no ETRecord",
            file=source.name,
            expected=f"a member {IDENTIFIER}",
            found=one_line(", ".join(list(directory.members)[:5])) or "no members",
            hint="Pass the file that generate_etrecord or ETRecord.save wrote, as it was written.",
        )
    reading = _Reading(source.name, directory)
    for name, member in directory.members.items():
        reading.take(name, member)
    if not reading.fields:
        reason = next(iter(reading.unread.values()), "it holds no program and no map")
        raise FormatError(
            "nothing in this ETRecord can be read",
            file=source.name,
            found=reason,
            hint="Write it again with generate_etrecord or ETRecord.save.",
        )
    return ETRecord(
        source.name, **reading.fields, unread=reading.unread, issues=Issues(reading.issues)
    )


class _Reading:
    def __init__(self, file: str, directory: ZipDirectory) -> None:
        self.file = file
        self.fields: dict[str, Any] = {}
        self.unread: dict[str, str] = {}
        self.issues = IssueLog(file)
        for name, problem in directory.refused.items():
            self._leave_out(name, problem.problem, str(problem))
        for name, reason in directory.left_out.items():
            self._leave_out(name, reason, reason)
        if directory.more:
            reason = f"only the first {MOST_MEMBERS:,} members are looked at"
            self._leave_out(counted(directory.more, "member"), reason, reason)
        for name in dict.fromkeys(directory.twice):
            text = f"{name}: several members have this name; the last one counts"
            self.issues.error("etrecord-member-twice", text)

    def take(self, name: str, member: ZipMember) -> None:
        try:
            self._read(name, member)
        except FormatError as problem:
            self._leave_out(name, problem.problem, str(problem))
        except RecursionError:
            reason = "it is nested too deeply to be read"
            self._leave_out(name, reason, reason)

    def _read(self, name: str, member: ZipMember) -> None:
        file = member.source.name
        if name == "debug_handle_map":
            self.fields[name] = read_debug_handles(member.read(_MOST_MAP), file)
        elif name == "delegate_map":
            self.fields[name], twice = read_delegate_map(member.read(_MOST_MAP), file)
            named = ", ".join(map(repr, twice[:5])) + (" …" if len(twice) > 5 else "")
            text = (
                "delegate_map: a backend gave several calls the same identifier as text "
                f"({named}); the last one counts"
            )
            if twice:
                rule = "delegate-identifiers-collide"
                self.issues.warning(rule, one_line(text))
        elif name == "instruction_id_to_num_outs_map":
            self.fields["num_outputs"] = decode(
                member.read(_MOST_MAP), dict[str, dict[str, int]], file
            )
        elif name == "export_graph_id":
            self.fields[name] = decode(member.read(_MOST_MAP), int, file)
        elif name in _TENSORS:
            self._read_tensors(name, member)
        elif name != IDENTIFIER and not name.endswith(_SAVED):
            self._read_program(name, member)

    def _read_program(self, name: str, member: ZipMember) -> None:
        from tvmdbg_widgets.formats.executorch.exported_program import read_program

        program = read_program(member.read(), name, member.source.name)
        if name == "exported_program":
            self.fields[name] = program
        elif name == _EDGE:
            self.fields["edge_programs"] = {
                "forward": program,
                **self.fields.get("edge_programs", {}),
            }
        elif name.startswith(f"{_EDGE}/"):
            self.fields.setdefault("edge_programs", {})[name.removeprefix(f"{_EDGE}/")] = program
        else:
            self.fields.setdefault("graph_map", {})[name] = program

    def _read_tensors(self, name: str, member: ZipMember) -> None:
        from tvmdbg_widgets.formats.executorch.torch_file import read_torch_file

        source = member.source
        if source.read(0, min(1, source.size)) == _PICKLE:
            reason = (
                "ExecuTorch up to 1.2 wrote it as a plain pickle, which is not read: unpickling "
                "runs code"
            )
            self.unread[name] = reason
            self.issues.warning("etrecord-pickle", f"{name} is left out: {reason}")
            return
        value = read_torch_file(source)
        if name == "reference_outputs":
            value = _by_method(value, source.name)
        elif not isinstance(value, list | tuple):
            raise _other_values(source.name, "a list", value)
        self.fields[name] = value

    def _leave_out(self, name: str, reason: str, text: str) -> None:
        name = one_line(name)
        self.unread[name] = reason
        self.issues.error("etrecord-member-unread", f"{name} is left out: {text}")


def _by_method(value: Any, file: str) -> dict[str, list[tuple[Any, ...]]]:
    if not isinstance(value, dict):
        raise _other_values(file, "outputs by method", value)
    outputs: dict[str, list[tuple[Any, ...]]] = {}
    for method, cases in value.items():
        if not isinstance(method, str) or not isinstance(cases, list | tuple):
            raise _other_values(file, "a list of cases by method", cases)
        outputs[method] = [
            tuple(case) if isinstance(case, list | tuple) else (case,) for case in cases
        ]
    return outputs


def _other_values(file: str, expected: str, found: object) -> FormatError:
    return FormatError(
        "these values are not what they should be",
        file=file,
        expected=expected,
        found=type(found).__name__,
    )


class _MappedCall(msgspec.Struct, gc=False):
    name: str | None = None
    delegate_map: dict[str, Any] | None = None


def read_debug_handles(data: bytes, file: str) -> dict[str, HandlesByInstruction]:
    """Read ``debug_handle_map``."""
    handles: dict[str, HandlesByInstruction] = {}
    handles.update(decode(data, dict[str, dict[str, int | list[int]]], file))
    return handles


def read_delegate_map(
    data: bytes, file: str
) -> tuple[dict[str, dict[str, DelegateCall]], tuple[str, ...]]:
    """Read ``delegate_map``."""
    twice: dict[str, None] = {}

    def noted(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        members = dict(pairs)
        if len(members) < len(pairs):
            counts = Counter(key for key, _ in pairs)
            twice.update((key, None) for key, count in counts.items() if count > 1)
        return members

    methods = convert(
        parse(data, file, object_pairs_hook=noted), dict[str, dict[str, _MappedCall]], file
    )
    calls: dict[str, dict[str, DelegateCall]] = {method: {} for method in methods}
    for method, instructions in methods.items():
        for at, call in instructions.items():
            own = call.delegate_map
            handles = own and {key: _handles(key, value, file) for key, value in own.items()}
            calls[method][at] = DelegateCall(call.name, handles)
    return calls, tuple(twice)


def _handles(key: str, value: Any, file: str) -> tuple[int, ...]:
    """Return the handles of an identifier; a fused node's are a list within the list."""
    listed = value if isinstance(value, list) else [value]
    flat = [handle for item in listed for handle in (item if isinstance(item, list) else [item])]
    if any(type(handle) is not int for handle in flat):
        raise FormatError(
            "this JSON is not what it should be",
            file=file,
            field=f"delegate_map[{key!r}]",
            expected="a list of debug handles",
            found=str(value)[:60],
        )
    return tuple(flat)


KIND = Kind("etrecord", "ETRecord", sniff, read_etrecord, has_tensors=True)
