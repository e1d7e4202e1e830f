"""Known names that resemble a wrong one."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from itertools import islice

#: Names that are searched.
SEARCHED = 20_000


def near(given: object, known: Iterable[object]) -> list[str]:
    """Return up to three known names that resemble or contain the given one."""
    names = [name for name in islice(known, SEARCHED) if isinstance(name, str)]
    folded: dict[str, str] = {}
    for name in names:
        folded.setdefault(name.casefold(), name)
    wanted = str(given).strip().casefold()
    close = difflib.get_close_matches(wanted, folded, n=3)
    if not close and len(wanted) > 1:
        close = [name for name in folded if wanted in name or (len(name) > 2 and name in wanted)]
    return [folded[name] for name in close[:3]]


def perhaps(given: object, known: Iterable[object]) -> str:
    """Return ``"; did you mean 'graph'?"``, or "" if no name is near."""
    close = near(given, known)
    return f"; did you mean {' or '.join(map(repr, close))}?" if close else ""
