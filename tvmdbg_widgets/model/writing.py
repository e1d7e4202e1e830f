"""Writing a file so that it is replaced whole or not at all."""

from __future__ import annotations

import os
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def replacing(path: str | os.PathLike[str], *suffixes: str) -> Iterator[IO[bytes]]:
    """Open a temporary file beside ``path`` that takes its place once all is written.

    Parameters
    ----------
    path : path-like
        A link is followed; an existing file keeps its permissions.
    *suffixes : str
        Endings one of which the path must have, in any case; any where none is given.

    Raises
    ------
    ValueError
        For another ending.
    FileNotFoundError
        The folder is missing.
    OSError
        It cannot be written to; nothing is left behind.
    """
    named = Path(path)
    if suffixes and named.suffix.lower() not in suffixes:
        wanted = " or ".join(suffixes)
        raise ValueError(f"{os.fspath(path)!r} must end in {wanted}")
    target = named.resolve()
    if not target.parent.is_dir():
        raise FileNotFoundError(
            f"there is no folder {str(target.parent)!r} to write {target.name!r} to; make it first"
        )
    handle = _without_a_name(target.parent)
    if handle is not None:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            temporary = target.with_name(f".{os.urandom(8).hex()}.part")
            os.link(f"/proc/self/fd/{handle}", temporary, follow_symlinks=True)
    else:
        handle, name = tempfile.mkstemp(
            dir=target.parent, prefix=f".{target.name}.", suffix=".part"
        )
        temporary = Path(name)
        try:
            with os.fdopen(handle, "wb") as file:
                yield file
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
    try:
        temporary.chmod(_mode(target))
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _without_a_name(folder: Path) -> int | None:
    """Open a file that vanishes with the process, even a killed one; None where there are none."""
    if not hasattr(os, "O_TMPFILE") or not Path("/proc/self/fd").is_dir():
        return None
    try:
        return os.open(folder, os.O_TMPFILE | os.O_WRONLY, 0o600)
    except OSError:  # a file system without such files
        return None


def _mode(path: Path) -> int:
    """Permissions the file has, or would have been made with."""
    if path.exists():
        return path.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
