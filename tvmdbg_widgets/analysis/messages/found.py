"""One message that a text holds: where, how often, and what is known about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tvmdbg_widgets.model.base.numbers import counted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tvmdbg_widgets.analysis.messages.message import KnownMessage


@dataclass(frozen=True)
class FoundMessage:
    """One message that a text holds."""

    message: KnownMessage
    line: int
    text: str
    facts: Mapping[str, str]
    details: tuple[str, ...] = ()
    count: int = 1

    def lines(self) -> list[str]:
        """Return what is known about it as lines of text."""
        known = self.message
        often = f", {counted(self.count, 'time')}" if self.count > 1 else ""
        printed_by = known.versions if "ExecuTorch" in known.versions else f"TVM {known.versions}"
        told = [f"line {self.line:,}{often}: {self.text}", f"  {known.id} ({printed_by})"]
        told.append(f"  cause: {known.cause}")
        told += [f"    {each}" for each in self.details]
        if known.tell:
            told.append(f"  how to confirm: {known.tell}")
        told += [f"  next: {each}" for each in known.next]
        told.append(f"  source: {known.source}")
        return told
