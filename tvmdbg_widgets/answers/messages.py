"""Questions from the page, checked field by field as if hostile."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, TypeVar

from tvmdbg_widgets.model.base.numbers import counted

_TEXT = 200

Choice = TypeVar("Choice", bound=str)


class Question:
    """One message of a view."""

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

    def has(self, name: str) -> bool:
        """Return whether the message says anything under a name; null is nothing."""
        return self._fields.get(name) is not None

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
            raise ValueError(f"{name} must have {counted(length, 'item')}, found {len(value)}")
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

    def text(self, name: str, most: int) -> str | None:
        """Return a text of at most so many characters, or None."""
        value = self._fields.get(name)
        if value is None:
            return None
        if not isinstance(value, str) or len(value) > most:
            raise ValueError(f"{name} must be a text of at most {most} characters")
        return value

    def number(self, name: str) -> float:
        """Return a finite number."""
        return _number(name, self._fields.get(name))

    def numbers(self, name: str, low: float, high: float, most: int) -> list[float]:
        """Return a list of at most so many numbers in ``low`` … ``high``."""
        value = self._fields.get(name)
        if not isinstance(value, list | tuple) or not 0 < len(value) <= most:
            raise ValueError(f"{name} must be a list of 1 to {most} numbers")
        found = [_number(f"{name}[{i}]", item) for i, item in enumerate(value)]
        for each in found:
            if not low <= each <= high:
                raise ValueError(f"{name} must lie in {low:g} … {high:g}, found {each:g}")
        return found

    def sizes(self, name: str, most: int = 32) -> dict[str, int]:
        """Return sizes by letter, empty where the message has none."""
        value = self._fields.get(name)
        if value is None:
            return {}
        if not isinstance(value, Mapping) or len(value) > most:
            raise ValueError(f"{name} must be an object of at most {most} sizes")
        for letter in value:
            if not isinstance(letter, str) or len(letter) != 1:
                raise ValueError(f"{name} must be sizes by one letter each")
        return {each: _integer(f"{name}.{each}", size, 1, 2**53) for each, size in value.items()}


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


def _number(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{name} must be a number")  # noqa: TRY004 (one kind of error for the caller)
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise ValueError(f"{name} must be a finite number")
    return number
