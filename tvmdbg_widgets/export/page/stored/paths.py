"""Folder names of this machine, taken out of what is given on."""

from __future__ import annotations

import os
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath
from typing import Any

from tvmdbg_widgets.analysis.derived.derived import Derived


class PathEraser:
    """Shortens the paths of a run's files to what lies below the folder that was opened."""

    def __init__(self, run: Derived) -> None:
        found: set[str] = set()
        for path in (Path.home(), Path.cwd()):
            found |= _above(path)
        sources = {id(file.source): (file.source, file.path) for file in run.parts.files}
        for tensor in (run.tensors or {}).values():
            source = tensor.record.source
            sources.setdefault(id(source), (source, ""))
        for source, below in sources.values():
            found |= _before(source.name, below)
            place = getattr(source, "path", None)
            if isinstance(place, PurePath):
                found |= _before(os.fspath(place), below) | _above(Path(place).parent)
        self._prefixes = sorted(found, key=len, reverse=True)

    def text(self, text: str) -> str:
        """Return the text without the folders."""
        for prefix in self._prefixes:
            text = text.replace(prefix, "").replace(prefix[:-1], "…")
        return text

    def json(self, value: Any) -> Any:
        """Return a JSON value with each of its texts shortened."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {key: self.json(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.json(item) for item in value]
        return value


def _before(name: str, below: str) -> set[str]:
    """What stands in a name before the part that lies below the folder that was opened."""
    if below and name.endswith(below):
        head = name[: len(name) - len(below)]
        return {head} if len(head) > 1 and head[-1] in "/\\" else set()
    if below or not _has_root(name):
        return set()
    cut = max(name.rfind("/"), name.rfind("\\")) + 1
    return {name[:cut]} if cut > 1 else set()


def _has_root(name: str) -> bool:
    return PurePosixPath(name).is_absolute() or PureWindowsPath(name).is_absolute() or "://" in name


def _above(folder: Path) -> set[str]:
    """A folder and those above it, except the root and its children, which tell nothing."""
    parts = [folder, *folder.parents]
    return {f"{each}{os.sep}" for each in parts if len(each.parts) > 2}
