"""Sources of any kind to what a tuning left in them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace

from tqdm.auto import tqdm

from tvmdbg_widgets.formats.family import FileCandidate, Part, head
from tvmdbg_widgets.formats.find_files import FileFinder
from tvmdbg_widgets.formats.tuning import console
from tvmdbg_widgets.formats.tuning.dag_text import hashes_of, read_dag_dump, sniff
from tvmdbg_widgets.formats.tuning.record import KIND as RECORDS
from tvmdbg_widgets.model.base.text import FormatError, Issue, IssueSeverity, listed, one_line
from tvmdbg_widgets.model.tuning.parts import TuningParts
from tvmdbg_widgets.sources.byte_source import ByteSource, BytesSource
from tvmdbg_widgets.sources.folders import note, unreadable
from tvmdbg_widgets.sources.given import SourceLike, as_source

_MOST_TEXT = 64 << 20


def given_dags(given: SourceLike) -> dict[str, str]:
    """Return DAG texts by workload key or hash, from a file, or from the text itself."""
    if isinstance(given, str) and " = PLACEHOLDER" in given:
        source: ByteSource = BytesSource(given.encode(errors="replace"), "<DAG text>")
    else:
        source = as_source(given)
    if sniff(head(source)):
        return _checked(source, read_dag_dump(source))
    return _checked(source, dict(console.read_output(source).dags))


def given_text(given: SourceLike, what: str = "a module that registers workloads") -> str:
    """Return the text of a file, or of bytes."""
    source = as_source(given)
    if source.size > _MOST_TEXT:
        raise FormatError(
            f"this is too long to be {what}",
            file=source.name,
            expected=f"at most {_MOST_TEXT:,} bytes",
            found=f"{source.size:,}",
        )
    return source.read(0, source.size).decode("utf-8", "replace")


def _checked(source: ByteSource, dags: dict[str, str]) -> dict[str, str]:
    if not dags:
        raise FormatError(
            "no DAG text was found here",
            file=source.name,
            expected="lines as repr(task.compute_dag) has them, such as 'A = PLACEHOLDER [4, 8]'",
            found="none",
            hint="dump_workload_to_dag_log=… of extract_tasks writes them for a network.",
        )
    return dags


def with_dags(parts: TuningParts, given: Mapping[str, str]) -> TuningParts:
    """Return a log with the DAG texts that its caller gave.

    A hash names its text's task. Of a task that was registered by name the text cannot be told:
    where the log has one such task, and one text fits nothing else, it is that task's.
    """
    keys = [task.workload_key for task in parts.tasks]
    named = [task.workload_key for task in parts.tasks if not task.workload.is_hash]
    hashes = {task.workload.name for task in parts.tasks if task.workload.is_hash}
    texts = set(given.values())
    fits = any(key in given for key in keys) or any(
        not hashes.isdisjoint(hashes_of(text)) for text in texts
    )
    dags, issues = {**parts.dags, **given}, parts.issues
    if not fits and len(texts) == 1 and len(set(named)) == 1:
        dags[named[0]] = texts.pop()
    elif not fits and texts:
        message = (
            "none of the DAG texts given is of a task of this log, by its key or hash; "
            "dag={log.tasks[0].workload_key: text} says which it is of"
        )
        issues += [Issue("dags-unused", IssueSeverity.WARNING, message)]
    return replace(parts, dags=dags, issues=issues)


_SHOWN = 40
_FEW = 16


def gather(
    sources: Sequence[SourceLike], *, progress: bool = True
) -> tuple[list[Part], list[Issue]]:
    """Read every file of a tuning that the sources name; other files are left alone.

    A file without a byte, or with the first few of a line, is a log without records: the tuning
    may just have begun.
    """
    found = FileFinder(tuning=True)
    for each in sources:
        found.look_at(each)
    chosen = found.candidates
    begun = [each for each in found.unknown if _has_just_begun(each)]
    hidden = not progress or len(chosen) == 1
    bar = tqdm(chosen, desc="reading", unit="file", delay=1, leave=False, disable=hidden)
    parts = [each.read(progress=progress) if each.kind is RECORDS else each.read() for each in bar]
    parts += [FileCandidate(each, RECORDS).read() for each in begun]
    unknown = {each.name for each in found.unknown}
    problems = [(name, problem) for name, problem in found.problems if name not in unknown]
    if not parts:
        raise problems[0][1] if problems else _nothing(sources, found.unknown)
    issues = [*found.issues, *(unreadable(name, problem) for name, problem in problems)]
    if left := sorted(unknown - {each.name for each in begun}):
        issues.append(note("", "files-not-read", "unrecognized file", "(ignored)", left))
    return parts, issues


def _has_just_begun(source: ByteSource) -> bool:
    return source.size < _FEW and source.read(0, source.size)[:1] in b"{["


def _nothing(sources: Sequence[SourceLike], unknown: Sequence[ByteSource]) -> FormatError:
    named = [os.fsdecode(each) for each in sources if isinstance(each, str | os.PathLike)]
    heads = [each.read(0, min(each.size, _SHOWN)) for each in unknown[:1]]
    return FormatError(
        "nothing of a tuning was found here",
        file=one_line(listed(named or [each.name for each in unknown])),
        expected="a log of Ansor or AutoTVM, a database of MetaSchedule, or output of a tuning",
        found=f"bytes that start with {heads[0]!r}" if heads else "no file of a known format",
        hint="Ansor's logs are what RecordToFile wrote, AutoTVM's what log_to_file wrote.",
    )
