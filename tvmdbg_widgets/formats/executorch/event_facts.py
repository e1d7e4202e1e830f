"""What a dump and its joins tell of an event, in lines for the views."""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.base.numbering import first_rows, numbered
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.strings import StringColumn
from tvmdbg_widgets.model.base.text import one_line
from tvmdbg_widgets.model.executorch.delegate_calls import is_of_delegate
from tvmdbg_widgets.model.executorch.event_nodes import HOW, NONE

if TYPE_CHECKING:
    from collections.abc import Callable

    from tvmdbg_widgets.model.executorch.etdump import ETDump
    from tvmdbg_widgets.model.executorch.event_nodes import EventNodes
    from tvmdbg_widgets.model.graph.graph import Graph

_HANDLES = 20
_BYTES = 64


def event_facts(
    dump: ETDump, joined: EventNodes, graph: Graph | None, events: npt.NDArray[np.int64]
) -> StringColumn:
    """Return lines of a name, a tab and a text for each of some events.

    They tell the instruction, the backend and the identifier of what a delegate logged, the debug
    handles of its nodes, how it was tied to them, and its metadata.
    """
    alike = numbered(
        dump.chain_index[events],
        dump.instruction_id[events],
        dump.delegate_id_int[events],
        dump.delegate_id_str.codes[events],
        joined.set_of[events],
        joined.how[events],
        _metadata_codes(dump)[events],
    )
    some = events[first_rows(alike)]
    of_delegate = is_of_delegate(dump)[some].tolist()
    handles = cache(partial(_handles, joined, graph))
    texts = StringColumn.from_strings(
        _text(dump, joined, handles, event, delegate=delegate)
        for event, delegate in zip(some.tolist(), of_delegate, strict=True)
    )
    return StringColumn(texts.unique, texts.codes[alike])


def _metadata_codes(dump: ETDump) -> npt.NDArray[np.int64]:
    """Number the distinct metadata; 0 is none."""
    table: dict[bytes, int] = {}
    codes = np.zeros(dump.num_events, np.int64)
    numbers = [table.setdefault(data, len(table) + 1) for data in dump.metadata.values()]
    codes[list(dump.metadata)] = numbers
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
    dump: ETDump,
    joined: EventNodes,
    handles: Callable[[int], str],
    event: int,
    *,
    delegate: bool,
) -> str:
    at = (int(dump.chain_index[event]), int(dump.instruction_id[event]))
    facts: list[tuple[str, str]] = []
    if at[0] >= 0:
        facts.append((dump.call_word, str(at[1]) + (f" of chain {at[0]}" if at[0] else "")))
    if backend := joined.backends.get(at):
        facts.append(("backend", backend))
    if delegate:
        number = int(dump.delegate_id_int[event])
        named = number if number != -1 else dump.delegate_id_str[event]
        facts.append(("identifier", repr(named)))
    if told := handles(int(joined.set_of[event])):
        facts.append(("debug handles", told))
    if joined.how[event] != NONE:
        facts.append(("mapped by", HOW[joined.how[event]]))
    if event in dump.metadata:
        facts.append(("metadata", _metadata(dump.metadata[event])))
    return "\n".join(f"{name}\t{one_line(text)}" for name, text in facts)


def _metadata(data: bytes) -> str:
    """Return metadata as text, or its first bytes in hex where it is none."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = ""
    if text.isprintable() and text:
        return text
    more = f" … ({counted(len(data), 'byte')})" if len(data) > _BYTES else ""
    return data[:_BYTES].hex(" ") + more
