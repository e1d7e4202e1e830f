"""Pictures kept for the next time, and what they can be made of."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import replace
from typing import TypeAlias

from tvmdbg_widgets.model.pictures.grid import CellSpan, Part, spans
from tvmdbg_widgets.model.pictures.levels import PictureLevel, finest
from tvmdbg_widgets.model.pictures.pieces import Watch
from tvmdbg_widgets.model.pictures.sampled import is_quick, sampled, thinned
from tvmdbg_widgets.model.pictures.single import Picture, picture_of, stack_of
from tvmdbg_widgets.model.pictures.stack import Stack
from tvmdbg_widgets.model.tensors.planes import Plane
from tvmdbg_widgets.model.tensors.values import ArrayView

_Plane: TypeAlias = tuple[Hashable, ...]
_Place: TypeAlias = tuple[_Plane, CellSpan, CellSpan]

#: Part of all bytes that one level may take.
_SHARE = 8


class Pictures:
    """Makes pictures, and keeps the cells they were made of. May be used by several threads."""

    def __init__(self, limit_bytes: int = 256 << 20) -> None:
        self._limit = limit_bytes
        self._lock = threading.Lock()
        self._levels: OrderedDict[_Place, PictureLevel] = OrderedDict()
        self._places: dict[_Plane, list[_Place]] = {}
        self._nbytes = 0

    @property
    def nbytes(self) -> int:
        """Bytes of the cells that are kept."""
        return self._nbytes

    def get(  # noqa: PLR0917
        self,
        key: Hashable,
        values: ArrayView,
        plane: Plane,
        rows: int,
        cols: int,
        part: Part | None = None,
        exact: bool = True,
        watch: Watch | None = None,
    ) -> Picture:
        """Return a picture as :func:`picture` does, at once where its cells are known.

        A part that takes more than a few milliseconds may get steps up to half as large again,
        so that pictures of other sizes can be made of its cells.
        """
        stack = stack_of(values, plane, *spans(plane, rows, cols, part))
        quick = is_quick(stack)
        if not quick:
            stack = stack_of(values, plane, *spans(plane, rows, cols, part, divisible=True))
        index = tuple(0 if i in plane.axes else at for i, at in enumerate(plane.index))
        name: _Plane = (key, plane.shape, frozenset(plane.axes), index)
        level = self._find(name, stack, same_step=quick)
        if level is None and not quick and not exact:
            stack = thinned(stack)
            return picture_of(stack, sampled(stack), exact=False)
        if level is None:
            level = self._make(name, stack, watch, quick=quick)
        return picture_of(stack, level.made(stack.lower, stack.higher))

    def clear(self) -> None:
        """Forget all cells."""
        with self._lock:
            self._levels.clear()
            self._places.clear()
            self._nbytes = 0

    def _find(self, name: _Plane, stack: Stack, *, same_step: bool) -> PictureLevel | None:
        """Return the largest cells kept of which those of the stack can be made."""
        with self._lock:
            able = [
                place
                for place in self._places.get(name, ())
                if self._levels[place].can_make(stack.lower, stack.higher)
                and (not same_step or _steps(place) == (stack.lower.step, stack.higher.step))
            ]
            if not able:
                return None
            best = max(able, key=lambda place: place[1].step * place[2].step)
            self._levels.move_to_end(best)
            return self._levels[best]

    def _make(
        self, name: _Plane, stack: Stack, watch: Watch | None, *, quick: bool
    ) -> PictureLevel:
        """Look at every value; keep the cells, and smaller ones of a large part."""
        fine = stack
        if not quick:
            lower, higher = finest(stack, self._limit // _SHARE)
            fine = replace(stack, lower=lower, higher=higher)
        level = PictureLevel(fine.lower, fine.higher, fine.cells(watch))
        self._keep((name, fine.lower, fine.higher), level)
        if fine is not stack:
            level = PictureLevel(stack.lower, stack.higher, level.made(stack.lower, stack.higher))
            self._keep((name, stack.lower, stack.higher), level)
        return level

    def _keep(self, place: _Place, level: PictureLevel) -> None:
        if level.nbytes > self._limit // 2:
            return
        with self._lock:
            if place in self._levels:
                return
            self._levels[place] = level
            self._places.setdefault(place[0], []).append(place)
            self._nbytes += level.nbytes
            while self._nbytes > self._limit:
                oldest, gone = self._levels.popitem(last=False)
                self._nbytes -= gone.nbytes
                self._places[oldest[0]].remove(oldest)
                if not self._places[oldest[0]]:
                    del self._places[oldest[0]]


def _steps(place: _Place) -> tuple[int, int]:
    return place[1].step, place[2].step
