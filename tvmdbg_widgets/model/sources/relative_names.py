"""Names of files that a file gives, and links, held to the folder they lie in."""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath, PureWindowsPath


def below(name: str) -> PurePosixPath:
    r"""Return a path as one below the folder it is meant in.

    Examples
    --------
    >>> below("./shards/params_shard_0.bin")
    PurePosixPath('shards/params_shard_0.bin')
    >>> below("../secret")
    Traceback (most recent call last):
    ValueError: '..' leaves the folder
    """
    if "\0" in name or "\\" in name:
        raise ValueError("it holds NUL or a backslash")
    path = PurePosixPath(name)
    if path.is_absolute() or PureWindowsPath(name).drive:
        raise ValueError("it is an absolute path")
    if ".." in path.parts:
        raise ValueError("'..' leaves the folder")
    if not path.parts:
        raise ValueError("it names no file")
    return path


def leads_below(path: str | os.PathLike[str], folder: str | os.PathLike[str]) -> bool:
    """Whether a path, all links in it followed, lies in a folder or below."""
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))
