"""Notes on the files of a run: kinds, files left out, facts of events."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Hashable, Iterable, Mapping
from contextlib import suppress
from functools import cache, partial
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.formats.executorch.delegates.families import family_of
from tvmdbg_widgets.formats.family import Part
from tvmdbg_widgets.model.base.columns import StringColumn
from tvmdbg_widgets.model.base.numbers import agree, counted
from tvmdbg_widgets.model.base.ranges import first_rows, numbered
from tvmdbg_widgets.model.base.slips import meant
from tvmdbg_widgets.model.base.text import (
    FormatError,
    Issue,
    IssueSeverity,
    cut,
    listed,
    one_line,
    paired_json,
)
from tvmdbg_widgets.model.executorch.etdump import ETDump, EventKind, is_of_delegate
from tvmdbg_widgets.model.executorch.etrecord import ETRecord
from tvmdbg_widgets.model.executorch.event_nodes import HOW, NONE, EventNodes, ExecuTorchFiles
from tvmdbg_widgets.model.executorch.program import Program
from tvmdbg_widgets.model.graph.graph import Graph

#: Delegates listed for the run; nodes list theirs too.
_MOST_DELEGATES = 16
#: Further parts of a saved run; its times are the ETDump's.
_OF_RECORDINGS = ("recording", "recorded-times", "ir")


def left_out(parts: Iterable[Part]) -> list[Issue]:
    """Return the issue of files that are none of ExecuTorch."""
    others = sorted({part.source.name for part in parts if part.kind not in _OF_RECORDINGS})
    if not others:
        return []
    text = f"no files of ExecuTorch, left out: {listed(others)}"
    return [Issue("files-left-out", IssueSeverity.NOTE, text)]


def notes(files: ExecuTorchFiles) -> list[Issue]:
    """Return notes on the times, the method, and files that disagree."""
    dump, issues = files.dump, []
    edges = files.insides.edges
    if edges is not None and edges.contradicted and files.program and files.record:
        places = [str(place) for place in sorted(edges.contradicted)]
        text = (
            f"operators, sizes or debug handles differ between {files.record.file} and the "
            f"program's delegate in {agree(len(places), 'instruction')} {listed(places)}: ETRecord "
            "and program are not of the same export, and what the delegate ran there is of no node"
        )
        issues.append(
            Issue("executorch-disagree", IssueSeverity.WARNING, text, file=files.program.file)
        )
    if dump is not None and dump.values:
        text = (
            "this run logged values, which takes time within the measured calls: its times are "
            "longer than those of a run without a debug buffer"
        )
        issues.append(Issue("times-inflated", IssueSeverity.NOTE, text, file=dump.file))
    known = len(methods_of(files.record, files.program)) < 2 or files.insides.fit_one_method
    if dump is not None and not known:
        text = f"an ETDump does not tell which method ran; {files.method!r} is assumed"
        issues.append(Issue("method-assumed", IssueSeverity.NOTE, text, file=dump.file))
    if dump is not None and files.event_nodes is not None:
        issues += _estimated(dump, files.event_nodes)
    return issues


def runs_left_out(runs: frozenset[int], dump: ETDump, method: str) -> list[Issue]:
    """Return the issue of runs of another method."""
    if not runs:
        return []
    text = (
        f"{len(runs)} of {counted(dump.num_runs, 'run')} called other operators than {method!r} "
        "has, so of another method: those times and values are of no operator here"
    )
    return [Issue("runs-of-others", IssueSeverity.NOTE, text, file=dump.file)]


def evidence(files: ExecuTorchFiles) -> Iterable[str]:
    """Yield the kind of each file, and the delegates of the program."""
    joined = files.event_nodes
    of_table = joined is not None and joined.of_table
    if files.dump is not None and (of_table or files.dump.call_word == "row"):
        yield f"{files.dump.file} holds a table of ExecuTorch's Inspector"
    elif files.dump is not None:
        yield f"{files.dump.file} is an ETDump (ED00), version {files.dump.version}"
    if files.delegation is not None:
        yield "get_delegation_info counted the nodes that went to delegates"
    if files.record is not None:
        yield f"{files.record.file} has a member ETRECORD_V0"
    if files.program is not None:
        yield f"{files.program.file} is a program (ET12)"
        held = {inside.index: inside for inside in files.insides.of(files.method).values()}
        for at, inside in sorted(held.items())[:_MOST_DELEGATES]:
            specs = [f"{s.key} = {s.text()}" for s in inside.delegate.compile_specs[:16]]
            compiled = f"; compiled with {', '.join(specs)}" if specs else ""
            yield one_line(f"delegate {at}, {inside.delegate.id}: {inside.payload}{compiled}")
    if files.buffer is not None:
        yield f"{files.buffer.name} is taken for the debug buffer, which has no header"


def _estimated(dump: ETDump, nodes: EventNodes) -> Iterable[Issue]:
    events = np.flatnonzero(is_of_delegate(dump) & (dump.kind == EventKind.PROFILE))
    at = np.unique(np.stack([dump.chain_index[events], dump.instruction_id[events]]), axis=1)
    called = dict.fromkeys(nodes.backends.get((int(c), int(i)), "") for c, i in at.T)
    for backend in called:
        family = family_of(backend)
        if family is not None and family.times:
            text = f"times of events of {backend} are {family.times}"
            yield Issue("times-estimated", IssueSeverity.NOTE, text, file=dump.file)


_HANDLES = 20
_BYTES = 64
_FIELDS, _LETTERS = 20, 200
#: Larger metadata is shown raw.
_LONGEST = 10_000
_CAPITAL: Final = re.compile("(?<=[a-z])[A-Z]")


def event_facts(
    dump: ETDump, joined: EventNodes, graph: Graph | None, events: npt.NDArray[np.int64]
) -> StringColumn:
    """Return facts of events, from instruction to metadata: lines of a name, a tab and a text."""
    group = numbered(
        dump.chain_index[events],
        dump.instruction_id[events],
        dump.delegate_id_int[events],
        dump.delegate_id_str.codes[events],
        joined.set_of[events],
        joined.how[events],
        _codes(dump, dump.metadata)[events],
        _codes(dump, joined.about)[events],
    )
    some = events[first_rows(group)]
    of_delegate = is_of_delegate(dump)[some].tolist()
    handles = cache(partial(_handles, joined, graph))
    texts = StringColumn.from_strings(
        _text(dump, joined, handles, event, delegate=delegate)
        for event, delegate in zip(some.tolist(), of_delegate, strict=True)
    )
    return StringColumn(texts.unique, texts.codes[group])


def _codes(dump: ETDump, of: Mapping[int, Hashable]) -> npt.NDArray[np.int64]:
    table: dict[Hashable, int] = {}
    codes = np.zeros(dump.num_events, np.int64)
    codes[list(of)] = [table.setdefault(fact, len(table) + 1) for fact in of.values()]
    return codes


def _handles(joined: EventNodes, graph: Graph | None, number: int) -> str:
    if graph is None or number < 0:
        return ""
    nodes = joined.sets[number]
    texts = dict.fromkeys(graph.attrs[node].get("debug_handle", "") for node in nodes)
    known = [text for text in texts if text]
    more = f" and {len(known) - _HANDLES} more" if len(known) > _HANDLES else ""
    return ", ".join(known[:_HANDLES]) + more


def _text(
    dump: ETDump, joined: EventNodes, handles: Callable[[int], str], event: int, *, delegate: bool
) -> str:
    at = dump.place(event)
    facts: list[tuple[str, str]] = []
    if at[0] >= 0:
        facts.append((dump.call_word, dump.place_text(at).removeprefix(f"{dump.call_word} ")))
    if backend := joined.backends.get(at):
        facts.append(("backend", backend))
    about = joined.about.get(event, ())
    facts += about
    if delegate:
        number = int(dump.delegate_id_int[event])
        named = number if number != -1 else dump.delegate_id_str[event]
        family = family_of(joined.backends.get(at, ""))
        if isinstance(named, str) and family is not None and family.explain is not None:
            facts += [(cut(part, _LETTERS), text) for part, text in family.explain(named)]
        facts.append(("identifier", repr(named)))
    # Of a set apart no node has the time.
    of = int(joined.set_of[event])
    if of not in joined.apart and (handle_text := handles(of)):
        facts.append(("debug handles", handle_text))
    if joined.how[event] != NONE and not about:
        facts.append(("mapped by", HOW[joined.how[event]]))
    if event in dump.metadata:
        facts += _metadata(dump.metadata[event])
    return "\n".join(f"{name}\t{one_line(text)}" for name, text in facts)


def _metadata(data: bytes) -> list[tuple[str, str]]:
    """Return metadata: JSON objects such as Core ML's by field, text, or first bytes in hex."""
    if data[:1] == b"{" and len(data) <= _LONGEST:
        with suppress(ValueError, RecursionError):
            fields = json.loads(paired_json(data.decode())[0])
            inner = [[item] if not isinstance(item, list) else item for item in fields.values()]
            if not any(isinstance(item, list | dict) for held in inner for item in held):
                return [
                    (
                        f"metadata: {one_line(_CAPITAL.sub(_lower, cut(name, _LETTERS)))}",
                        _value_text(value),
                    )
                    for name, value in [*fields.items()][:_FIELDS]
                ]
    text = data.decode(errors="replace")
    if not text or not text.isprintable() or "\ufffd" in text:
        text = data[:_BYTES].hex(" ")
        text += f" … ({counted(len(data), 'byte')})" if len(data) > _BYTES else ""
    return [("metadata", text)]


def _lower(capital: re.Match[str]) -> str:
    return f" {capital[0].lower()}"


def _value_text(value: Any) -> str:
    if isinstance(value, list):
        more = [f"{len(value) - _HANDLES} more"] if len(value) > _HANDLES else []
        return ", ".join([*map(_value_text, value[:_HANDLES]), *more])
    return cut(value, _LETTERS) if isinstance(value, str) else json.dumps(value)


_FORWARD = "forward"


def methods_of(record: ETRecord | None, program: Program | None) -> tuple[str, ...]:
    """Return the distinct methods of ETRecord and program."""
    named = (
        *(record.methods if record is not None else ()),
        *(program.methods if program is not None else ()),
    )
    return tuple(dict.fromkeys(named))


def method_of(record: ETRecord | None, program: Program | None, wanted: str | None) -> str:
    """Return the shown method: the one wanted, ``"forward"``, or the only one."""
    known = methods_of(record, program)
    if wanted is not None:
        if known and wanted not in known:
            raise _no_such(wanted, known, record, program)
        return wanted
    if not known or _FORWARD in known:
        return _FORWARD
    if len(known) > 1:
        raise _no_such(None, known, record, program)
    return known[0]


def _no_such(
    wanted: str | None, known: tuple[str, ...], record: ETRecord | None, program: Program | None
) -> FormatError:
    file = record.file if record is not None else program.file if program is not None else ""
    return FormatError(
        "several methods" if wanted is None else f"no method {wanted!r}{meant(wanted, known)}",
        file=file,
        expected=f"one of {listed([*map(repr, known)])}",
        found="no choice" if wanted is None else None,
        hint=f"Choose one: open(…, method={known[0]!r}).",
    )


def execution_of(
    dump: ETDump | None, wanted: int | None, others: frozenset[int] = frozenset()
) -> int:
    """Return the position among the runs of the execution whose values are shown."""
    if dump is None:
        return -1
    executions = [run for run in range(dump.num_runs) if dump.run_names[run] != "Default"]
    if wanted is not None:
        if not 0 <= wanted < len(executions):
            raise FormatError(
                f"no execution {wanted}",
                file=dump.file,
                expected=f"0 to {len(executions) - 1}" if executions else "none",
                found=wanted,
                hint="open(…, execution=0) shows the values of the first.",
            )
        return executions[wanted]
    runs = np.searchsorted(dump.run_offsets, list(dump.values), "right") - 1
    own = [run for run in executions if run not in others]
    logged = sorted({*runs.tolist()}.intersection(own))
    return (logged or own or executions or [-1])[0]
