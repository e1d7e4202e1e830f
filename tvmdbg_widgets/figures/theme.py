"""The colors of figures, those of the live views: light, dark, or whichever the reader prefers."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

ThemeName = Literal["light", "dark", "auto"]
#: Colors of numbers other than times, and of those on both sides of zero.
Ramp = Literal["sequential", "diverging"]

TOKENS: dict[str, Any] = json.loads(Path(__file__).with_name("tokens.json").read_text("utf-8"))

_HEAT_STEPS = 64
_TINT = 0.16
_CLASS_TINT, _FADED = 0.36, 0.45
#: How many classes have a full color.
CLASS_COLORS = len(TOKENS["classes"]["light"])


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
    """The colors of one scheme; ``kinds``, ``heats`` and ``healths`` come from tokens.json."""

    background: str
    surface: str
    text: str
    muted: str
    line: str
    accent: str
    warning: str
    error: str
    kinds: dict[str, str]
    heats: tuple[str, ...]
    healths: dict[str, str]
    classes: tuple[str, ...]
    groups: tuple[str, ...]
    ramps: dict[Ramp, tuple[str, ...]]


def _scheme(name: str, sequential: Sequence[str], diverging: Sequence[str]) -> Scheme:
    return Scheme(
        **TOKENS["schemes"][name],
        kinds=TOKENS["opKinds"][name],
        heats=tuple(TOKENS["heat"][name]),
        healths=TOKENS["health"][name],
        classes=tuple(TOKENS["classes"][name]),
        groups=tuple(TOKENS["group"]["kinds"][name]),
        ramps={"sequential": tuple(sequential), "diverging": tuple(diverging)},
    )


_VALUES = TOKENS["values"]
_LIGHT = _scheme("light", _VALUES["sequential"][::-1], _VALUES["diverging"])
_DARK = _scheme("dark", _VALUES["sequential"], _VALUES["divergingDark"])


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
        self.edge = self._pair(lambda scheme: ramp((scheme.background, scheme.text), 0.55))
        self.plain = self._pair(lambda scheme: ramp((scheme.background, scheme.text), 0.03))

    def kind(self, op_kind: str) -> Paint:
        """Return the color of an op kind."""
        return self._pair(lambda scheme: _kind(scheme, op_kind))

    def tint(self, op_kind: str) -> Paint:
        """Return the ground with a little of the kind's color."""
        return self._pair(lambda scheme: ramp((scheme.background, _kind(scheme, op_kind)), _TINT))

    def heat(self, share: float) -> Paint:
        """Return the fill of a share of the largest time, in 65 steps as the live view mixes it."""
        step = math.floor(min(1.0, max(0.0, share)) * _HEAT_STEPS + 0.5) / _HEAT_STEPS
        return self._pair(lambda scheme: ramp(scheme.heats, step))

    def ramp(self, name: Ramp, share: float) -> Paint:
        """Return the color at a share, 0 … 1, of the way along a ramp, in 65 steps."""
        step = math.floor(min(1.0, max(0.0, share)) * _HEAT_STEPS + 0.5) / _HEAT_STEPS
        return self._pair(lambda scheme: ramp(scheme.ramps[name], step))

    def class_color(self, place: int, *, faded: bool) -> Paint:
        """Return the color of a class, or what a second class has that shares it."""
        if not faded:
            return self._pair(lambda scheme: scheme.classes[place])
        return self._pair(lambda scheme: ramp((scheme.background, scheme.classes[place]), _FADED))

    def group(self, kind: int) -> Paint:
        """Return the color of a kind of groups; several share one, letters tell them apart."""
        return self._pair(lambda scheme: scheme.groups[kind % len(scheme.groups)])

    def tinted(self, color: Paint) -> Paint:
        """Return the ground with some of a class's color, behind text."""
        light, dark = self._schemes
        return Paint(
            ramp((light.background, color), _CLASS_TINT),
            ramp((dark.background, color.dark), _CLASS_TINT),
        )

    def health(self, verdict: str) -> Paint:
        """Return the fill of a verdict on values."""
        return self._pair(lambda scheme: scheme.healths[verdict])

    def ink_on(self, fill: Paint) -> Paint:
        """Return black or white, whichever is easier to read on the fill."""
        return Paint(ink_on(fill), ink_on(fill.dark))

    def _pair(self, choose: Callable[[Scheme], str]) -> Paint:
        light, dark = self._schemes
        return Paint(choose(light), choose(dark))


def theme_of(name: object) -> Theme:
    """Return a theme by its name.

    Raises
    ------
    ValueError
        No theme has the name.
    """
    if not isinstance(name, str) or name not in THEMES:
        raise ValueError(f"no theme {name!r}; known: {', '.join(map(repr, THEMES))}")
    return THEMES[name]


def channels(color: str) -> tuple[int, int, int]:
    """Return red, green and blue of ``"#rrggbb"``."""
    bits = int(color[1:], 16)
    return bits >> 16, bits >> 8 & 255, bits & 255


def ramp(stops: Sequence[str], share: float) -> str:
    """Return the color at a share, 0 … 1, of the way along some stops."""
    at = min(1.0, max(0.0, share)) * (len(stops) - 1)
    low = min(math.floor(at), len(stops) - 2)
    pairs = zip(channels(stops[low]), channels(stops[low + 1]), strict=True)
    return "#" + "".join(f"{math.floor(a + (b - a) * (at - low) + 0.5):02x}" for a, b in pairs)


def ink_on(fill: str) -> str:
    """Return black or white, whichever is easier to read on the fill."""
    linear = [
        value / 12.92 if value <= 0.03928 else ((value + 0.055) / 1.055) ** 2.4
        for value in (channel / 255 for channel in channels(fill))
    ]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "#000000" if luminance > 0.179 else "#ffffff"


def _kind(scheme: Scheme, op_kind: str) -> str:
    return scheme.kinds.get(op_kind, scheme.kinds["other"])


THEMES: dict[str, Theme] = {
    "light": Theme("light", _LIGHT, _LIGHT),
    "dark": Theme("dark", _DARK, _DARK),
    "auto": Theme("auto", _LIGHT, _DARK),
}
