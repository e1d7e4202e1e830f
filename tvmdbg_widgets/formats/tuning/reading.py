"""A file of a known format, read as it is now."""

from __future__ import annotations

from tvmdbg_widgets.formats.parts import FileCandidate, Part
from tvmdbg_widgets.sources.byte_source import ByteSource
from tvmdbg_widgets.sources.file_source import FileSource, GrowingFile


def read_part(candidate: FileCandidate, *, progress: bool = True) -> Part:
    """Read a file that a tuning left behind, which may still grow."""
    source = growing(candidate.source)
    options = {"progress": progress} if candidate.format.part == "tuning-records" else {}
    value = candidate.format.read(source, **options)
    return Part(candidate.format.part, value, source, candidate.folder)


def growing(source: ByteSource) -> ByteSource:
    """Return a file as it is now, and may be appended to; any other source as it is."""
    if type(source) is FileSource:
        return source.again(GrowingFile)
    return source
