"""Defects found in files that could be read all the same."""

from __future__ import annotations

import enum
import html
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, overload

from tvmdbg_widgets.model.base.frames import data_frame
from tvmdbg_widgets.model.base.text import shortened

if TYPE_CHECKING:
    import pandas as pd

_LINES_SHOWN = 20


class IssueSeverity(enum.StrEnum):
    """Weight of an issue.

    ``ERROR``: the file breaks its format, something was left out or repaired.
    ``WARNING``: readable as it is, but what it says is questionable.
    ``NOTE``: worth knowing, nothing is wrong.
    """

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Issue:
    """One defect: the rule it breaks, what was found, and where.

    Attributes
    ----------
    rule : str
        Kebab-case id of the rule, stable between releases.
    severity : Severity
    message : str
        One paragraph naming the field, what was expected and what was found; without its middle
        where names of the file make it too long.
    nodes : tuple of int
        Node ids concerned, possibly only the first of many.
    entries : tuple of (int, int)
        Entries ``(node, output)`` concerned.
    file : str
        Name of the file, empty where no file is involved.
    """

    rule: str
    severity: IssueSeverity
    message: str
    nodes: tuple[int, ...] = ()
    entries: tuple[tuple[int, int], ...] = ()
    file: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "message", shortened(self.message))

    def __str__(self) -> str:
        where = f"{self.file}: " if self.file else ""
        return f"{self.severity.value} [{self.rule}] {where}{self.message}"


class Issues(Sequence[Issue]):
    """An immutable sequence of issues, in the order they were found.

    Parameters
    ----------
    issues : iterable of Issue
    """

    __slots__ = ("_items",)

    def __init__(self, issues: Iterable[Issue] = ()) -> None:
        self._items: tuple[Issue, ...] = tuple(issues)

    def __len__(self) -> int:
        return len(self._items)

    @overload
    def __getitem__(self, index: int) -> Issue: ...
    @overload
    def __getitem__(self, index: slice) -> Issues: ...
    def __getitem__(self, index: int | slice) -> Issue | Issues:
        if isinstance(index, slice):
            return Issues(self._items[index])
        return self._items[index]

    def __add__(self, other: Iterable[Issue]) -> Issues:
        return Issues((*self._items, *other))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Issues) and self._items == other._items

    def __hash__(self) -> int:
        return hash(self._items)

    def by_rule(self, rule: str) -> Issues:
        """Return the issues of one rule."""
        return Issues(issue for issue in self._items if issue.rule == rule)

    def by_severity(self, severity: IssueSeverity) -> Issues:
        """Return the issues of one severity."""
        return Issues(issue for issue in self._items if issue.severity is severity)

    def summary(self) -> str:
        """Return the counts in words, such as ``"1 error, 2 notes"`` or ``"0 issues"``."""
        counts = Counter(issue.severity for issue in self._items)
        told = [
            f"{counts[s]} {s.value}{'s' * (counts[s] != 1)}" for s in IssueSeverity if counts[s]
        ]
        return ", ".join(told) or "0 issues"

    def to_dataframe(self) -> pd.DataFrame:
        """Return the issues as a table with one row each (needs pandas)."""
        fields = ("rule", "severity", "message", "nodes", "entries", "file")
        return data_frame({name: [getattr(i, name) for i in self._items] for name in fields})

    def _repr_html_(self) -> str:
        items = "".join(
            f"<li><b>{issue.severity.value}</b> {html.escape(issue.message)} "
            f"<code>{html.escape(issue.rule)}</code></li>"
            for issue in self._items[:_LINES_SHOWN]
        )
        more = len(self._items) - _LINES_SHOWN
        rest = f"<li>… and {more} more</li>" if more > 0 else ""
        return f"<div>Issues: {self.summary()}</div><ul>{items}{rest}</ul>"

    def __repr__(self) -> str:
        lines = [f"Issues: {self.summary()}"]
        lines += [f"  {issue}" for issue in self._items[:_LINES_SHOWN]]
        if len(self._items) > _LINES_SHOWN:
            lines.append(f"  … and {len(self._items) - _LINES_SHOWN} more")
        return "\n".join(lines)
