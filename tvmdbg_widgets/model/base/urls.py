"""URLs: which texts are, what of them may be shown, and the file systems behind them."""

from __future__ import annotations

import os
import re
from typing import Any

from tvmdbg_widgets.model.base.text import one_line

_SILENCE_S = 60
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*(?:://|::)")
_SECRETS = re.compile(
    r"(?<=://)(?:[^/?]*@|[^/@:]*:(?!:|[0-9]*(?:/|\Z))[^@?]*@)|\?.*?(?=::|\Z)", re.DOTALL
)
_INSTALL = 'pip install "tvmdbg-widgets[remote]"'


def is_url(path: object) -> bool:
    """Whether a path is a URL: ``scheme://…``, or several chained as ``zip://a::http://…``."""
    return isinstance(path, str) and _URL.match(path) is not None


def local_path(path: Any) -> Any:
    """Return the path that a ``file://`` URL names; anything else as it is.

    >>> local_path("file:///tmp/dump")
    '/tmp/dump'
    """
    scheme, mark, rest = path.partition("://") if isinstance(path, str) else ("", "", "")
    if not mark or scheme.lower() not in ("file", "local"):
        return path
    return rest.lstrip("/") if os.name == "nt" else rest


def without_secrets(url: str) -> str:
    """Return a URL as it may be shown: without user, password and query (signed URLs have one).

    >>> without_secrets("https://me:secret@host/dump.zip?X-Signature=1")
    'https://host/dump.zip'
    """
    return one_line(_SECRETS.sub("", url))


def file_system(url: str) -> tuple[Any, str]:
    """Return fsspec's file system of a URL, and the path in it."""
    shown = without_secrets(url)
    try:
        import fsspec
    except ImportError as problem:
        raise ImportError(f"reading {shown} needs fsspec: {_INSTALL}") from problem
    try:
        fs, path = fsspec.core.url_to_fs(url, **_patience(url))
    except ImportError as problem:
        raise ImportError(
            f"reading {shown} needs a package for its scheme: {problem} "
            f"({_INSTALL} brings what http and https need)"
        ) from problem
    except ValueError as problem:
        raise ValueError(f"{shown}: {problem}") from problem
    return fs, path


def _patience(url: str) -> dict[str, Any]:
    """Options that end a read from a web server that has stopped sending.

    fsspec's own limit is aiohttp's: five minutes for a whole answer, however fast it comes.
    """
    if not url.startswith(("http://", "https://")):
        return {}
    import aiohttp

    limit = aiohttp.ClientTimeout(total=None, sock_connect=_SILENCE_S, sock_read=_SILENCE_S)
    return {"client_kwargs": {"timeout": limit}}
