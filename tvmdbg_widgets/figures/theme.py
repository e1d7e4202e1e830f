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
