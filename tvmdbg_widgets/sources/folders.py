"""Trees of files on disk, behind a URL, or in an archive."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path, PurePath, PurePosixPath
from typing import Any

from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.text import (
    Issue,
    IssueSeverity,
    file_system,
    one_line,
    without_secrets,
)
from tvmdbg_widgets.sources.byte_source import ByteSource
from tvmdbg_widgets.sources.file_source import FileSource, below, leads_below
from tvmdbg_widgets.sources.given import RemoteSource

DEPTH = 4
FILES = 2_000
_NAMES_SHOWN = 8
_FOLLOW = "; open(…, follow_links=True) follows links"


class _EntryKind(Enum):
    """The kind of a folder's entry."""

    FILE = 0
    FOLDER = 1
    SEEN = 2  # a link to a folder that is looked into anyway
    OUTSIDE = 3  # a link that leads out of the folder, a pipe, a device


@dataclass(frozen=True)
class FolderEntry:
    """One file of a tree: its path below the root, and how to open it."""

    path: PurePath
    open: Callable[[], ByteSource]

    @property
    def name(self) -> str:
        """The path as text."""
        return os.fspath(self.path)


class Tree(ABC):
    """A folder."""

    name: str
    root: PurePath
    far: bool = False

    @abstractmethod
    def files(self, issues: list[Issue]) -> Iterator[FolderEntry]:
        """Yield its files in a fixed order; add skipped ones to ``issues``."""

    def choice(self, folder: str) -> str:
        """Return the call that opens one of its folders, or ""."""
        return f"tvmdbg_widgets.open({os.fspath(self.root / folder)!r})"


class LocalTree(Tree):
    """A folder on disk, which may be given as a link."""

    def __init__(self, root: Path, *, follow_links: bool = False) -> None:
        self.root = self._path = root
        self.name = one_line(os.fspath(root))
        self._follow_links = follow_links

    def files(self, issues: list[Issue]) -> Iterator[FolderEntry]:
        """Yield its files, parents before children."""
        deeper: list[Path] = []
        left: list[Path] = []
        for count, path in enumerate(self._walk(issues, deeper, left)):
            if count == FILES:
                issues.append(too_many(self.name))
                return
            yield self._entry(path)
        if deeper:
            issues.append(too_deep(self.name, self._names(deeper)))
        if left:
            issues.append(left_out(self.name, self._names(left), _FOLLOW))

    def _walk(self, issues: list[Issue], deeper: list[Path], left: list[Path]) -> Iterator[Path]:
        pending = [(self._path, 0)]
        seen: set[str] = set()
        while pending:
            folder, depth = pending.pop(0)
            if (real := os.path.realpath(folder)) in seen:
                continue
            seen.add(real)
            try:
                entries = sorted(os.scandir(folder), key=lambda item: item.name)
            except OSError as problem:
                issues.append(unreadable(os.fspath(folder), problem))
                continue
            for entry in entries:
                path, kind = Path(entry.path), self._kind(entry)
                if kind is _EntryKind.FILE:
                    yield path
                elif kind is _EntryKind.OUTSIDE:
                    left.append(path)
                elif kind is _EntryKind.FOLDER and depth < DEPTH:
                    pending.append((path, depth + 1))
                elif kind is _EntryKind.FOLDER:
                    deeper.append(path)

    def _kind(self, entry: os.DirEntry[str]) -> _EntryKind:
        is_link = entry.is_symlink() or getattr(entry, "is_junction", bool)()
        inside = not is_link or leads_below(entry.path, self._path)
        if not (inside or self._follow_links):
            return _EntryKind.OUTSIDE
        if os.path.isdir(entry.path):  # noqa: PTH112 (False for a circle of links)
            return _EntryKind.SEEN if is_link and inside else _EntryKind.FOLDER
        return _EntryKind.FILE if os.path.isfile(entry.path) else _EntryKind.OUTSIDE  # noqa: PTH113

    def _names(self, paths: Sequence[Path]) -> list[str]:
        return [os.fspath(path.relative_to(self._path)) for path in paths]

    def _entry(self, path: Path) -> FolderEntry:
        def open_it() -> ByteSource:
            return FileSource(path, name, within=self._path, follow_links=self._follow_links)

        name = os.fspath(path.relative_to(self._path))
        return FolderEntry(Path(name), open_it)


def unreadable(name: str, problem: Exception) -> Issue:
    """Return the issue of an unreadable file or folder."""
    text = str(problem).removeprefix(name).lstrip(",: ")
    return Issue("file-unreadable", IssueSeverity.ERROR, one_line(text), file=one_line(name))


def too_many(name: str) -> Issue:
    """Return the issue of a tree with too many files."""
    text = f"only the first {FILES} files were looked at; open the dump's own folder"
    return Issue("folder-too-large", IssueSeverity.WARNING, text, file=name)


def too_deep(name: str, folders: Sequence[str]) -> Issue:
    """Return the note on folders that lie too deep."""
    return note(name, "folder-too-deep", "folder", "too deep to be looked into", folders)


def left_out(name: str, members: Sequence[str], hint: str = "") -> Issue:
    """Return the issue of entries of a folder or archive that are no files of it."""
    rest = f"left out (links, '..' and other members that are no plain files{hint})"
    return note(name, "members-left-out", "member", rest, members)


def note(file: str, rule: str, noun: str, rest: str, names: Sequence[str]) -> Issue:
    """Return a note on some files or folders, with the first names."""
    shown = ", ".join(one_line(name) for name in sorted(names)[:_NAMES_SHOWN])
    more = " …" if len(names) > _NAMES_SHOWN else ""
    message = f"{counted(len(names), noun)} {rest}: {shown}{more}"
    return Issue(rule, IssueSeverity.NOTE, message, file=one_line(file))


class RemoteTree(Tree):
    """A folder of a store, or the page on which a web server lists one."""

    def __init__(self, fs: Any, path: str, url: str) -> None:
        self._fs = fs
        self._path = path.rstrip("/")
        self._url = without_secrets(url)
        self.name = without_secrets(url)
        self.root = PurePosixPath(self._path.rpartition("/")[2] or self.name)
        self.far = True

    def choice(self, folder: str) -> str:
        """Return the call that opens one of its folders; "" for chained URLs."""
        if "::" in self._url:
            return ""
        return f"tvmdbg_widgets.open({self._url.rstrip('/') + '/' + folder + '/'!r})"

    def files(self, issues: list[Issue]) -> Iterator[FolderEntry]:
        """Yield its files, parents before children."""
        pending = [(PurePosixPath(), 0)]
        count = 0
        deeper: list[str] = []
        while pending:
            folder, depth = pending.pop(0)
            try:
                entries = self._listed(folder)
            except Exception as problem:  # noqa: BLE001 (stores raise errors of their own)
                issues.append(unreadable(str(folder) if folder.parts else self.name, problem))
                continue
            for path, is_folder in entries:
                if is_folder:
                    if depth < DEPTH:
                        pending.append((path, depth + 1))
                    else:
                        deeper.append(str(path))
                    continue
                count += 1
                if count > FILES:
                    issues.append(too_many(self.name))
                    return
                yield self._entry(path)
        if deeper:
            issues.append(too_deep(self.name, deeper))

    def _listed(self, folder: PurePosixPath) -> list[tuple[PurePosixPath, bool]]:
        """Return the direct entries of one folder, whatever else the store lists."""
        path = f"{self._path}/{folder}" if folder.parts else self._path
        entries = set()
        for info in self._fs.ls(f"{path}/", detail=True):
            name = str(info["name"])
            if not name.startswith(f"{path}/") or "?" in name or "#" in name:
                if name.strip("/").startswith(f"{path.strip('/')}/"):
                    name = path + name.strip("/")[len(path.strip("/")) :]
                else:
                    continue
            rest = name[len(path) + 1 :]
            is_folder = info.get("type") == "directory" or rest.endswith("/")
            try:
                last = below(rest.rstrip("/"))
            except ValueError:
                continue
            if len(last.parts) == 1:
                entries.add((folder / last, is_folder))
        return sorted(entries)

    def _entry(self, path: PurePosixPath) -> FolderEntry:
        def open_it() -> ByteSource:
            return RemoteSource(f"{self._path}/{path}", str(path), fs=self._fs)

        return FolderEntry(path, open_it)


def remote_tree(url: str) -> RemoteTree | None:
    """Return the folder at a URL, or None."""
    fs, path = file_system(url)
    protocols = {fs.protocol} if isinstance(fs.protocol, str) else set(fs.protocol)
    if not protocols & {"http", "https"}:
        try:
            return RemoteTree(fs, path, url) if fs.isdir(path) else None
        except Exception:  # noqa: BLE001 (opening it as a file tells what is wrong)
            return None
    if path.endswith("/"):
        return RemoteTree(fs, path, url)
    try:
        info = fs.info(path)
    except Exception:  # noqa: BLE001 (likewise)
        return None
    # A server sends who asks for a folder to its page, which is HTML at an address that ends in /.
    moved = str(info.get("url", "")).partition("?")[0]
    if moved.endswith("/") and info.get("mimetype") == "text/html":
        return RemoteTree(fs, moved, url)
    return None
