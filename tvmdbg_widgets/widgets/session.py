"""What the linked views of one run share: selection, entry, slice, time range, hovered node."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import anywidget
import traitlets

from tvmdbg_widgets.widgets.bundles import bundle

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tvmdbg_widgets.run import DebugRun


class Session(anywidget.AnyWidget):
    """Shared state of linked views. It has no view of its own.

    Views that were given the same session follow each other, in one cell or in several. Every
    trait can be read, set and observed from Python::

        session = run.session
        session.selected = [12]
        session.observe(lambda change: print(change["new"]), names="selected")

    Attributes
    ----------
    selected : list of int
        Node ids, the last one selected last.
    entry : (int, int) or None
        The entry ``(node, output)`` looked at; where None, the first output of the last
        selected node.
    slice : (int, int) or None
        The slice looked at, as ``(node, occurrence)``.
    time_range : (float, float) or None
        Nanoseconds; None is the whole timeline.
    hovered : int or None
        Node id under the pointer (told to Python when the pointer rests).
    source : str
        Who set the selection last: ``"graph"``, ``"tensor"``, ``"timeline"`` or ``"python"``.
    """

    _esm = bundle("session.js")
    _view_name = traitlets.Any(None).tag(sync=True)

    selected = traitlets.List(traitlets.Int()).tag(sync=True)
    entry: Any = traitlets.Tuple(
        traitlets.Int(), traitlets.Int(), allow_none=True, default_value=None
    ).tag(sync=True)
    slice: Any = traitlets.Tuple(
        traitlets.Int(), traitlets.Int(), allow_none=True, default_value=None
    ).tag(sync=True)
    time_range = traitlets.Tuple(
        traitlets.Float(), traitlets.Float(), allow_none=True, default_value=None
    ).tag(sync=True)
    hovered = traitlets.Int(allow_none=True, default_value=None).tag(sync=True)
    source = traitlets.Unicode("").tag(sync=True)

    def __init__(self, run: DebugRun | None = None, **traits: Any) -> None:
        self._run = run
        super().__init__(**traits)

    def select(self, *nodes: int | str, output: int = 0) -> None:
        """Select nodes by id or name; the last one's ``output`` becomes the entry looked at.

        Raises
        ------
        KeyError
            A name that no node, or more than one, has.
        IndexError
            An id or output that the graph does not have.
        """
        ids = [self._node_id(node) for node in nodes]
        entry = (ids[-1], output) if ids else None
        if entry is not None and self._run is not None and self._run.graph is not None:
            self._run.graph.entry_id(*entry)
        with self.hold_sync():
            self.selected = ids
            self.entry = entry
            self.slice = None
            self.source = "python"

    @property
    def node(self) -> Any:
        """The last selected node (:class:`~tvmdbg_widgets.model.nodes.Node`), or None."""
        if not self.selected or self._run is None or self._run.graph is None:
            return None
        return self._run.graph.nodes[self.selected[-1]]

    @property
    def tensor(self) -> Any:
        """The tensor looked at (:class:`~tvmdbg_widgets.model.tensors.Tensor`), or None."""
        if self._run is None or self._run.tensors is None:
            return None
        entry = self.entry
        if self.selected and (entry is None or entry[0] not in self.selected):
            entry = (self.selected[-1], 0)
        return None if entry is None else self._run.tensors.get(tuple(entry))

    def _node_id(self, node: int | str) -> int:
        if isinstance(node, str):
            if self._run is None or self._run.graph is None:
                raise KeyError(f"no graph to look up {node!r} in; select by node id")
            return int(self._run.graph.node(node).id)
        return operator.index(node)

    @traitlets.validate("selected")
    def _within_the_graph(self, proposal: dict[str, Any]) -> list[int]:
        nodes: Iterable[int] = proposal["value"]
        graph = self._run.graph if self._run is not None else None
        count = graph.num_nodes if graph is not None else None
        for node in nodes:
            if node < 0 or (count is not None and node >= count):
                known = "node ids start at 0" if count is None else f"it has {count} nodes"
                raise traitlets.TraitError(
                    f"selected: {node} is not a node id of this run; {known}"
                )
        return list(nodes)

    def __repr__(self) -> str:
        selected = ", ".join(map(str, self.selected)) or "nothing"
        return f"Session: {selected} selected; entry {self.entry}, slice {self.slice}"
