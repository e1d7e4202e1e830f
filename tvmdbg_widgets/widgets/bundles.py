"""The built front ends."""

from __future__ import annotations

import os
from pathlib import Path

STATIC = Path(__file__).parents[1] / "static"


def bundle(name: str) -> str | Path:
    """Return a built front end: its text, or its path while it is being developed.

    anywidget follows a path's changes where ``ANYWIDGET_HMR`` is set, and keeps for that every
    widget that was ever made of it; text lets a closed widget, and its run, go.

    Raises
    ------
    FileNotFoundError
        Where it was never built: a source checkout without ``make bundle``.
    """
    path = STATIC / name
    if not path.is_file():
        raise FileNotFoundError(
            f"{path} was not built; run `make bundle` (it needs Node 20.19 or newer)"
        )
    return path if os.environ.get("ANYWIDGET_HMR") == "1" else path.read_text(encoding="utf-8")
