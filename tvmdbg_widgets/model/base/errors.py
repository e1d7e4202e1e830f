"""The error every reader raises for a file it cannot trust."""

from __future__ import annotations

import os
import re
from typing import Any

from tvmdbg_widgets.model.base.text import cut


class FormatError(ValueError):
    """A file does not follow its format, ends too early, or changed while it was read.

    Parameters
    ----------
    problem
        What is wrong, in one sentence without a full stop.
    file
        Name of the file (or of the bytes) that was read.
    field
        Field of the format that was being read, such as ``"array 3 ('p0'): ndim"``.
    offset
        Position of that field in bytes from the start of the file.
    expected, found
        What the format asks for and what the file holds.
    hint
        What to try.
    """

    def __init__(
        self,
        problem: str,
        *,
        file: str,
        field: str | None = None,
        offset: int | None = None,
        expected: object = None,
        found: object = None,
        hint: str | None = None,
    ) -> None:
        self.problem = problem
        self.file = file
        self.field = field
        self.offset = offset
        self.expected = expected
        self.found = found
        self.hint = hint
        super().__init__(self._paragraph())

    def _paragraph(self) -> str:
        place = ""
        if self.field is not None:
            place += f", field {cut(self.field)}"
        if self.offset is not None:
            place += f", at byte {self.offset}"
        text = f"{self.file}{place}: {cut(self.problem)}"
        if self.expected is not None:
            text += f"; expected {cut(str(self.expected))}"
        if self.found is not None:
            text += f"; found {cut(str(self.found))}"
        text += "."
        if self.hint is not None:
            text += f" {self.hint}"
        return text

    def __reduce__(self) -> tuple[Any, ...]:
        arguments = {
            name: getattr(self, name)
            for name in ("problem", "file", "field", "offset", "expected", "found", "hint")
        }
        return _rebuild, (arguments,)


def why_unread(problem: Exception) -> str:
    """Say in short why something could not be read: no full stop, files by name alone."""
    if isinstance(problem, FormatError):
        return f"{problem.problem} ({_last(problem.file)})"
    if isinstance(problem, OSError) and problem.strerror:
        where = f" ({_last(os.fsdecode(problem.filename))})" if problem.filename else ""
        return problem.strerror + where
    return str(problem) if isinstance(problem, ValueError | OSError) else repr(problem)


def _last(path: str) -> str:
    return re.split(r"[/\\]", path)[-1]


def _rebuild(arguments: dict[str, Any]) -> FormatError:
    return FormatError(arguments.pop("problem"), **arguments)
