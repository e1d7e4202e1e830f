"""The files below a folder, whatever it is: on disk, behind a URL, or in an archive."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from tvmdbg_widgets.model.issues import Issue, Severity
from tvmdbg_widgets.model.sources_given import as_source
from tvmdbg_widgets.model.text import one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tvmdbg_widgets.model.sources import ByteSource

#: How deep folders are looked into, and how many files are looked at.
DEPTH = 4
FILES = 2_000
_NAMES_SHOWN = 8


@dataclass(frozen=True)
class Entry:
    """One file of a tree: its path below the root, and how to open it."""

    path: PurePath
    open: Callable[[], ByteSource]

    @property
    def name(self) -> str:
        """The path as text."""
        return os.fspath(self.path)


class Tree(ABC):
    """A folder.

    Attributes
    ----------
    name
        What to call it in messages.
    root
        Its path, as a user would write it.
    far
        Whether opening a file of it costs round trips over a network.
    """

    name: str
    root: PurePath
    far: bool = False

    @abstractmethod
    def files(self, issues: list[Issue]) -> Iterator[Entry]:
        """Yield its files in a fixed order; say in ``issues`` what is left out."""

    def choice(self, folder: str) -> str:
        """Return the call that opens one folder of it, "" where there is none."""
        return f"tvmdbg_widgets.open({os.fspath(self.root / folder)!r})"


class LocalTree(Tree):
    """A folder on disk; links to folders are not followed."""

    def __init__(self, root: Path) -> None:
        self.root = self._path = root
        self.name = one_line(os.fspath(root))

    def files(self, issues: list[Issue]) -> Iterator[Entry]:
        """Yield its files, those of a folder before those below it."""
        pending = [(self._path, 0)]
        count = 0
        deeper: list[str] = []
        while pending:
            folder, depth = pending.pop(0)
            try:
                entries = sorted(os.scandir(folder), key=lambda each: each.name)
            except OSError as problem:
                issues.append(unreadable(os.fspath(folder), problem))
                continue
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    if depth < DEPTH:
                        pending.append((Path(entry.path), depth + 1))
                    else:
                        deeper.append(os.fspath(Path(entry.path).relative_to(self._path)))
                    continue
                if not os.path.isfile(entry.path):  # noqa: PTH113 (False for a circle of links)
                    continue
                count += 1
                if count > FILES:
                    issues.append(too_many(self.name))
                    return
                yield self._entry(Path(entry.path))
        if deeper:
            issues.append(too_deep(self.name, deeper))

    def _entry(self, path: Path) -> Entry:
        below = path.relative_to(self._path)
        return Entry(below, lambda: as_source(path, os.fspath(below)))


def unreadable(name: str, problem: Exception) -> Issue:
    """Return the issue of a file or folder that could not be read."""
    text = str(problem).removeprefix(name).lstrip(",: ")
    return Issue("file-unreadable", Severity.ERROR, one_line(text), file=one_line(name))


def too_many(name: str) -> Issue:
    """Return the issue of a tree with more files than are looked at."""
    text = f"only the first {FILES} files were looked at; open the dump's own folder"
    return Issue("folder-too-large", Severity.WARNING, text, file=name)


def too_deep(name: str, folders: Sequence[str]) -> Issue:
    """Return the note on folders that lie too deep."""
    return note(name, "folder-too-deep", "folders too deep to be looked into", folders)


def note(file: str, rule: str, what: str, names: Sequence[str]) -> Issue:
    """A note on some files or folders, the first of them by name."""
    shown = ", ".join(one_line(name) for name in sorted(names)[:_NAMES_SHOWN])
    more = " …" if len(names) > _NAMES_SHOWN else ""
    return Issue(rule, Severity.NOTE, f"{len(names)} {what}: {shown}{more}", file=one_line(file))
