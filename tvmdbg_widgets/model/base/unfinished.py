"""What a writer has not finished yet: hidden beside its target, and cleaned when it was killed.

A living writer holds a lock on what it writes, which ends with its process however that ends.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows: nothing is known of other writers, and nothing cleaned
    fcntl = None  # type: ignore[assignment]

LOCKS = fcntl is not None

_ROOM = "what was there before stays; make room, or write it elsewhere"
_RIGHTS = "name a folder that you may write to"
#: What to do, by the error of a write.
_NEXT = {
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT), _ROOM),
    errno.EFBIG: f"{_ROOM} (`ulimit -f` tells how large a file may be)",
    **dict.fromkeys((errno.EACCES, errno.EPERM, errno.EROFS), _RIGHTS),
}
#: Longest part of a target's name in the name of what is not finished.
_NAME = 48


def hidden_name(target: Path) -> str:
    """Return a new name for what will become ``target``, as :func:`clean` finds it."""
    return f"{_prefix(target)}{os.urandom(8).hex()}.part"


def hold(handle: int) -> bool:
    """Lock an open file or folder for as long as it is open; False where another process does."""
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
    """Remove what killed writers of ``target`` left beside it; what cannot be removed stays."""
    if not LOCKS:
        return
    ours = re.compile(re.escape(_prefix(target)) + r"[0-9a-f]{16}\.part")
    with contextlib.suppress(OSError):
        for entry in list(os.scandir(target.parent)):
            if ours.fullmatch(entry.name) and not entry.is_symlink():
                _remove(Path(entry.path))


@contextmanager
def telling(target: Path) -> Iterator[None]:
    """Name the target, and what to do, where it cannot be written."""
    try:
        yield
    except OSError as problem:
        # A write names no file, and what was opened for it has a hidden name.
        ours = target.with_name(_prefix(target))
        named = os.fspath(target if problem.filename is None else problem.filename)
        known = {os.fspath(each) for each in (target, *target.parents)}
        if problem.errno not in _NEXT or not (named in known or named.startswith(os.fspath(ours))):
            raise
        told = f"{os.strerror(problem.errno)}; {_NEXT[problem.errno]}"
        raise type(problem)(problem.errno, told, os.fspath(target)) from problem


@contextmanager
def new_folder(target: Path) -> Iterator[Path]:
    """Make a hidden folder beside ``target`` that takes its place once it is whole."""
    place = Path(os.path.realpath(target))
    if os.path.lexists(place) and (not place.is_dir() or any(place.iterdir())):
        raise FileExistsError(17, "it exists already; name a new folder", os.fspath(target))
    with telling(place):
        place.parent.mkdir(parents=True, exist_ok=True)
    clean(place)
    with telling(place), _held_folder(place) as room:
        whole = room / place.name
        whole.mkdir()
        yield whole
        if place.exists():
            place.rmdir()
        whole.rename(place)


@contextmanager
def _held_folder(place: Path) -> Iterator[Path]:
    """Make a hidden folder that no other process takes for a killed writer's."""
    while True:
        room = place.with_name(hidden_name(place))
        room.mkdir(0o700)
        handle = os.open(room, os.O_RDONLY) if LOCKS else None
        if handle is None or (hold(handle) and room.exists()):
            break
        os.close(handle)  # another one cleans it at this very moment
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
