"""The colors of figures, those of the live views: light, dark, or whichever the reader prefers."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

from tvmdbg_widgets.model.base.choice import one_of

if TYPE_CHECKING:
    from collections.abc import Callable

ThemeName = Literal["light", "dark", "auto"]

TOKENS: dict[str, Any] = json.loads(Path(__file__).with_name("tokens.json").read_text("utf-8"))


class Paint(str):
    """A color ``"#rrggbb"`` and the one that stands for it where dark is preferred."""

    __slots__ = ("dark",)

    dark: str

    def __new__(cls, light: str, dark: str) -> Self:
        """Pair two colors."""
        made = super().__new__(cls, light)
        made.dark = dark
        return made


@dataclass(frozen=True)
class Scheme:
    """The colors of one scheme of tokens.json."""

    background: str
    surface: str
    text: str
    muted: str
    line: str
    accent: str
    warning: str
    error: str


_LIGHT, _DARK = (Scheme(**TOKENS["schemes"][name]) for name in ("light", "dark"))


class Theme:
    """What each part of a figure is painted with."""

    def __init__(self, name: ThemeName, light: Scheme, dark: Scheme) -> None:
        self.name: ThemeName = name
        self._schemes = light, dark
        self.background = self._pair(lambda scheme: scheme.background)
        self.surface = self._pair(lambda scheme: scheme.surface)
        self.text = self._pair(lambda scheme: scheme.text)
        self.muted = self._pair(lambda scheme: scheme.muted)
        self.line = self._pair(lambda scheme: scheme.line)
        self.accent = self._pair(lambda scheme: scheme.accent)
        self.warning = self._pair(lambda scheme: scheme.warning)
        self.error = self._pair(lambda scheme: scheme.error)

    def kind(self, op_kind: str) -> Paint:
        """Return the color of an op kind."""
        light, dark = (TOKENS["opKinds"][name] for name in ("light", "dark"))
        if self.name == "dark":
            light = dark
        elif self.name == "light":
            dark = light
        return Paint(*(kinds.get(op_kind, kinds["other"]) for kinds in (light, dark)))

    def _pair(self, choose: Callable[[Scheme], str]) -> Paint:
        light, dark = self._schemes
        return Paint(choose(light), choose(dark))


def theme_of(name: object) -> Theme:
    """Return a theme by its name."""
    return THEMES[one_of("theme", name, THEMES)]


def channels(color: str) -> tuple[int, int, int]:
    """Return red, green and blue of ``"#rrggbb"``."""
    bits = int(color[1:], 16)
    return bits >> 16, bits >> 8 & 255, bits & 255


def ink_on(fill: str) -> str:
    """Return black or white, whichever is easier to read on the fill."""
    linear = [
        value / 12.92 if value <= 0.03928 else ((value + 0.055) / 1.055) ** 2.4
        for value in (channel / 255 for channel in channels(fill))
    ]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "#000000" if luminance > 0.179 else "#ffffff"


THEMES: dict[str, Theme] = {
    "light": Theme("light", _LIGHT, _LIGHT),
    "dark": Theme("dark", _DARK, _DARK),
    "auto": Theme("auto", _LIGHT, _DARK),
}
