"""From the tree of a query to the nodes it finds; js/src/graph/query/evaluate.ts finds the same."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.query.masks import (
    Fits,
    Mask,
    Masks,
    any_fits,
    compared,
    fitting,
)
from tvmdbg_widgets.analysis.query.tree import Compare, Path, Shape, Text, Word

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from tvmdbg_widgets.analysis.query.facts import Facts
    from tvmdbg_widgets.analysis.query.tree import Arrow
    from tvmdbg_widgets.model.base.strings import StringColumn

_SIZES: Final = re.compile(r"[0-9(), ×x]+")
_ID: Final = re.compile(r"#|#?[0-9]+")
_NUMBER: Final = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


class Evaluation(Masks):
    """One query over one graph."""

    def __init__(self, facts: Facts) -> None:
        super().__init__(facts.graph.num_nodes)
        self._facts = facts
        self._graph = facts.graph

    def _term(self, term: Word | Text | Compare | Shape | Path) -> Mask:
        match term:
            case Word():
                return self._word(term)
            case Text():
                return self._text(term)
            case Compare():
                return self._compare(term)
            case Shape():
                return self._shape(term)
            case Path(steps, arrows):
                return self._path([self.mask(step) for step in steps], arrows)

    def _lowered(self, column: StringColumn) -> list[str]:
        """Return the distinct texts of a column in lower case, kept with the column."""
        kept = self._facts.lowered.get(id(column.unique))
        if kept is None:
            kept = self._facts.lowered[id(column.unique)] = [each.lower() for each in column.unique]
        return kept

    def _rows(self, column: StringColumn, fits: Fits) -> Mask:
        found = fits(self._lowered(column))
        return found[column.codes] if len(found) else np.zeros(len(column), bool)

    def _owners(self, rows: Mask) -> Mask:
        """Return the nodes that have any of some entries."""
        at = np.concatenate([[0], np.cumsum(rows)])[self._graph.entry_offsets]
        return np.diff(at) > 0

    def _word(self, word: Word) -> Mask:
        facts, graph = self._facts, self._graph
        fits = fitting(word.mode, word.text)
        found = self._none()
        for column in (graph.names, graph.func_names, facts.labels, facts.op_kinds):
            found |= self._rows(column, fits)
        found |= self._owners(self._rows(graph.dtypes, fits))
        if word.mode == "has":
            if _SIZES.fullmatch(word.text):
                found |= self._owners(self._shapes(lambda shape: word.text in _shape_text(shape)))
            if _ID.fullmatch(word.text):
                ids = map(str, range(graph.num_nodes))
                found |= np.fromiter((word.text in f"#{each}" for each in ids), bool, len(found))
        elif word.mode == "glob":
            found |= self._operators(fits)
        return found

    def _operators(self, fits: Fits) -> Mask:
        """Return the nodes that run an operator that fits."""

        def fit(texts: Sequence[str]) -> Mask:
            return any_fits((each.split(" + ") for each in texts), fits)

        return self._rows(self._facts.labels, fit) & self._facts.runs

    def _text(self, text: Text) -> Mask:
        fits = fitting(text.mode, text.text)
        if text.field == "op":
            return self._unless(text, self._operators(fits), self._facts.runs)
        if text.field == "kind":
            found = self._rows(self._facts.kinds, fits) | self._rows(self._facts.op_kinds, fits)
            return ~found if text.differs else found
        if text.field == "group":
            return self._group(text, fits)
        if text.field.startswith("attr."):
            return self._attr(text, fits)
        if text.field in ("name", "func"):
            column = self._graph.names if text.field == "name" else self._graph.func_names
            return self._unless(text, self._rows(column, fits), self._rows(column, _filled))
        column = self._graph.dtypes
        if text.field != "dtype":
            column = self._facts.devices if text.field == "device" else self._facts.layouts
        known = self._rows(column, _filled)
        found = self._owners(known & self._rows(column, fits))
        return self._known(text, found, self._owners(known))

    def _known(self, term: Text | Shape, found: Mask, known: Mask) -> Mask:
        self._note("shape" if isinstance(term, Shape) else term.field, known)
        return self._unless(term, found, known)

    def _group(self, text: Text, fits: Fits) -> Mask:
        groups = self._facts.groups
        if groups is None or not len(groups):
            return self._none()
        found = self._rows(groups.names, fits).tolist()
        for row, parent in enumerate(groups.parent.tolist()):
            found[row] = found[row] or (parent >= 0 and found[parent])
        inside = groups.node_group >= 0
        return self._unless(text, inside & np.array(found)[groups.node_group], inside)

    def _attr(self, term: Text | Compare, fits: Fits) -> Mask:
        codes, offsets, keys, values = self._facts.attrs
        key = term.field.removeprefix("attr.")
        at = [
            row
            for row, each in enumerate(keys)
            if each == key and (isinstance(term, Text) or _NUMBER.fullmatch(values[row]))
        ]
        which = np.searchsorted(offsets, at, "right") - 1
        known = np.zeros(len(offsets) - 1, bool)
        found = known.copy()
        known[which] = True
        found[which] = fits([values[row].lower() for row in at])
        self._note(term.field, known[codes])
        if isinstance(term, Text) and term.differs:
            found = known & ~found
        return found[codes]

    def _compare(self, term: Compare) -> Mask:
        facts, graph = self._facts, self._graph
        if term.field.startswith("attr."):
            return self._attr(
                term, lambda texts: compared(np.array(texts, float), term.by, term.value)
            )
        if term.field in ("bytes", "storage", "rank"):
            of = {"bytes": "bytes", "storage": "storage", "rank": "ranks"}[term.field]
            values = getattr(facts, of)
            known = self._owners(~np.isnan(values))
            self._note(term.field, known)
            if term.by == "!=":
                return known & ~self._owners(values == term.value)
            return self._owners(compared(values, term.by, term.value))
        of_nodes: dict[str, Callable[[], npt.NDArray[np.float64]]] = {
            "id": lambda: np.arange(graph.num_nodes, dtype=float),
            "time": lambda: facts.node_ns,
            "share": lambda: facts.shares,
            "inputs": lambda: facts.inputs,
            "outputs": lambda: np.diff(graph.entry_offsets).astype(float),
            "consumers": lambda: facts.consumers,
            "depth": lambda: facts.depths,
        }
        values = of_nodes[term.field]()
        known = ~np.isnan(values)
        self._note(term.field, known)
        return known & compared(values, term.by, term.value)

    def _shape(self, term: Shape) -> Mask:
        found = self._owners(self._shapes(lambda shape: fits_sizes(shape, term.sizes)))
        return self._known(term, found, self._owners(self._graph.shape_known))

    def _shapes(self, fits: Callable[[tuple[int, ...]], bool]) -> Mask:
        """Return the entries whose shape is known and fits."""
        codes, shapes = self._facts.shapes
        found = np.fromiter(map(fits, shapes), bool, len(shapes))
        return self._graph.shape_known & found[codes] if len(found) else self._graph.shape_known

    def _path(self, steps: list[Mask], arrows: tuple[Arrow, ...]) -> Mask:
        """Return the nodes on any way through all steps: forward as far as it goes, then back."""
        reached = [steps[0]]
        for step, arrow in zip(steps[1:], arrows, strict=True):
            reached.append(step & self._beyond(reached[-1], arrow, back=False))
        found = reached[-1].copy()
        last = reached[-1]
        for step, arrow in zip(reached[-2::-1], arrows[::-1], strict=True):
            last = step & self._beyond(last, arrow, back=True)
            found |= last
        return found

    def _beyond(self, nodes: Mask, arrow: Arrow, *, back: bool) -> Mask:
        """Return what is one edge away, or any number of edges."""
        found = self._none()
        if arrow == "->":
            source, target = self._facts.ends
            near, far = (target, source) if back else (source, target)
            found[far[nodes[near]]] = True
        else:
            walk = self._facts.producers if back else self._facts.readers
            found[list(walk.reach(np.flatnonzero(nodes).tolist()))] = True
        return found


def _filled(texts: Sequence[str]) -> Mask:
    return np.array(list(map(bool, texts)), np.bool_)


def _shape_text(shape: tuple[int, ...]) -> str:
    """Return a shape in all ways in which it may be written."""
    texts = [str(shape), *(sign.join(map(str, shape)) for sign in (",", "×", "x"))]
    return "\n".join(texts)


def fits_sizes(shape: Iterable[int], sizes: Sequence[str]) -> bool:
    """Tell whether a shape fits sizes with ``*``, ``?`` and ``...``."""
    return _fits_all(map(str, shape), sizes, "...", _fits_size)


def _fits_size(dim: str, size: str) -> bool:
    if "*" not in size and "?" not in size:
        return dim == size
    return _fits_all(dim, size, "*", lambda digit, sign: sign in ("?", digit))


def _fits_all(
    items: Iterable[str], pattern: Sequence[str], rest: str, fits: Callable[[str, str], bool]
) -> bool:
    """Tell whether all items fit a pattern, in which `rest` stands for any number of them."""
    found = [True]
    for each in pattern:
        found.append(found[-1] and each == rest)
    for item in items:
        before, found = found, [False]
        for at, each in enumerate(pattern):
            if each == rest:
                found.append(before[at + 1] or found[at])
            else:
                found.append(before[at] and fits(item, each))
    return found[-1]
