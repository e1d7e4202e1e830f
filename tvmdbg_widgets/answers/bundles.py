"""The built front ends."""

from __future__ import annotations

import gzip
import hashlib
import os
from functools import cache
from pathlib import Path

STATIC = Path(__file__).parents[1] / "static"
#: Views that fetch their code from the kernel.
VIEWS = ("graph", "tensor", "timeline", "memory", "comparison", "plot", "tuning", "debugger")
#: What is fetched beside a view: the worker that lays graphs out.
PARTS = ("layout",)


def bundle(name: str) -> str | Path:
    """Return a built front end: its text, or its path while it is being developed.

    anywidget follows a path's changes where ``ANYWIDGET_HMR`` is set, and keeps for that every
    widget that was ever made of it; text lets a closed widget, and its run, go.
    """
    path = STATIC / name
    if not path.is_file():
        raise FileNotFoundError(
            f"{path} was not built; run `make bundle` (it needs Node 20.19 or newer)"
        )
    return path if os.environ.get("ANYWIDGET_HMR") == "1" else path.read_text(encoding="utf-8")


def module(view: str) -> str | Path:
    """Return the module of every view: it fetches the view's code from the run's model.

    Where ``ANYWIDGET_HMR`` is set, the code itself, so that anywidget sees it change.
    """
    return bundle("loader.js" if os.environ.get("ANYWIDGET_HMR") != "1" else f"{view}.js")


@cache
def code(view: str) -> bytes:
    """Return the code of a view or a part, compressed by gzip."""
    return gzip.compress((STATIC / f"{view}.js").read_bytes(), mtime=0)


def code_name(view: str) -> str:
    """Return a view's name and what tells this build of it from others."""
    return f"{view} {hashlib.sha256((STATIC / f'{view}.js').read_bytes()).hexdigest()[:16]}"
