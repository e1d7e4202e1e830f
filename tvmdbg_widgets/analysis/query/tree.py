"""What a query says, as a tree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

Mode: TypeAlias = Literal["has", "is", "glob", "regex"]
Comparison: TypeAlias = Literal["<", "<=", ">", ">=", "=", "!="]
Arrow: TypeAlias = Literal["->", "->>"]


@dataclass(frozen=True, slots=True)
class Word:
    """A text in the name, function, operators, kind, dtypes or shapes; in lower case."""

    mode: Mode
    text: str

    def plain(self) -> list[Any]:
        """Return the tree as lists of strings and numbers."""
        return ["word", self.mode, self.text]


@dataclass(frozen=True, slots=True)
class Id:
    """The node of one id."""

    node: int

    def plain(self) -> list[Any]:
        """Return the tree as lists of strings and numbers."""
        return ["id", self.node]


@dataclass(frozen=True, slots=True)
class Text:
    """A text in a field, in lower case; ``differs``: the field is known and has no such text."""

    field: str
    mode: Mode
    text: str
    differs: bool = False

    def plain(self) -> list[Any]:
        """Return the tree as lists of strings and numbers."""
        return ["text", self.field, self.mode, self.text, self.differs]


@dataclass(frozen=True, slots=True)
class Compare:
    """A number in a field, in nanoseconds, bytes, or as a share of 1."""

    field: str
    by: Comparison
    value: float

    def plain(self) -> list[Any]:
        """Return the tree as lists of strings and numbers."""
        return ["compare", self.field, self.by, self.value]


@dataclass(frozen=True, slots=True)
class Shape:
    """The sizes of an output: digits with ``*`` and ``?``; ``...`` is any number of sizes."""

    sizes: tuple[str, ...]
    differs: bool = False

    def plain(self) -> list[Any]:
        """Return the tree as lists of strings and numbers."""
        return ["shape", list(self.sizes), self.differs]


@dataclass(frozen=True, slots=True)
class Not:
    """All other nodes."""

    part: Query

    def plain(self) -> list[Any]:
        """Return the tree as lists of strings and numbers."""
        return ["not", self.part.plain()]


@dataclass(frozen=True, slots=True)
class And:
    """What all parts find."""

    parts: tuple[Query, ...]

    def plain(self) -> list[Any]:
        """Return the tree as lists of strings and numbers."""
        return ["and", *(part.plain() for part in self.parts)]


@dataclass(frozen=True, slots=True)
class Or:
    """What any part finds."""

    parts: tuple[Query, ...]

    def plain(self) -> list[Any]:
        """Return the tree as lists of strings and numbers."""
        return ["or", *(part.plain() for part in self.parts)]


@dataclass(frozen=True, slots=True)
class Path:
    """Nodes along edges: each step is read by the next one, or lies anywhere before it."""

    steps: tuple[Query, ...]
    arrows: tuple[Arrow, ...]

    def plain(self) -> list[Any]:
        """Return the tree as lists of strings and numbers."""
        return ["path", list(self.arrows), *(step.plain() for step in self.steps)]


Query: TypeAlias = Word | Id | Text | Compare | Shape | Not | And | Or | Path
