"""Coverage of a delegate debug map: operators of identifiers, and operators without one."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from tvmdbg_widgets.model.base.numbers import counted, html_table, text_lines
from tvmdbg_widgets.model.base.text import columns_of, data_frame, one_line
from tvmdbg_widgets.model.executorch.etrecord import ExportedProgram
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.graph.nodes import NodeKind

Identifier: TypeAlias = int | str

_NO_OPERATORS = ("placeholder", "output", "get_attr")  # nodes of torch.fx that call nothing
_LINES_SHOWN = 40
_HANDLE = re.compile(r"(?<![\w.])-?\d{1,18}(?![\w.])")


@dataclass(frozen=True, slots=True)
class HandledOperator:
    """An operator with its debug handles and identifiers.

    Attributes
    ----------
    name : str
    position : int
        Of the node among all nodes given; in a Graph its id.
    handles : tuple of int
        Empty where the node has none.
    identifiers : tuple of int or str
        In the order of the map, without repeats, however many handles they share.
    """

    name: str
    position: int
    handles: tuple[int, ...]
    identifiers: tuple[Identifier, ...] = ()


@dataclass(frozen=True, eq=False, repr=False)
class HandleCoverage:
    """Coverage of a delegate debug map; every operator counts once."""

    identifiers: Mapping[Identifier, tuple[int, ...]]
    operators: tuple[HandledOperator, ...]
    unknown: tuple[int, ...]

    @property
    def covered(self) -> tuple[HandledOperator, ...]:
        """Operators with an identifier."""
        return tuple(operator for operator in self.operators if operator.identifiers)

    @property
    def uncovered(self) -> tuple[HandledOperator, ...]:
        """Operators without an identifier."""
        return tuple(operator for operator in self.operators if not operator.identifiers)

    @property
    def shared(self) -> tuple[HandledOperator, ...]:
        """Operators with several identifiers, as after a decomposition."""
        return tuple(operator for operator in self.operators if len(operator.identifiers) > 1)

    def operators_of(self, identifier: Identifier) -> tuple[HandledOperator, ...]:
        """Return the operators of an identifier: several after a fusion."""
        return tuple(operator for operator in self.operators if identifier in operator.identifiers)

    def to_dataframe(self) -> Any:
        """Return one row per operator as a ``pandas.DataFrame``: name, handles and identifiers."""
        return data_frame(columns_of(self.operators, ("name", "handles", "identifiers")))

    @property
    def summary(self) -> str:
        """All counts in one line."""
        identifiers = counted(len(self.identifiers), "identifier")
        operators = counted(len(self.operators), "operator")
        counts = [f"{identifiers}: {len(self.covered):,} of {operators} mapped"]
        if self.shared:
            counts.append(f"{len(self.shared):,} by several identifiers")
        if self.unknown:
            handles = ", ".join(map(str, self.unknown[:10])) + ", …" * (len(self.unknown) > 10)
            counts.append(f"no operator has handle {handles}")
        return ", ".join(counts)

    def _cells(self) -> list[tuple[str, str, str]]:
        missed = tuple(
            dict.fromkeys(handle for operator in self.uncovered for handle in operator.handles)
        )
        some = list(self.identifiers.items())[:_LINES_SHOWN]
        held = [(str(key), handles, self.operators_of(key)) for key, handles in some]
        held += [("(not mapped)", missed, self.uncovered)] if self.uncovered else []
        rows = [
            (one_line(key), ", ".join(map(str, handles)), one_line(", ".join(o.name for o in own)))
            for key, handles, own in held[:_LINES_SHOWN]
        ]
        more = len(self.identifiers) + bool(self.uncovered) - len(rows)
        cut = [*rows, (f"… and {more:,} more", "", "")] if more > 0 else rows
        return [("identifier", "handles", "operators"), *cut]

    def __repr__(self) -> str:
        return "\n".join([self.summary, *text_lines(self._cells())])

    def _repr_html_(self) -> str:
        head, *rows = self._cells()
        return html_table(head, rows, caption=self.summary, style="vertical-align: top")


def handle_coverage(
    mapping: Any,
    nodes: Graph | ExportedProgram | Iterable[Any] | None = None,
    call_handles: Iterable[int] | None = None,
) -> HandleCoverage:
    """Return the coverage of a delegate debug map."""
    identifiers = mapping_of(mapping)
    mapped = dict.fromkeys(handle for handles in identifiers.values() for handle in handles)
    called = None if call_handles is None else dict.fromkeys(flat(list(call_handles)))
    if nodes is None:
        handles = mapped if called is None else called
        operators = [
            HandledOperator(f"handle {handle}", at, (handle,)) for at, handle in enumerate(handles)
        ]
    else:
        operators = list(_operators(nodes))
    if called is not None:
        operators = [
            operator for operator in operators if not called.keys().isdisjoint(operator.handles)
        ]
    known = {handle for operator in operators for handle in operator.handles}
    return HandleCoverage(
        identifiers,
        tuple(_with_identifiers(operators, identifiers)),
        tuple(handle for handle in mapped if handle not in known),
    )


def mapping_of(mapping: Any) -> dict[Identifier, tuple[int, ...]]:
    """Return a delegate debug map as a dict, see :func:`handle_coverage`."""
    for name in ("debug_handle_map", "identifiers"):
        if not isinstance(mapping, Mapping) and hasattr(mapping, name):
            mapping = getattr(mapping, name)
    if mapping is None:
        return {}
    if not isinstance(mapping, Mapping):
        raise TypeError(
            "a delegate debug map has handles by identifier, {0: (10, 11)}, "
            f"found {type(mapping).__name__}"
        )
    return {identifier: flat(handles) for identifier, handles in mapping.items()}


def flat(handles: Any) -> tuple[int, ...]:
    """Return one or several, possibly nested handles as a flat, ordered tuple without repeats."""
    if handles is None:
        return ()
    if isinstance(handles, list | tuple | set | frozenset):
        return tuple(dict.fromkeys(handle for part in handles for handle in flat(part)))
    if not isinstance(handles, int):
        raise TypeError(f"a debug handle is an integer, found {handles!r:.80}")
    return (handles,)


def _operators(nodes: Graph | ExportedProgram | Iterable[Any]) -> Iterator[HandledOperator]:
    if isinstance(nodes, Graph):
        for node in nodes.nodes:
            if node.kind >= NodeKind.OPERATOR:
                handles = _HANDLE.findall(node.attrs.get("debug_handle", ""))
                yield HandledOperator(node.name, node.id, flat(list(map(int, handles))))
        return
    for at, each in enumerate(nodes.nodes if isinstance(nodes, ExportedProgram) else nodes):
        if getattr(each, "op", "") not in _NO_OPERATORS:
            handle = each.meta.get("debug_handle") if hasattr(each, "meta") else each.debug_handle
            yield HandledOperator(str(getattr(each, "name", each)), at, flat(handle))


def _with_identifiers(
    operators: list[HandledOperator], identifiers: Mapping[Identifier, tuple[int, ...]]
) -> Iterator[HandledOperator]:
    order = {identifier: at for at, identifier in enumerate(identifiers)}
    by_handle: dict[int, list[Identifier]] = {}
    for identifier, handles in identifiers.items():
        for handle in handles:
            by_handle.setdefault(handle, []).append(identifier)
    for operator in operators:
        names = {name for handle in operator.handles for name in by_handle.get(handle, ())}
        yield dataclasses.replace(operator, identifiers=tuple(sorted(names, key=order.__getitem__)))
