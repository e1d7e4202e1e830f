"""What a query finds, as a tuple of ids that shows the first of them."""

from __future__ import annotations

import html
from abc import abstractmethod
from typing import Any, ClassVar

_SHOWN = 12
_CELL = 'style="text-align: left; white-space: nowrap"'


class Listed(tuple[int, ...]):  # noqa: SLOT001 (a subclass of tuple has none)
    """Ids in ascending order, shown as a caption and a table of the first ones."""

    _head: ClassVar[tuple[str, ...]]

    @property
    @abstractmethod
    def caption(self) -> str:
        """What was found, in one line."""

    @abstractmethod
    def _cells(self, each: int) -> list[str]:
        """Return the cells of one of them, each made safe for one line."""

    def _rows(self) -> list[list[str]]:
        return [self._cells(each) for each in self[:_SHOWN]]

    def __repr__(self) -> str:
        rows = self._rows()
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in rows
        ]
        more = [f"… and {len(self) - _SHOWN:,} more"] if len(self) > _SHOWN else []
        return "\n  ".join([self.caption, *lines, *more])

    def _repr_html_(self) -> str:
        titles = "".join(f"<th {_CELL}>{name}</th>" for name in self._head)
        body = "".join(
            "<tr>" + "".join(f"<td {_CELL}>{html.escape(cell)}</td>" for cell in row) + "</tr>"
            for row in self._rows()
        )
        more = f"<p>… and {len(self) - _SHOWN:,} more</p>" if len(self) > _SHOWN else ""
        return (
            f"<table><caption>{html.escape(self.caption)}</caption>"
            f"<thead><tr>{titles}</tr></thead><tbody>{body}</tbody></table>{more}"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return tuple, (tuple(self),)
