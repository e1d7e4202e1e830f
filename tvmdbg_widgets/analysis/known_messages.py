"""Known messages, read from known_messages.toml."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

from tvmdbg_widgets.analysis.pasted_text import literal_pattern, tolerant
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.text import hanging

_PART = re.compile(r"\{([A-Z_]{1,40})\}")


@dataclass(frozen=True)
class KnownMessage:
    """One message: its text, its cause and what to do next."""

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
        """The compiled pattern, tolerant of blanks and quote marks."""
        return re.compile(tolerant(self.pattern))

    @cached_property
    def literal_regex(self) -> re.Pattern[str]:
        """The compiled literal, likewise."""
        return re.compile(literal_pattern(self.literal))

    @cached_property
    def word(self) -> str:
        """The longest word of the literal; every text with this message contains it."""
        words: list[str] = re.findall(r"\w+", self.literal)
        return max(words, key=len)


@dataclass(frozen=True)
class FoundMessage:
    """One occurrence of a message: place, count and facts."""

    message: KnownMessage
    line: int
    text: str
    facts: Mapping[str, str]
    details: tuple[str, ...] = ()
    count: int = 1

    @property
    def title(self) -> str:
        """Its line, its id and the releases that print it."""
        known = self.message
        often = f", {counted(self.count, 'time')}" if self.count > 1 else ""
        printed_by = known.versions if "ExecuTorch" in known.versions else f"TVM {known.versions}"
        return f"line {self.line:,}{often}: {known.id} ({printed_by})"

    def rows(self) -> list[tuple[str, str]]:
        """Return what is known about it, with a label for each fact."""
        known = self.message
        rows = [
            ("message", self.text),
            ("cause", known.cause),
            *(("detail", detail) for detail in self.details),
            ("how to confirm", known.tell),
            *(("next", step) for step in known.next),
            ("source", known.source),
        ]
        return [(label, text) for label, text in rows if text]

    def lines(self) -> list[str]:
        """Return the explanation as lines of text."""
        rows = [hanging(f"{label}:", text) for label, text in self.rows()]
        return [self.title, *chain.from_iterable(rows)]


def _messages(group: dict[str, Any]) -> tuple[KnownMessage, ...]:
    parts: dict[str, str] = group.get("parts", {})

    def whole(text: str) -> str:
        return _PART.sub(lambda name: whole(parts[name[1]]), text)

    shared = {key: group[key] for key in ("versions", "source", "next") if key in group}
    messages = []
    for own in group["message"]:
        fields = {"pattern": own["literal"], "tell": ""} | shared | own
        fields |= {key: whole(fields[key]) for key in ("pattern", "source")}
        fields["next"] = tuple(map(whole, fields["next"]))
        messages.append(KnownMessage(**fields))
    return tuple(messages)


_FILE = tomllib.loads(Path(__file__).with_name("known_messages.toml").read_text("utf-8"))
GROUPS = {group["title"]: _messages(group) for group in _FILE["group"]}  # messages by their source
MESSAGES = tuple(message for group in GROUPS.values() for message in group)
#: Meaning of ExecuTorch's status numbers.
STATUSES = {int(number, 16): text for number, text in _FILE["statuses"].items()}
