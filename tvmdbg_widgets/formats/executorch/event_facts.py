"""What a dump and its joins tell of an event, in lines for the views."""

from __future__ import annotations

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
    texts = StringColumn.from_strings(
        _text(dump, joined, graph, event, delegate=delegate)
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


def _text(
    dump: ETDump, joined: EventNodes, graph: Graph | None, event: int, *, delegate: bool
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
    nodes = joined.of(event)
    if graph is not None and nodes:
        handles = dict.fromkeys(graph.attrs[node].get("debug_handle", "") for node in nodes)
        known = [each for each in handles if each]
        more = f" and {len(known) - _HANDLES} more" if len(known) > _HANDLES else ""
        if known:
            facts.append(("debug handles", ", ".join(known[:_HANDLES]) + more))
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
