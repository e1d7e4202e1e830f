"""What a query finds, as a tuple of ids that shows the first of them."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

from tvmdbg_widgets.model.base.tables import html_table, more_text, text_lines

_SHOWN = 12


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
        lines = text_lines(self._rows())
        return "\n  ".join([self.caption, *lines, *more_text(len(self), _SHOWN)])

    def _repr_html_(self) -> str:
        more = more_text(len(self), _SHOWN)
        return html_table(self._head, self._rows(), caption=self.caption, below=more)

    def __reduce__(self) -> tuple[Any, ...]:
        return tuple, (tuple(self),)
