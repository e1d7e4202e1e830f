"""Tar and zip archives as folders: members are read in place or in memory, never on disk.

``export_model_library_format`` writes a plain tar (python/tvm/micro/model_library_format.py
@ v0.8.0 to v0.16.0); people attach a whole dump as ``dump.tar.gz`` or ``dump.zip``.
"""

from __future__ import annotations

import math
import os
import re
import tarfile
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.text import FormatError, Issue, IssueSeverity, one_line
from tvmdbg_widgets.sources.byte_source import ByteSource, PartSource, as_file
from tvmdbg_widgets.sources.file_source import below
from tvmdbg_widgets.sources.folders import FILES, FolderEntry, Tree, left_out, too_many
from tvmdbg_widgets.sources.unpacking import read_directory, unpack

_BLOCK = 512
#: Limit of headers of a tar archive, with those of folders.
_HEADERS = 10 * FILES
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_PACKED_NAMES = (".gz", ".bz2", ".xz", ".tgz", ".tbz2", ".txz")


class ArchiveMember(PartSource):
    """A file in an archive."""

    def __init__(
        self, file: ByteSource, offset: int, size: int, *, path: PurePosixPath, tree: ArchiveTree
    ) -> None:
        super().__init__(file, offset, size, one_line(str(path)))
        self._path = path
        self._tree = tree

    def sibling(self, name: str) -> ByteSource:
        """Return a member beside this one, or in a folder below; see :class:`ByteSource`."""
        path = self._path.parent / below(name)
        member = self._tree.members.get(path)
        if member is None:
            raise FileNotFoundError(2, "no such member of the archive", one_line(str(path)))
        return member


class ArchiveTree(Tree):
    """The members of an archive."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.root = PurePosixPath(name)
        self.members: dict[PurePosixPath, ArchiveMember] = {}
        self.issues: list[Issue] = []
        self._left_out: list[str] = []

    def files(self, issues: list[Issue]) -> Iterator[FolderEntry]:
        """Yield the members by folder and name."""
        issues += self.issues
        if self._left_out:
            issues.append(left_out(self.name, self._left_out))
        paths = sorted(self.members, key=lambda path: (len(path.parts), path.parts))
        for path in paths:
            yield FolderEntry(path, lambda member=self.members[path]: member)  # type: ignore[misc]

    def choice(self, folder: str) -> str:
        """Return "": folders of archives cannot be opened by path."""
        del folder
        return ""

    def add(self, name: str, file: ByteSource, offset: int, size: int) -> None:
        """Add a member, unless its path leaves the archive."""
        try:
            path = below(name)
            member = ArchiveMember(file, offset, size, path=path, tree=self)
        except ValueError as problem:
            if isinstance(problem, FormatError):
                self.tell("archive-cut-off", str(problem))
            else:
                self.leave_out(name)
            return
        self.members[path] = member

    def leave_out(self, name: str) -> None:
        """Count a member that is not read."""
        self._left_out.append(one_line(name))

    def tell(self, rule: str, text: str) -> None:
        """Add an issue of the archive."""
        self.issues.append(Issue(rule, IssueSeverity.ERROR, one_line(text), file=self.name))


def open_archive(source: ByteSource) -> ArchiveTree | ByteSource | None:
    """Open an archive, identified by content."""
    head = source.read(0, min(_BLOCK, source.size))
    if head[:4] in _ZIP:
        return _zip(source)
    if _is_tar(head):
        return _tar(source, source)
    issues: list[Issue] = []
    name = source.name
    plain = next((name[: -len(end)] for end in _PACKED_NAMES if name.endswith(end)), name)
    content = unpack(source, plain, issues)
    if content is None:
        return None
    if not _is_tar(content.read(0, min(_BLOCK, content.size))):
        return content
    tree = _tar(content, source)
    tree.issues += issues
    return tree


def _is_tar(head: bytes) -> bool:
    if len(head) < _BLOCK:
        return False
    try:
        tarfile.TarInfo.frombuf(head, "utf-8", "surrogateescape")
    except (tarfile.HeaderError, ValueError):
        return False
    return True


def _tar(content: ByteSource, archive: ByteSource) -> ArchiveTree:
    tree = ArchiveTree(archive.name)
    tree.far = content.far
    end = 0
    try:
        with as_file(content) as file, tarfile.open(fileobj=file, mode="r:") as tar:
            count = 0
            for headers, info in enumerate(tar):
                count += not info.isdir()
                if count > FILES or headers > _HEADERS:
                    tree.issues.append(too_many(tree.name))
                    return tree
                if info.isdir():
                    continue
                if info.isreg() and not info.issparse():
                    tree.add(info.name, content, info.offset_data, info.size)
                else:
                    tree.leave_out(info.name)
            end = tar.offset
    except (tarfile.TarError, ValueError, OSError, EOFError, ArithmeticError, LookupError) as error:
        if isinstance(error, FormatError):
            raise
        tree.tell("archive-cut-off", f"the rest of this tar archive cannot be read: {error}")
        return tree
    rest = content.read(end, min(_BLOCK, content.size - end)) if end < content.size else b""
    if len(rest) < _BLOCK or rest.strip(b"\0"):
        tree.tell("archive-cut-off", f"the tar archive does not end as one does, at byte {end:,}")
    return tree


def _zip(source: ByteSource) -> ArchiveTree:
    tree = ArchiveTree(source.name)
    tree.far = source.far
    directory = read_directory(source, FILES)
    for name in directory.left_out:
        tree.leave_out(name)
    for problem in directory.refused.values():
        tree.tell("member-unreadable", str(problem))
    for name, member in directory.members.items():
        tree.add(name, member.source, 0, member.source.size)
    if directory.more:
        tree.issues.append(too_many(tree.name))
    return tree


def is_numpy_archive(tree: ArchiveTree) -> bool:
    """Whether every member is a numpy array (``.npz``)."""
    return bool(tree.members) and all(os.fspath(path).endswith(".npy") for path in tree.members)


_MAGIC = b"\x93NUMPY"
#: ``_write_array_header`` of numpy/lib/format.py; keys are sorted.
_HEADER = re.compile(
    rb"\{'descr': '([<>|=]?[biufc]\d{1,2})', 'fortran_order': (True|False), "
    rb"'shape': \(((?:\d{1,19},(?: \d{1,19},)*(?: \d{1,19})?)?)\), \}\s*"
)
_MOST_HEADER = 1 << 16
_MOST_DIMENSIONS = 32


def read_numpy_archive(source: ByteSource) -> dict[str, npt.NDArray[Any]]:
    """Read every array of a ``.npz`` file, by name."""
    tree = open_archive(source)
    if not isinstance(tree, ArchiveTree):
        raise FormatError(
            "this is no .npz file", file=source.name, expected="arrays saved with numpy.savez"
        )
    broken = [issue for issue in tree.issues if issue.severity is IssueSeverity.ERROR]
    if broken:
        raise FormatError(broken[0].message, file=source.name)
    members = tree.members.items()
    return {str(path).removesuffix(".npy"): read_numpy_array(member) for path, member in members}


def read_numpy_array(source: ByteSource) -> npt.NDArray[Any]:
    """Read one array of numbers as ``numpy.save`` writes it."""
    head = source.read(0, min(_MOST_HEADER, source.size))
    width = 2 if head[6:7] == b"\1" else 4
    start = 8 + width + int.from_bytes(head[8 : 8 + width], "little")
    fields = _HEADER.fullmatch(head[8 + width : start])
    if not head.startswith(_MAGIC) or fields is None:
        raise _refused(source, "an array of numbers with a header as numpy.save writes it")
    kind, by_column, sizes = (part.decode() for part in fields.groups())
    try:
        dtype = np.dtype(kind)
    except TypeError:
        raise _refused(source, f"numbers of a known type, not {kind!r}") from None
    shape = tuple(int(size) for size in re.findall(r"\d+", sizes))
    if len(shape) > _MOST_DIMENSIONS:
        raise _refused(source, f"at most {_MOST_DIMENSIONS} dimensions, not {len(shape):,}")
    nbytes = math.prod(shape) * dtype.itemsize
    # numpy makes no array whose other dimensions are too large, though one of them is 0.
    if start + nbytes > source.size or math.prod(filter(None, shape)) * dtype.itemsize >> 63:
        raise _refused(source, f"shape {shape} to be of {counted(nbytes, 'byte')}")
    flat = np.frombuffer(source.read(start, nbytes), dtype)
    return flat.reshape(shape, order="F" if by_column == "True" else "C")


def _refused(source: ByteSource, expected: str) -> FormatError:
    return FormatError(
        "this array cannot be read",
        file=source.name,
        expected=expected,
        found=counted(source.size, "byte"),
        hint="Save it again with numpy.savez.",
    )
