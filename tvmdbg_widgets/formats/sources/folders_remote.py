"""Folders behind a URL."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from tvmdbg_widgets.formats.sources.folders import (
    DEPTH,
    FILES,
    Entry,
    Tree,
    too_deep,
    too_many,
    unreadable,
)
from tvmdbg_widgets.model.base.urls import file_system, without_secrets
from tvmdbg_widgets.model.sources.relative_names import below
from tvmdbg_widgets.model.sources.remote import RemoteSource

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tvmdbg_widgets.model.base.issues import Issue
    from tvmdbg_widgets.model.sources.byte_source import ByteSource


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
        """Return the call that opens one folder of it; none where URLs are chained."""
        if "::" in self._url:
            return ""
        return f"tvmdbg_widgets.open({self._url.rstrip('/') + '/' + folder + '/'!r})"

    def files(self, issues: list[Issue]) -> Iterator[Entry]:
        """Yield its files, those of a folder before those below it."""
        pending = [(PurePosixPath(), 0)]
        count = 0
        deeper: list[str] = []
        while pending:
            folder, depth = pending.pop(0)
            try:
                found = self._listed(folder)
            except Exception as problem:  # noqa: BLE001 (stores raise errors of their own)
                issues.append(unreadable(str(folder) if folder.parts else self.name, problem))
                continue
            for path, is_folder in found:
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
        """What lies in one folder and nowhere else, whatever the store's answer holds."""
        path = f"{self._path}/{folder}" if folder.parts else self._path
        found = set()
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
                found.add((folder / last, is_folder))
        return sorted(found)

    def _entry(self, path: PurePosixPath) -> Entry:
        def open_it() -> ByteSource:
            return RemoteSource.of(self._fs, f"{self._path}/{path}", str(path))

        return Entry(path, open_it)


def remote_tree(url: str) -> RemoteTree | None:
    """Return the folder at a URL, None where there is a file (or nothing)."""
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
