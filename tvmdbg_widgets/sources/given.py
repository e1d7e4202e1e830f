"""Sources given by a caller: paths, URLs, bytes, file objects."""

from __future__ import annotations

import io
import os
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, TypeAlias

from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.ranges import coalesced, cut
from tvmdbg_widgets.model.base.text import (
    FormatError,
    file_system,
    is_url,
    local_path,
    one_line,
    without_secrets,
)
from tvmdbg_widgets.sources.byte_source import BytesLike, ByteSource, BytesSource
from tvmdbg_widgets.sources.file_source import FileSource, below


class StreamSource(ByteSource):
    """A seekable binary file object, never closed here, whose position is restored."""

    def __init__(self, stream: IO[bytes], name: str | None = None) -> None:
        self._stream = stream
        self._lock = threading.Lock()
        own_name = getattr(stream, "name", None)
        self.name = name or (own_name if isinstance(own_name, str) else "<stream>")
        with self._lock:
            before = stream.tell()
            self.size = stream.seek(0, os.SEEK_END)
            stream.seek(before)

    def _fill(self, offset: int, view: memoryview) -> None:
        try:
            done = self._read_at(offset, view)
        except ValueError as problem:  # what closed streams raise
            raise FormatError(
                f"the stream cannot be read any more ({problem})",
                file=self.name,
                offset=offset,
                hint="Keep it open as long as the run is used, or pass the path.",
            ) from problem
        if done < len(view):
            raise FormatError(
                "the file changed after it was opened",
                file=self.name,
                offset=offset + done,
                expected=counted(len(view) - done, "more byte"),
                found="the end of the stream",
            )

    def _read_at(self, offset: int, view: memoryview) -> int:
        done = 0
        with self._lock:
            before = self._stream.tell()
            try:
                self._stream.seek(offset)
                while done < len(view):
                    part = self._stream.read(len(view) - done)
                    if not part:
                        break
                    view[done : done + len(part)] = part
                    done += len(part)
            finally:
                self._stream.seek(before)
        return done


SourceLike: TypeAlias = "str | os.PathLike[str] | BytesLike | IO[bytes] | ByteSource"


def as_source(
    obj: SourceLike, name: str | None = None, *, follow_links: bool = False
) -> ByteSource:
    """Make a byte source of a path, of bytes, or of a binary file object."""
    if isinstance(obj, ByteSource):
        return obj
    if isinstance(obj, bytes | bytearray | memoryview):
        return BytesSource(obj, name)
    if isinstance(obj, str | os.PathLike):
        if "\0" in os.fsdecode(obj):
            raise TypeError("this str holds NUL: it is content, not a path; pass it as bytes")
        if isinstance(obj, str) and is_url(obj):
            return RemoteSource(obj, name)
        return FileSource(obj, name, follow_links=follow_links)
    if isinstance(obj, io.TextIOBase):
        raise TypeError("this stream yields text; open the file in binary mode ('rb')")
    if hasattr(obj, "read"):
        if not obj.seekable():
            return BytesSource(obj.read(), name or getattr(obj, "name", None))
        return StreamSource(obj, name)
    raise TypeError(
        f"cannot read bytes from {type(obj).__name__}; pass a path, bytes or a binary file object"
    )


def flat(sources: Iterable[Any]) -> list[SourceLike]:
    """Flatten lists of sources."""
    nested = [item if isinstance(item, list | tuple) else [item] for item in sources]
    return [source for group in nested for source in group]


def content_of(source: SourceLike) -> SourceLike:
    """Return JSON text as bytes, paths without quotes, ``~`` expanded; other sources stay."""
    if not isinstance(source, str):
        return source
    bare = source.strip()[1:-1]
    if source.strip() in (f'"{bare}"', f"'{bare}'") and os.path.exists(bare):  # noqa: PTH110
        return bare
    if source.lstrip()[:1] in ("{", '"'):
        return source.encode()
    if not source.strip():
        raise ValueError("the path is empty; pass the folder that the debugger wrote")
    return Path(source).expanduser() if source.startswith("~") else local_path(source)


#: Largest file of a server without ranges, which is kept in memory.
MOST_WHOLE = 256 << 20
_HEAD = 64 << 10
_PIECE = 1 << 20
_WORKERS = 16
_RECHECK = 1.0
#: Names of a file's state in stores.
_STATE = (
    *("ETag", "etag", "version_id", "VersionId", "Last-Modified", "LastModified", "last_modified"),
    *("mtime", "modified", "created", "ino", "Content-MD5", "content_md5", "md5Hash", "generation"),
)
_NEAR_PROTOCOLS = frozenset(("memory", "file", "local"))
#: File systems whose files have to be unpacked from their start at every read.
_UNPACKING = frozenset(("zip", "tar", "libarchive"))


class RemoteSource(ByteSource):
    """A file behind a URL, read by ranges without retries, and checked for changes."""

    _head: bytes | None
    _content: bytes | None

    def __init__(self, url: str, name: str | None = None, *, fs: Any = None) -> None:
        """Take a URL, or a path in a file system of fsspec."""
        name = without_secrets(url) if name is None else name
        fs, path = file_system(url) if fs is None else (fs, url)
        self.name = one_line(name)
        self.path = path
        self._fs = fs
        protocols = {fs.protocol} if isinstance(fs.protocol, str) else set(fs.protocol)
        self.far = not protocols & _NEAR_PROTOCOLS
        self._parallel = bool(getattr(fs, "async_impl", False))
        self._web = bool(protocols & {"http", "https"})
        self._unlocked()
        info = self._call(fs.info, path)
        if info.get("type") == "directory":
            raise IsADirectoryError(21, "this is a folder", name)
        self._state = _state(info)
        size = info.get("size")
        # A web server must first show that it reads ranges at all.
        self._ranges = not self._web
        self._unpacks = bool(protocols & _UNPACKING)
        self._without_ranges = size is None or info.get("partial") is False
        if size is None:
            content = self._content = self._read_content(None)
            size = len(content)
        self.size = int(size)
        if self._without_ranges and self.size > MOST_WHOLE:
            raise self._too_large(counted(self.size, "byte"))

    def _unlocked(self) -> None:
        self._lock = threading.RLock()
        self._head = None
        self._content = None
        self._checked = time.monotonic()

    def __getstate__(self) -> dict[str, Any]:
        own = ("_lock", "_head", "_content", "_checked")
        return {name: value for name, value in self.__dict__.items() if name not in own}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._unlocked()

    def sibling(self, name: str) -> ByteSource:
        """Return a file beside this one, or in a folder below; see :class:`ByteSource`."""
        relative = below(name)
        path = f"{self.path.rpartition('/')[0]}/{relative}" if "/" in self.path else str(relative)
        return RemoteSource(path, self._beside(relative), fs=self._fs)

    def read_ranges(self, ranges: Sequence[tuple[int, int]]) -> list[bytes]:
        """Return the bytes of several ranges: near ones in one request, 16 requests at a time."""
        for offset, length in ranges:
            self._check(offset, length)
        if self._content is not None or not self.far:
            return [self.read(offset, length) for offset, length in ranges]
        spans = coalesced(ranges)
        start = spans[0][0] if spans else 0
        with self._still_there(start):
            self._prove(spans)
            if self._parallel and len(spans) > 1:
                with ThreadPoolExecutor(min(_WORKERS, len(spans))) as pool:
                    parts = list(pool.map(lambda span: self._get(*span), spans))
            else:
                parts = [self._get(*span) for span in spans]
            self._recheck(start)
        return cut(ranges, spans, parts)

    def _fill(self, offset: int, view: memoryview) -> None:
        end = offset + len(view)
        with self._still_there(offset):
            if end <= _HEAD and self._content is None:
                if self._head is None:
                    self._head = self._get(0, min(_HEAD, self.size))
                view[:] = self._head[offset:end]
                return
            view[:] = self._get(offset, len(view))
            self._recheck(offset)

    @contextmanager
    def _still_there(self, offset: int) -> Iterator[None]:
        """Raise an error that the file was readable when it was opened."""
        try:
            yield
        except FileNotFoundError as problem:
            text = "the file is gone; it was there when it was opened"
            raise FormatError(text, file=self.name, offset=offset) from problem
        except OSError as problem:
            text = f"{problem.strerror or problem}; it was there when it was opened"
            raise OSError(problem.errno or 5, text, self.name) from problem

    def _prove(self, spans: Sequence[tuple[int, int]]) -> None:
        """Test with one request whether the server reads ranges, not with sixteen."""
        if not self._ranges and self._content is None and spans:
            self._get(max(1, spans[-1][0]) if self.size > 1 else 0, 1)

    def _get(self, offset: int, length: int) -> bytes:
        with self._lock:
            beyond = self._unpacks and offset + length > _HEAD
            if self._content is None and (self._without_ranges or beyond):
                self._content = self._read_all(offset)
            if self._content is None and not self._ranges:
                return self._get_first(offset, length)
        if self._content is not None:
            return self._content[offset : offset + length]
        extra = {}
        etag = self._state.get("ETag", "")
        if self._web and etag.startswith('"'):
            extra = {"headers": {"If-Match": etag}}
        data: bytes = self._call(
            self._fs.cat_file, self.path, start=offset, end=offset + length, **extra
        )
        if len(data) != length:
            raise self._changed(offset, counted(length, "byte"), counted(len(data), "byte"))
        return data

    def _get_first(self, offset: int, length: int) -> bytes:
        """Read from a web server that may ignore ranges and return the file."""
        try:
            with self._fs.open(
                self.path, "rb", block_size=_PIECE, cache_type="none", size=self.size
            ) as file:
                file.seek(offset)
                data: bytes = file.read(length)
                self._ranges = offset > 0
        except ValueError:
            # fsspec's words for an answer that is not the range asked for.
            self._without_ranges = True
            self._content = self._read_all(offset)
            return self._content[offset : offset + length]
        except Exception as problem:
            raise self._failed(problem) from problem
        if len(data) != length:
            raise self._changed(offset, counted(length, "byte"), counted(len(data), "byte"))
        return data

    def _read_all(self, offset: int) -> bytes:
        content = self._read_content(self.size)
        if len(content) != self.size:
            raise self._changed(offset, counted(self.size, "byte"), counted(len(content), "byte"))
        return content

    def _read_content(self, size: int | None) -> bytes:
        if size is not None and size > MOST_WHOLE:
            raise self._too_large(counted(size, "byte"))
        out = bytearray()

        def read() -> None:
            options = {"block_size": 0} if self._web else {}
            with self._fs.open(self.path, "rb", **options) as file:
                while piece := file.read(_PIECE):
                    out.extend(piece)
                    if len(out) > MOST_WHOLE:
                        raise self._too_large(f"more than {MOST_WHOLE:,} bytes")

        self._call(read)
        return bytes(out)

    def _too_large(self, found: str) -> FormatError:
        return FormatError(
            "this file can only be read whole, and is too large for that",
            file=self.name,
            expected=f"a store that reads ranges, or at most {MOST_WHOLE:,} bytes",
            found=found,
            hint="Download it and open the copy.",
        )

    def _recheck(self, offset: int) -> None:
        now = time.monotonic()
        if self._content is not None or (self.far and now - self._checked < _RECHECK):
            return
        self._checked = now
        # Listings that a file system keeps would tell of the file as it was.
        self._fs.invalidate_cache()
        state = _state(self._call(self._fs.info, self.path))
        if state != self._state:
            raise self._changed(offset, _in_words(self._state), _in_words(state))

    def _changed(self, offset: int, expected: str, found: str) -> FormatError:
        return FormatError(
            "the file changed after it was opened",
            file=self.name,
            offset=offset,
            expected=expected,
            found=found,
            hint="Open it again when nothing writes to it any more.",
        )

    def _call(self, function: Any, *arguments: Any, **options: Any) -> Any:
        """Call the file system; convert its errors to OSError."""
        try:
            if self._parallel:
                return function(*arguments, **options)
            with self._lock:
                return function(*arguments, **options)
        except (OSError, FormatError) as problem:
            if isinstance(problem, FileNotFoundError) and problem.strerror is None:
                raise _not_there(problem, self.name, self._web) from problem
            raise
        except Exception as problem:
            raise self._failed(problem) from problem

    def _failed(self, problem: Exception) -> Exception:
        if getattr(problem, "status", None) == 412:
            return self._changed(0, f"ETag {self._state.get('ETag')}", "another one")
        text = f"{type(problem).__name__}: {problem}"
        return OSError(5, f"cannot be read over the network ({one_line(text)})", self.name)


def _not_there(problem: FileNotFoundError, name: str, web: bool) -> OSError:
    """Correct fsspec's error for a missing file: a web server may have refused it."""
    cause = problem.__cause__
    status = getattr(cause, "status", None if web and cause is not None else 404)
    silent = isinstance(cause, OSError) and not isinstance(cause, FileNotFoundError)
    if silent or status is None:
        why = str(cause) if silent else type(cause).__name__
        return OSError(5, f"cannot be read over the network ({one_line(why)})", name)
    if status in (404, 410):
        return FileNotFoundError(2, "there is no such file", name)
    if status in (401, 403):
        return PermissionError(13, f"the server refuses it (HTTP status {status})", name)
    return OSError(5, f"cannot be read over the network (HTTP status {status})", name)


def _state(info: dict[str, Any]) -> dict[str, str]:
    state = {key: str(info[key]) for key in _STATE if info.get(key) is not None}
    return {"size": str(info.get("size")), **state}


def _in_words(state: dict[str, str]) -> str:
    return ", ".join(f"{key} {value}" for key, value in state.items())
