"""Where the built front ends lie."""

from __future__ import annotations

from pathlib import Path

STATIC = Path(__file__).parents[1] / "static"


def bundle(name: str) -> Path:
    """Return the path of a built front end.

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
    return path
