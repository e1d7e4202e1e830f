"""Issues gathered while a graph file is read."""

from __future__ import annotations

import reprlib
from collections import Counter
from typing import TYPE_CHECKING, Any

from tvmdbg_widgets.model.base.issues import Issue, Issues, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 60
_SHORT.maxlevel = 2


def shown(value: Any) -> str:
    """Return a value from a file as short text."""
    return _SHORT.repr(value)


class GraphLog:
    """Gathers issues; of one rule the first `LIMIT` one by one, the rest as a count."""

    LIMIT = 25

    def __init__(self, file: str) -> None:
        self.file = file
        self._issues: list[Issue] = []
        self._counts: Counter[tuple[str, Severity]] = Counter()

    def add(
        self,
        rule: str,
        field: str,
        *,
        expected: str,
        found: str,
        severity: Severity = Severity.ERROR,
        done: str = "",
        loader: str = "",
        nodes: Iterable[int] = (),
        entries: Iterable[tuple[int, int]] = (),
    ) -> None:
        """Add one issue."""
        self._counts[rule, severity] += 1
        if self._counts[rule, severity] > self.LIMIT:
            return
        message = f"{field}: expected {expected}; found {found}."
        if done:
            message += f" {done}."
        if loader:
            message += f" TVM's loader: “{loader}”."
        self._issues.append(Issue(rule, severity, message, tuple(nodes), tuple(entries), self.file))

    def issues(self) -> Issues:
        """Return what was gathered."""
        rest = [
            Issue(
                rule,
                severity,
                f"{count - self.LIMIT:,} more of this rule; {count:,} in all.",
                file=self.file,
            )
            for (rule, severity), count in self._counts.items()
            if count > self.LIMIT
        ]
        return Issues([*self._issues, *rest])
