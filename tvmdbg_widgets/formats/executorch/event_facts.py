"""What a dump and its joins tell of an event, in lines for the views."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Hashable, Mapping
from contextlib import suppress
from functools import cache, partial
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.formats.executorch.delegates.families import family_of
from tvmdbg_widgets.model.base.numbering import first_rows, numbered
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.strings import StringColumn
from tvmdbg_widgets.model.base.text import cut, one_line, paired_json
from tvmdbg_widgets.model.executorch.delegate_calls import is_of_delegate
from tvmdbg_widgets.model.executorch.etdump import ETDump
from tvmdbg_widgets.model.executorch.event_nodes import HOW, NONE, EventNodes
from tvmdbg_widgets.model.graph.graph import Graph

_HANDLES = 20
_BYTES = 64
_FIELDS, _LETTERS = 20, 200
#: Metadata above that size is shown as it is.
_LONGEST = 10_000
_CAPITAL: Final = re.compile("(?<=[a-z])[A-Z]")


def event_facts(
    dump: ETDump, joined: EventNodes, graph: Graph | None, events: npt.NDArray[np.int64]
) -> StringColumn:
    """Return lines of a name, a tab and a text for each of some events.

    They tell the instruction, the backend and the identifier of what a delegate logged, its
    operators and kernel, the debug handles of its nodes, how it was tied to them, and its metadata.
    """
    alike = numbered(
        dump.chain_index[events],
        dump.instruction_id[events],
        dump.delegate_id_int[events],
        dump.delegate_id_str.codes[events],
        joined.set_of[events],
        joined.how[events],
        _codes(dump, dump.metadata)[events],
        _codes(dump, joined.about)[events],
    )
    some = events[first_rows(alike)]
    of_delegate = is_of_delegate(dump)[some].tolist()
    handles = cache(partial(_handles, joined, graph))
    texts = StringColumn.from_strings(
        _text(dump, joined, handles, event, delegate=delegate)
        for event, delegate in zip(some.tolist(), of_delegate, strict=True)
    )
    return StringColumn(texts.unique, texts.codes[alike])


def _codes(dump: ETDump, of: Mapping[int, Hashable]) -> npt.NDArray[np.int64]:
    table: dict[Hashable, int] = {}
    codes = np.zeros(dump.num_events, np.int64)
    codes[list(of)] = [table.setdefault(each, len(table) + 1) for each in of.values()]
    return codes


def _handles(joined: EventNodes, graph: Graph | None, number: int) -> str:
    """Return the debug handles of a set of nodes, cut where they are many."""
    if graph is None or number < 0:
        return ""
    nodes = joined.sets[number]
    found = dict.fromkeys(graph.attrs[node].get("debug_handle", "") for node in nodes)
    known = [each for each in found if each]
    more = f" and {len(known) - _HANDLES} more" if len(known) > _HANDLES else ""
    return ", ".join(known[:_HANDLES]) + more


def _text(
    dump: ETDump, joined: EventNodes, handles: Callable[[int], str], event: int, *, delegate: bool
) -> str:
    at = (int(dump.chain_index[event]), int(dump.instruction_id[event]))
    facts: list[tuple[str, str]] = []
    if at[0] >= 0:
        facts.append((dump.call_word, str(at[1]) + (f" of chain {at[0]}" if at[0] else "")))
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
    if of not in joined.apart and (told := handles(of)):
        facts.append(("debug handles", told))
    if joined.how[event] != NONE and not about:
        facts.append(("mapped by", HOW[joined.how[event]]))
    if event in dump.metadata:
        facts += _metadata(dump.metadata[event])
    return "\n".join(f"{name}\t{one_line(text)}" for name, text in facts)


def _metadata(data: bytes) -> list[tuple[str, str]]:
    """Return metadata: an object of JSON by its fields, text, or first bytes in hex.

    Core ML's object says what an operator is, its share of the cost, and where it prefers to run
    (``ETCoreMLOperationProfilingInfo.mm``).
    """
    if data[:1] == b"{" and len(data) <= _LONGEST:
        with suppress(ValueError, RecursionError):
            found = json.loads(paired_json(data.decode())[0])
            if all(_is_flat(value) for value in found.values()):
                told = [(f"metadata: {_words(name)}", _said(found[name])) for name in found]
                return told[:_FIELDS]
    return [("metadata", _text_or_hex(data))]


def _words(name: str) -> str:
    return one_line(_CAPITAL.sub(lambda each: f" {each[0].lower()}", cut(name, _LETTERS)))


def _is_flat(value: object) -> bool:
    inner = value if isinstance(value, list) else [value]
    return not any(isinstance(each, list | dict) for each in inner)


def _said(value: Any) -> str:
    if isinstance(value, list):
        more = [f"{len(value) - _HANDLES} more"] if len(value) > _HANDLES else []
        return ", ".join([*map(_said, value[:_HANDLES]), *more])
    return cut(value, _LETTERS) if isinstance(value, str) else json.dumps(value)


def _text_or_hex(data: bytes) -> str:
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = ""
    if text.isprintable() and text:
        return text
    more = f" … ({counted(len(data), 'byte')})" if len(data) > _BYTES else ""
    return data[:_BYTES].hex(" ") + more
