"""Colors of figures and live views: light, dark, or by the reader's preference."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: ``"auto"`` is light, and dark for readers who prefer dark.
THEMES = ("light", "dark", "auto")

TOKENS: dict[str, Any] = json.loads(Path(__file__).with_name("tokens.json").read_text("utf-8"))


@dataclass(frozen=True)
class Scheme:
    """One color scheme of tokens.json."""

    background: str
    surface: str
    text: str
    muted: str
    line: str
    accent: str
    warning: str
    error: str
    op_kinds: Mapping[str, str]

    def kind(self, op_kind: str) -> str:
        """Return the color of an op kind."""
        return self.op_kinds.get(op_kind, self.op_kinds["other"])


SCHEMES = {
    name: Scheme(**scheme, op_kinds=TOKENS["opKinds"][name])
    for name, scheme in TOKENS["schemes"].items()
}


def channels(color: str) -> tuple[int, int, int]:
    """Return red, green and blue of ``"#rrggbb"``."""
    bits = int(color[1:], 16)
    return bits >> 16, bits >> 8 & 255, bits & 255


def ink_on(fill: str) -> str:
    """Return black or white, whichever has more contrast on the fill."""
    linear = [
        value / 12.92 if value <= 0.03928 else ((value + 0.055) / 1.055) ** 2.4
        for value in (channel / 255 for channel in channels(fill))
    ]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "#000000" if luminance > 0.179 else "#ffffff"
