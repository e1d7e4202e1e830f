"""What is wrong with a query, and where."""

from __future__ import annotations

_AROUND = 40


class QueryError(ValueError):
    """A query that does not follow the grammar.

    Attributes
    ----------
    text : str
        The query.
    position : int
        The character where it goes wrong, counted from 0.
    message : str
        What was expected there, and what was found.
    """

    def __init__(self, text: str, position: int, message: str) -> None:
        self.text, self.position, self.message = text, position, message
        start = max(0, position - _AROUND)
        shown = "".join(
            each if each.isprintable() else " " for each in text[start : position + _AROUND]
        )
        super().__init__(f"{message}\n  {shown}\n  {' ' * (position - start)}^")

    def __reduce__(self) -> tuple[type[QueryError], tuple[str, int, str]]:
        return QueryError, (self.text, self.position, self.message)
