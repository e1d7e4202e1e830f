"""Rows of a comparison of times that show as text and, in a notebook, as a table."""

from __future__ import annotations

import html
import operator
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, overload

from tvmdbg_widgets.analysis.compare_times.changes import TITLES, TimeChange
from tvmdbg_widgets.analysis.compare_times.columns import ChangeColumns
from tvmdbg_widgets.model.base.frames import data_frame
from tvmdbg_widgets.model.base.tables import more_text, text_lines

_SHOWN = 30
_CELL = 'style="text-align: left; white-space: nowrap"'


class TimeChanges(Sequence[TimeChange]):
    """Rows by the size of their difference, those that changed most first, unknown ones last."""

    #: What a row is.
    noun = "operator"

    @property
    @abstractmethod
    def columns(self) -> ChangeColumns:
        """The rows as columns."""

    @property
    @abstractmethod
    def caption(self) -> tuple[str, ...]:
        """What is told above the rows, one sentence each."""

    def __len__(self) -> int:
        return len(self.columns)

    def __iter__(self) -> Iterator[TimeChange]:
        return (self.columns.row(at) for at in range(len(self)))

    @overload
    def __getitem__(self, index: int) -> TimeChange: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[TimeChange, ...]: ...
    def __getitem__(self, index: int | slice) -> TimeChange | tuple[TimeChange, ...]:
        if isinstance(index, slice):
            return tuple(self.columns.row(at) for at in range(len(self))[index])
        return self.columns.row(range(len(self))[operator.index(index)])

    def to_dataframe(self) -> Any:
        """Return one row each as a ``pandas.DataFrame``, times in nanoseconds."""
        rows = list(self)
        names = (
            *("label", "kind", "a", "b", "ns_a", "ns_b", "change_ns", "ratio", "p", "q"),
            *("shift_ns", "low_ns", "high_ns"),
        )
        columns: dict[str, Any] = {name: [getattr(row, name) for row in rows] for name in names}
        columns["verdict"] = [row.verdict.label for row in rows]
        columns["why"] = [row.why for row in rows]
        columns["match"] = [row.match for row in rows]
        return data_frame(columns)

    def __repr__(self) -> str:
        table = [[self.noun, *TITLES], *(row.cells() for row in self[:_SHOWN])]
        lines = text_lines(table)
        return "\n".join([*self.caption, *lines, *more_text(len(self), _SHOWN)])

    def _repr_html_(self) -> str:
        titles = "".join(f"<th {_CELL}>{html.escape(each)}</th>" for each in (self.noun, *TITLES))
        body = "".join(
            f'<tr title="{html.escape(row.why)}">'
            + "".join(f"<td {_CELL}>{html.escape(cell)}</td>" for cell in row.cells())
            + "</tr>"
            for row in self[:_SHOWN]
        )
        more = "".join(f"<p>{each}</p>" for each in more_text(len(self), _SHOWN))
        told = "<br>".join(map(html.escape, self.caption))
        return (
            f"<p>{told}</p><table><thead><tr>{titles}</tr></thead>"
            f"<tbody>{body}</tbody></table>{more}"
        )
