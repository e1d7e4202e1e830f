"""Progress bars: on standard error, and only where somebody looks."""

from __future__ import annotations

import os
import sys
from typing import Any

from tvmdbg_widgets.cli.common.terminal import is_terminal


def wanted() -> bool:
    """Whether a bar may be drawn."""
    return is_terminal(sys.stderr) and os.environ.get("TERM", "") != "dumb"


def quiet_unless_terminal() -> None:
    """Silence the bars of the library where nobody looks at them."""
    if not wanted():
        os.environ.setdefault("TQDM_DISABLE", "1")


def byte_bar(total: int, what: str) -> Any:
    """Return a ``tqdm`` bar that counts bytes; it appears where there is something to wait for."""
    from tqdm import tqdm

    return tqdm(
        total=total,
        desc=what,
        unit="B",
        unit_scale=True,
        delay=0.5,
        leave=False,
        disable=not wanted(),
    )
