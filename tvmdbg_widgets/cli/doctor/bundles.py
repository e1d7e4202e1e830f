"""Whether the front ends are there, whole, and those of these sources."""

from __future__ import annotations

import json
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from tvmdbg_widgets.cli.doctor.rules import Problem

STATIC = Path(__file__).parents[2] / "static"
NAMES = ("loader", "run", "session", "graph", "tensor", "timeline", "memory", "debugger", "page")


def state(static: Path = STATIC) -> tuple[str, str]:
    """Return ``"current"``, ``"missing"`` or ``"stale"``, and the hash or what is missing.

    Installed packages have no sources to compare with: theirs are current when they are whole.
    """
    absent = [f"{name}.js" for name in NAMES if not (static / f"{name}.js").is_file()]
    try:
        recorded = str(json.loads((static / "hash.json").read_text("utf-8"))["sha256"])
    except (OSError, ValueError, KeyError, TypeError):
        absent.append("hash.json")
        recorded = ""
    if absent:
        return "missing", ", ".join(absent)
    root = static.parents[1]
    hook = root / "js/hatch_build.py"
    if not (root / "js/src").is_dir() or not hook.is_file():
        return "current", recorded
    spec = spec_from_file_location("tvmdbg_widgets_hatch_build", hook)
    assert spec is not None  # noqa: S101 (for the type checker)
    assert spec.loader is not None  # noqa: S101
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return ("current" if module.is_current(root) else "stale"), recorded


def bundle_problem(found: tuple[str, str]) -> Problem | None:
    """Say what a state means, None where nothing is wrong."""
    kind, detail = found
    remedy = "in a checkout: make bundle; else: pip install --force-reinstall tvmdbg-widgets"
    if kind == "missing":
        return Problem("bundles", f"missing: {detail}", "views and pages stay empty", remedy)
    if kind == "stale":
        what = "the built front ends are older than their sources"
        return Problem("bundles", what, "views show an older version of the code", "make bundle")
    return None
