"""Tar and zip archives as folders: members are read in place or in memory, never on disk.

``export_model_library_format`` writes a plain tar (python/tvm/micro/model_library_format.py
@ v0.8.0 to v0.16.0); people attach a whole dump as ``dump.tar.gz`` or ``dump.zip``.
"""

from __future__ import annotations

import os
import struct
import tarfile
import zipfile
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from tvmdbg_widgets.formats.limits import MOST_UNPACKED
from tvmdbg_widgets.formats.sources.folders import FILES, Entry, Tree, left_out, too_many
from tvmdbg_widgets.formats.sources.unpacking import (
    Allowance,
    DeflatedSource,
    too_large,
    unpack,
)
from tvmdbg_widgets.model.base.errors import FormatError
from tvmdbg_widgets.model.base.issues import Issue, Severity
from tvmdbg_widgets.model.base.text import one_line
from tvmdbg_widgets.model.sources.file import as_file
from tvmdbg_widgets.model.sources.part import PartSource
from tvmdbg_widgets.model.sources.relative_names import below

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tvmdbg_widgets.model.sources.byte_source import ByteSource

_BLOCK = 512
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_LOCAL = struct.Struct("<4s22xHH")
_ENCRYPTED = 1
_PACKED_NAMES = (".gz", ".bz2", ".xz", ".tgz", ".tbz2", ".txz")


class Member(PartSource):
    """A file in an archive."""

    def __init__(
        self, whole: ByteSource, offset: int, size: int, *, path: PurePosixPath, tree: ArchiveTree
    ) -> None:
        super().__init__(whole, offset, size, one_line(str(path)))
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
    """The members of an archive.

    Attributes
    ----------
    members
        Files by path. Of several with one path the last counts, as when it is unpacked.
    issues
        What was left out.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.root = PurePosixPath(name)
        self.members: dict[PurePosixPath, Member] = {}
        self.issues: list[Issue] = []
        self._left_out: list[str] = []

    def files(self, issues: list[Issue]) -> Iterator[Entry]:
        """Yield the members by folder and name."""
        issues += self.issues
        if self._left_out:
            issues.append(left_out(self.name, self._left_out))
        paths = sorted(self.members, key=lambda path: (len(path.parts), path.parts))
        for path in paths:
            yield Entry(path, lambda member=self.members[path]: member)  # type: ignore[misc]

    def choice(self, folder: str) -> str:
        """No call opens one folder of an archive by its path."""
        del folder
        return ""

    def add(self, name: str, whole: ByteSource, offset: int, size: int) -> None:
        """Add a member that lies there, unless its path leaves the archive."""
        try:
            path = below(name)
            member = Member(whole, offset, size, path=path, tree=self)
        except ValueError as problem:
            if isinstance(problem, FormatError):
                self.tell("archive-cut-off", str(problem))
            else:
                self.leave_out(name)
            return
        self.members[path] = member

    def leave_out(self, name: str) -> None:
        """Note a member that is not read."""
        self._left_out.append(one_line(name))

    def tell(self, rule: str, text: str) -> None:
        """Note what is wrong with the archive."""
        self.issues.append(Issue(rule, Severity.ERROR, one_line(text), file=self.name))


def open_archive(source: ByteSource, most: int = MOST_UNPACKED) -> ArchiveTree | ByteSource | None:
    """Open an archive, told by content.

    Parameters
    ----------
    source
        A tar (plain, or packed by gzip, bzip2 or xz) or zip archive, or one packed file.
    most
        Bytes that it may take in memory when unpacked.

    Returns
    -------
    ArchiveTree, ByteSource or None
        The members; the content where it was one packed file; None where it is none of these.

    Raises
    ------
    FormatError
        The archive is broken at its start, or too large when unpacked.
    """
    head = source.read(0, min(_BLOCK, source.size))
    if head[:4] in _ZIP:
        return _zip(source, most)
    if _is_tar(head):
        return _tar(source, source)
    issues: list[Issue] = []
    content = unpack(source, _plain_name(source.name), issues, most)
    if content is None:
        return None
    if not _is_tar(content.read(0, min(_BLOCK, content.size))):
        return content
    tree = _tar(content, source)
    tree.issues += issues
    return tree


def _plain_name(name: str) -> str:
    return next((name[: -len(end)] for end in _PACKED_NAMES if name.endswith(end)), name)


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
            for info in tar:
                if info.isdir():
                    continue
                count += 1
                if count > FILES:
                    tree.issues.append(too_many(tree.name))
                    return tree
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


def _zip(source: ByteSource, most: int) -> ArchiveTree:
    tree = ArchiveTree(source.name)
    tree.far = source.far
    allowance = Allowance(most)
    try:
        with as_file(source) as file, zipfile.ZipFile(file) as archive:
            infos = [info for info in archive.infolist() if not info.filename.endswith("/")]
    except (zipfile.BadZipFile, ValueError, OSError, EOFError, NotImplementedError) as problem:
        if isinstance(problem, FormatError):
            raise
        raise FormatError(
            "this zip archive cannot be read",
            file=source.name,
            expected="a whole zip archive",
            found=str(problem),
            hint="It may be cut off: copy or download it again.",
        ) from None
    if len(infos) > FILES:
        tree.issues.append(too_many(tree.name))
    for info in infos[:FILES]:
        # The upper half holds the mode of the Unix file: 0o12 is a link.
        linked = info.external_attr >> 28 == 0o12
        if linked or info.flag_bits & _ENCRYPTED or not info.filename:
            tree.leave_out(info.filename)
            continue
        try:
            _add_zipped(tree, source, info, allowance)
        except FormatError as problem:
            tree.tell("member-unreadable", str(problem))
    return tree


def _add_zipped(
    tree: ArchiveTree, source: ByteSource, info: zipfile.ZipInfo, allowance: Allowance
) -> None:
    magic, name_length, extra_length = _LOCAL.unpack(source.read(info.header_offset, _LOCAL.size))
    stored = info.compress_type == zipfile.ZIP_STORED and info.file_size == info.compress_size
    if magic != _ZIP[0] or not (stored or info.compress_type == zipfile.ZIP_DEFLATED):
        raise FormatError(
            "a member of the zip archive cannot be read",
            file=one_line(info.filename),
            offset=info.header_offset,
            expected="a stored or deflated member",
            found=f"method {info.compress_type}" if magic == _ZIP[0] else magic.hex(" "),
        )
    if not stored and info.file_size > allowance.most:
        raise too_large(one_line(info.filename), info.file_size, allowance.most)
    start = info.header_offset + _LOCAL.size + name_length + extra_length
    if stored:
        tree.add(info.filename, source, start, info.file_size)
        return
    packed = PartSource(source, start, info.compress_size, one_line(info.filename))
    content = DeflatedSource(packed, info.file_size, info.CRC, allowance)
    tree.add(info.filename, content, 0, info.file_size)


def is_numpy_archive(tree: ArchiveTree) -> bool:
    """Whether every member is a numpy array (``.npz``)."""
    return bool(tree.members) and all(os.fspath(path).endswith(".npy") for path in tree.members)
