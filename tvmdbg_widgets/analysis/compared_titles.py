"""What two runs that are compared are called."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

from tvmdbg_widgets.model.parts import RunParts


def checked_titles(
    a: RunParts, b: RunParts, titles: Sequence[str] | None = None
) -> tuple[str, str]:
    """Return what to call two runs: as given, else their titles with what tells them apart."""
    if titles is None:
        return _titles(a, b)
    found = () if isinstance(titles, str) else tuple(titles)
    if len(found) != 2 or "" in found:
        raise ValueError(f"titles are two texts, one for each run, found {titles!r:.80}")
    return found[0], found[1]


def _titles(a: RunParts, b: RunParts) -> tuple[str, str]:
    """Return the titles; where these are the same, with the folders that tell the runs apart."""
    if a.title != b.title:
        return a.title, b.title
    folders_a, folders_b = (_folders(each) for each in (a, b))
    for up in range(1, 1 + min(len(folders_a), len(folders_b))):
        if folders_a[-up] != folders_b[-up]:
            one, other = (each[len(each) - up :] for each in (folders_a, folders_b))
            return "/".join(one), "/".join(other)
    return a.title, b.title


def _folders(parts: RunParts) -> tuple[str, ...]:
    """Return the names of the folders down to the one that a run was opened from."""
    for file in parts.files:
        path = getattr(file.source, "path", None)
        if isinstance(path, PurePath):
            below = len(PurePath(file.path).parts)
            return path.parts[1:-below]
    return ()
