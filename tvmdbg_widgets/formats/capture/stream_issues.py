"""What is wrong with a reassembled stream, and what was odd on its way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tvmdbg_widgets.model.base.issues import Issue, Severity
from tvmdbg_widgets.model.base.numbers import agree, counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tvmdbg_widgets.formats.capture.reassembly import TcpStream
    from tvmdbg_widgets.formats.capture.stream import CapturedStream


def stream_issues(
    source: CapturedStream, stream: TcpStream, gaps: Sequence[tuple[int, int]]
) -> Iterator[Issue]:
    """Yield the issues of one direction; copies are compared with the bytes they repeat."""
    if gaps:
        missing = sum(length for _, length in gaps)
        start, length = gaps[0]
        yield _issue(
            source,
            "missing-bytes",
            Severity.ERROR,
            f"{missing:,} of {counted(stream.size, 'byte')} {agree(missing, 'was')} not captured, "
            f"in {counted(len(gaps), 'gap')}; the first starts at byte {start:,} and is "
            f"{counted(length, 'byte')} long",
        )
    if stream.cut:
        yield _issue(
            source,
            "cut-segments",
            Severity.WARNING,
            f"captured in part: {counted(stream.cut, 'segment')}; record with a larger snapshot "
            "length (tcpdump -s 0)",
        )
    yield from _copies(source, stream)
    if stream.late:
        yield _issue(
            source,
            "out-of-order",
            Severity.NOTE,
            f"captured after one that follows it: {counted(stream.late, 'segment')}; put in order",
        )
    if stream.outside:
        yield _issue(
            source,
            "bytes-before-start",
            Severity.WARNING,
            f"sent with sequence numbers before that of SYN: {counted(stream.outside, 'byte')}; "
            "left out",
        )


def _copies(source: CapturedStream, stream: TcpStream) -> Iterator[Issue]:
    count = len(stream.copies.starts)
    if not count:
        return
    first, differing, compared = _compare(source, stream)
    if first is not None:
        yield _issue(
            source,
            "differing-copies",
            Severity.ERROR,
            f"sent again with other values: bytes of {counted(differing, 'segment')}, first byte "
            f"{first:,}; the first copy was kept",
        )
    rest = "" if compared == count else f"; {count - compared:,} of them were not compared"
    yield _issue(
        source,
        "repeated-bytes",
        Severity.NOTE,
        f"captured again, in {counted(count, 'segment')}: {counted(stream.repeated, 'byte')}{rest}",
    )


def _compare(source: CapturedStream, stream: TcpStream) -> tuple[int | None, int, int]:
    """Return the first offset that differs, segments that do, and segments compared.

    A segment that overlaps thousands of small ones takes as many reads to compare; so that a
    contrived file does not take long, all comparisons together take a few reads a segment.
    """
    columns = (stream.copies.starts, stream.copies.offsets, stream.copies.lengths)
    allowed = 64 + 2 * (len(stream.extents.starts) + len(columns[0]))
    first, differing = None, 0
    for done, (start, offset, length) in enumerate(
        zip(*(column.tolist() for column in columns), strict=True)
    ):
        if length == 1:
            continue  # a keep-alive may repeat the last byte with any value
        allowed -= source.pieces(start, length)
        if allowed < 0:
            return first, differing, done
        ours, kept = source.file.read(offset, length), source.read(start, length)
        if ours != kept:
            differing += 1
            at = start + next(i for i in range(length) if ours[i] != kept[i])
            first = at if first is None else min(first, at)
    return first, differing, len(columns[0])


def _issue(source: CapturedStream, rule: str, severity: Severity, message: str) -> Issue:
    return Issue(rule, severity, message, file=source.name)
