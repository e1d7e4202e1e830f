"""One message that is known: how it reads, what causes it, what to look at next."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from tvmdbg_widgets.analysis.messages.tolerance import literal_pattern, longest_word, tolerant


@dataclass(frozen=True)
class KnownMessage:
    """One message.

    Attributes
    ----------
    id : str
        Kebab-case, stable between releases.
    says : str
        Its text, with ``…`` for what varies.
    literal : str
        Letters that every such message has: it is looked for around them alone.
    pattern : str
        A regular expression for the whole of it; its named groups are facts. Linear: no repetition
        within a repetition, every repetition bounded, and one at its start preceded by what it
        cannot match. At most 600 letters before the literal and 1,500 behind it.
    versions : str
        Releases that print it.
    cause : str
        What is wrong, in sentences.
    tell : str
        How to tell it from its neighbors.
    next : tuple of str
        What to look at, our own calls among it.
    source : str
        Where the fact is from.
    layout : bool
        Whether two layouts of ``DLDataType`` may be behind it.
    """

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
