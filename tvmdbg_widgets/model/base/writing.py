"""Atomic replacement of files and folders.

Everything that the package writes goes through :func:`replacing` or :func:`new_folder`; a test
looks for others.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import shutil
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO


def suffixed(path: str | os.PathLike[str], *suffixes: str) -> Path:
    """Return a path with one of some endings, in any case; any path if none is given."""
    given = Path(path)
    if suffixes and given.suffix.lower() not in suffixes:
        raise ValueError(f"{os.fspath(path)!r} must end in {' or '.join(suffixes)}")
    return given


@contextmanager
def replacing(path: str | os.PathLike[str], *suffixes: str) -> Iterator[IO[bytes]]:
    """Open a temporary file beside ``path`` that replaces it when complete."""
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
    with telling(target), _held_folder(target) as room:
        path = room / "file"
        with path.open("xb") as file:
            yield file
        path.chmod(_mode(target))
        path.replace(target)


@contextmanager
def replacing_all(
    paths: Iterable[str | os.PathLike[str]], *suffixes: str
) -> Iterator[list[IO[bytes]]]:
    """Open files that belong together; all are written before any is replaced."""
    with ExitStack() as stack:
        files = [stack.enter_context(replacing(path, *suffixes)) for path in paths]
        yield files
        for file in files:
            file.flush()


def _mode(path: Path) -> int:
    """Return the permissions of the file, or the default ones."""
    if path.exists():
        return path.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


try:
    import fcntl
except ImportError:  # Windows: nothing is known of other writers, and nothing cleaned
    fcntl = None  # type: ignore[assignment]

LOCKS = fcntl is not None

_ROOM = "what was there before stays; make room, or write it elsewhere"
_RIGHTS = "name a folder that you may write to"
_NEXT = {
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT), _ROOM),
    errno.EFBIG: f"{_ROOM} (`ulimit -f` tells how large a file may be)",
    **dict.fromkeys((errno.EACCES, errno.EPERM, errno.EROFS), _RIGHTS),
}
#: Longest part of a target's name in a hidden name.
_NAME = 48


def hidden_name(target: Path) -> str:
    """Return a new hidden name for ``target``, as known to :func:`clean`."""
    return f"{_prefix(target)}{os.urandom(8).hex()}.part"


def hold(handle: int) -> bool:
    """Lock an open file or folder; False if another process holds it."""
    if not LOCKS:
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks, where nothing is cleaned
        return True
    return True


def clean(target: Path) -> None:
    """Remove leftovers of killed writers of ``target``, where possible."""
    if not LOCKS:
        return
    ours = re.compile(re.escape(_prefix(target)) + r"[0-9a-f]{16}\.part")
    with contextlib.suppress(OSError):
        for entry in list(os.scandir(target.parent)):
            if ours.fullmatch(entry.name) and not entry.is_symlink():
                _remove(Path(entry.path))


@contextmanager
def telling(target: Path) -> Iterator[None]:
    """Name the target and give advice in errors of writing."""
    try:
        yield
    except OSError as problem:
        # A write's error names no file, or a hidden one.
        ours = target.with_name(_prefix(target))
        named = os.fspath(target if problem.filename is None else problem.filename)
        known = {os.fspath(place) for place in (target, *target.parents)}
        if problem.errno not in _NEXT or not (named in known or named.startswith(os.fspath(ours))):
            raise
        reason = f"{os.strerror(problem.errno)}; {_NEXT[problem.errno]}"
        raise type(problem)(problem.errno, reason, os.fspath(target)) from problem


@contextmanager
def new_folder(target: Path) -> Iterator[Path]:
    """Make a hidden folder beside ``target`` that becomes it when complete."""
    place = Path(os.path.realpath(target))
    if os.path.lexists(place) and (not place.is_dir() or any(place.iterdir())):
        raise FileExistsError(17, "it exists already; name a new folder", os.fspath(target))
    with telling(place):
        place.parent.mkdir(parents=True, exist_ok=True)
    clean(place)
    with telling(place), _held_folder(place) as room:
        finished = room / place.name
        finished.mkdir()
        yield finished
        if place.exists():
            place.rmdir()
        finished.rename(place)


@contextmanager
def _held_folder(place: Path) -> Iterator[Path]:
    """Make a hidden folder that no other process takes for a leftover."""
    while True:
        room = place.with_name(hidden_name(place))
        room.mkdir(0o700)
        # Another one may clean it at this very moment.
        with contextlib.suppress(FileNotFoundError):
            handle = os.open(room, os.O_RDONLY) if LOCKS else None
            if handle is None or (hold(handle) and room.exists()):
                break
            os.close(handle)
    try:
        yield room
    finally:
        shutil.rmtree(room, ignore_errors=True)
        if handle is not None:
            os.close(handle)


def _prefix(target: Path) -> str:
    return f".{target.name[:_NAME]}."


def _remove(path: Path) -> None:
    """Remove a file or folder unless its writer lives."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    except OSError:
        return
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
    except OSError:
        pass
    finally:
        os.close(handle)
