"""Writing a file so that it is replaced whole or not at all.

Everything that the package writes goes through :func:`replacing`, or through
:func:`~tvmdbg_widgets.model.base.unfinished.new_folder`; a test looks for others.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO

from tvmdbg_widgets.model.base.unfinished import LOCKS, clean, hidden_name, hold, telling

_BINARY = getattr(os, "O_BINARY", 0)


def suffixed(path: str | os.PathLike[str], *suffixes: str) -> Path:
    """Return a path that has one of some endings, in any case; any where none is given."""
    found = Path(path)
    if suffixes and found.suffix.lower() not in suffixes:
        raise ValueError(f"{os.fspath(path)!r} must end in {' or '.join(suffixes)}")
    return found


@contextmanager
def replacing(path: str | os.PathLike[str], *suffixes: str) -> Iterator[IO[bytes]]:
    """Open a temporary file beside ``path`` that takes its place once all is written."""
    named = suffixed(path, *suffixes)
    if named.is_dir():
        raise IsADirectoryError(errno.EISDIR, "it is a folder; name a file in it", os.fspath(named))
    if named.exists() and not named.is_file():
        with named.open("wb") as device:
            yield device
        return
    target = named.resolve()
    if not target.parent.is_dir():
        raise FileNotFoundError(
            f"there is no folder {str(target.parent)!r} to write {target.name!r} to; make it first"
        )
    clean(target)
    with telling(target):
        with _nameless(target.parent) as nameless:
            if nameless is not None:
                yield nameless
                nameless.flush()
                _name(nameless, target)
                return
        with _named(target) as file:
            yield file


@contextmanager
def replacing_all(
    paths: Iterable[str | os.PathLike[str]], *suffixes: str
) -> Iterator[list[IO[bytes]]]:
    """Open files that belong together; none takes its place before all are written.

    Each as of :func:`replacing`.
    """
    with ExitStack() as stack:
        files = [stack.enter_context(replacing(path, *suffixes)) for path in paths]
        yield files
        for file in files:
            file.flush()


@contextmanager
def _nameless(folder: Path) -> Iterator[IO[bytes] | None]:
    """Open a file that vanishes with the process, even a killed one; None where there are none."""
    try:
        handle = os.open(folder, os.O_TMPFILE | os.O_RDWR, 0o600)
    except (AttributeError, OSError):  # another system, or a file system without such files
        yield None
        return
    with os.fdopen(handle, "w+b") as file:
        yield file


def _name(file: IO[bytes], target: Path) -> None:
    """Put a nameless file, or its bytes where /proc is closed, into the place of ``target``."""
    path = target.with_name(hidden_name(target))
    handle = file.fileno()
    hold(handle)
    try:
        # A folder's handle makes Python follow the link, which it ignores for absolute paths.
        os.link(f"/proc/self/fd/{handle}", path, src_dir_fd=handle, follow_symlinks=True)
    except OSError:
        file.seek(0)
        with _named(target) as copy:
            shutil.copyfileobj(file, copy)
        return
    _place(path, target)


@contextmanager
def _named(target: Path) -> Iterator[IO[bytes]]:
    """Open a hidden file that takes the place of ``target``."""
    path = target.with_name(hidden_name(target))
    file = os.fdopen(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR | _BINARY, 0o600), "wb")
    try:
        with file:
            hold(file.fileno())
            yield file
            file.flush()
            if LOCKS:  # before it is closed, which another process may take for killed
                _place(path, target)
        if not LOCKS:
            _place(path, target)
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def _place(path: Path, target: Path) -> None:
    try:
        path.chmod(_mode(target))
        path.replace(target)
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def _mode(path: Path) -> int:
    """Permissions the file has, or would have been made with."""
    if path.exists():
        return path.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
