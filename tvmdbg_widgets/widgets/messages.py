"""Questions from the page, checked field by field as if hostile."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

_TEXT = 200

Choice = TypeVar("Choice", bound=str)


class Question:
    """One message of a view.

    Parameters
    ----------
    message : object
        What came over the wire.

    Raises
    ------
    ValueError
        It is not a mapping with a ``kind``.
    """

    def __init__(self, message: object) -> None:
        if not isinstance(message, Mapping) or not isinstance(message.get("kind"), str):
            raise ValueError("a question must be an object with a kind")  # noqa: TRY004 (one kind of error for the caller)
        self._fields: Mapping[str, Any] = message
        self.kind: str = message["kind"][:_TEXT]

    @property
    def id(self) -> str | None:
        """The id that the answer must carry; None where the message has no usable one."""
        return message_id(self._fields)

    @property
    def client(self) -> str:
        """Which view asks; empty where the message does not say."""
        found = self._fields.get("client")
        return found if isinstance(found, str) and len(found) <= _TEXT else ""

    def flag(self, name: str) -> bool:
        """Return whether the message says so; anything but ``true`` is no."""
        return self._fields.get(name) is True

    def integer(self, name: str, low: int = 0, high: int = 2**53) -> int:
        """Return a whole number in ``low`` … ``high``."""
        return _integer(name, self._fields.get(name), low, high)

    def integers(self, name: str, length: int | None = None, *, most: int = 64) -> list[int]:
        """Return a list of whole numbers of at least 0, of a given length or at most ``most``."""
        value = self._fields.get(name)
        if not isinstance(value, list | tuple) or len(value) > most:
            raise ValueError(f"{name} must be a list of at most {most} whole numbers")
        if length is not None and len(value) != length:
            raise ValueError(f"{name} must have {length} items, found {len(value)}")
        return [_integer(f"{name}[{i}]", item, 0, 2**53) for i, item in enumerate(value)]

    def axes(self, name: str) -> tuple[int | None, int | None]:
        """Return a pair of axis numbers, either None."""
        value = self._fields.get(name)
        if not isinstance(value, list | tuple) or len(value) != 2:
            raise ValueError(f"{name} must be a pair of axes")
        down, across = (
            None if item is None else _integer(f"{name}[{i}]", item, 0, 63)
            for i, item in enumerate(value)
        )
        return down, across

    def choice(self, name: str, choices: tuple[Choice, ...]) -> Choice | None:
        """Return one of the choices, or None."""
        value = self._fields.get(name)
        if value is None:
            return None
        for choice in choices:
            if value == choice:
                return choice
        raise ValueError(f"{name} must be one of {', '.join(choices)}")


def message_id(message: object) -> str | None:
    """Return the id of any message, None where it has no usable one."""
    found = message.get("id") if isinstance(message, Mapping) else None
    return found if isinstance(found, str) and len(found) <= _TEXT else None


def _integer(name: str, value: Any, low: int, high: int) -> int:
    whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    if not whole or isinstance(value, bool):
        raise ValueError(f"{name} must be a whole number")
    if not low <= value <= high:
        raise ValueError(f"{name} must lie in {low} … {high}, found {value}")
    return int(value)
