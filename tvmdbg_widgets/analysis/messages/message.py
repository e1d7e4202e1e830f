"""One message that is known: how it reads, what causes it, what to look at next."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from tvmdbg_widgets.analysis.messages.tolerance import literal_pattern, longest_word, tolerant


@dataclass(frozen=True)
class KnownMessage:
    """One message."""

    id: str
    says: str
    literal: str
    pattern: str
    versions: str
    cause: str
    tell: str
    next: tuple[str, ...]
    source: str
    layout: bool = False

    @cached_property
    def regex(self) -> re.Pattern[str]:
        """The pattern, with other blanks and quote marks, compiled."""
        return re.compile(tolerant(self.pattern))

    @cached_property
    def literal_regex(self) -> re.Pattern[str]:
        """The literal, the same way."""
        return re.compile(literal_pattern(self.literal))

    @cached_property
    def word(self) -> str:
        """The longest word of the literal."""
        return longest_word(self.literal)
