"""The tensors of a run: one stored array per entry of the graph."""

from __future__ import annotations

from collections.abc import ItemsView, Iterable, Iterator, Mapping, ValuesView
from functools import cached_property
from typing import Any, TypeAlias, TypeGuard

from tvmdbg_widgets.model.base.choice import meant
from tvmdbg_widgets.model.base.frames import data_frame
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.slips import public
from tvmdbg_widgets.model.tensors.array_record import ArrayRecord
from tvmdbg_widgets.model.tensors.tensor import Captured, Tensor

__all__ = ["ArrayRecord", "Captured", "Tensor", "TensorKey", "Tensors"]

TensorKey: TypeAlias = tuple[int, int] | int | str | tuple[str, int]

_LINES_SHOWN = 20


class Tensors(Mapping[tuple[int, int], Tensor]):
    """The tensors of a run by entry, in node order.

    ``tensors[12, 1]`` is output 1 of node 12, ``tensors[12]`` its output 0, ``tensors["conv"]``
    and ``tensors["conv", 1]`` the same by node name.

    Parameters
    ----------
    tensors
        At most one per entry; a later one of the same entry replaces an earlier one.
    """

    def __init__(self, tensors: Iterable[Tensor] = ()) -> None:
        found = {(tensor.node, tensor.output): tensor for tensor in tensors}
        self._items = {entry: found[entry] for entry in sorted(found)}

    @cached_property
    def _nodes(self) -> dict[str, tuple[int, ...]]:
        nodes: dict[str, dict[int, None]] = {}
        for (node, _), tensor in self._items.items():
            nodes.setdefault(tensor.name, {})[node] = None
        return {name: tuple(ids) for name, ids in nodes.items()}

    @property
    def names(self) -> tuple[str, ...]:
        """Node names that have tensors, each once, in node order."""
        return tuple(self._nodes)

    @public
    def __getitem__(self, key: TensorKey) -> Tensor:
        if _is_entry(key) and (found := self._items.get(key)) is not None:
            return found
        item, output = key if isinstance(key, tuple) and len(key) == 2 else (key, 0)
        if not _is_number(output) or not (isinstance(item, str) or _is_number(item)):
            raise KeyError(f"{key!r} is no node id, name, (node id, output) or (name, output)")
        node = self._node(item) if isinstance(item, str) else item
        tensor = self._items.get((node, output))
        if tensor is None:
            outputs = [j for i, j in self._items if i == node]
            raise KeyError(f"no tensor of node {item!r}, output {output}; {self._known(outputs)}")
        return tensor

    def _known(self, outputs: list[int]) -> str:
        if outputs:
            return f"its outputs are {outputs}"
        ids = sorted({node for node, _ in self._items})
        if not ids:
            return "there is none"
        some = ", not of all" if len(ids) <= ids[-1] - ids[0] else ""
        return f"tensors are of nodes {ids[0]} to {ids[-1]}{some}"

    def _node(self, name: str) -> int:
        nodes = self._nodes.get(name, ())
        if len(nodes) > 1:
            raise KeyError(
                f"{counted(len(nodes), 'node')} are named {name!r}; take one by id: {nodes}"
            )
        if not nodes:
            raise KeyError(f"no tensor of a node named {name!r:.200}{meant(name, self._nodes)}")
        return nodes[0]

    def __contains__(self, key: object) -> bool:
        if _is_entry(key):
            return key in self._items
        try:
            self[key]  # type: ignore[index]
        except KeyError:
            return False
        return True

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def items(self) -> ItemsView[tuple[int, int], Tensor]:
        """Entries with their tensors."""
        return self._items.items()

    def values(self) -> ValuesView[Tensor]:
        """The tensors."""
        return self._items.values()

    def to_dataframe(self) -> Any:
        """Return one row per tensor as a ``pandas.DataFrame`` (headers only, no values read)."""
        items = list(self._items.values())
        return data_frame(
            {
                "node": [t.node for t in items],
                "output": [t.output for t in items],
                "name": [t.name for t in items],
                "dtype": [t.dtype.name for t in items],
                "shape": [t.shape for t in items],
                "nbytes": [t.nbytes for t in items],
                "trust": [t.trust.label for t in items],
                "notes": ["; ".join(t.notes) for t in items],
            }
        )

    def __repr__(self) -> str:
        items = list(self._items.values())
        total = sum(tensor.nbytes for tensor in items)
        nodes = len({node for node, _ in self._items})
        lines = [f"Tensors: {len(items)} of {counted(nodes, 'node')}, {counted(total, 'byte')}"]
        lines += [f"  {tensor!r}" for tensor in items[:_LINES_SHOWN]]
        if len(items) > _LINES_SHOWN:
            lines.append(f"  … and {len(items) - _LINES_SHOWN} more")
        return "\n".join(lines)


def _is_number(value: object) -> bool:
    return hasattr(value, "__index__") and type(value).__name__ not in ("bool", "bool_")


def _is_entry(key: object) -> TypeGuard[tuple[int, int]]:
    return type(key) is tuple and len(key) == 2 and type(key[0]) is int and type(key[1]) is int
