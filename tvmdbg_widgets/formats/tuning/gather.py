"""Sources of any kind read into the parts of a tuning."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace

from tqdm.auto import tqdm

from tvmdbg_widgets.formats.family import FileCandidate, Part, head
from tvmdbg_widgets.formats.find_files import FileFinder
from tvmdbg_widgets.formats.tuning import console
from tvmdbg_widgets.formats.tuning.dag_text import hashes_of, read_dag_dump, sniff
from tvmdbg_widgets.formats.tuning.record_file import KIND as RECORDS
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
    is_dump = sniff(head(source))
    dags = read_dag_dump(source) if is_dump else dict(console.read_output(source).dags)
    if not dags:
        raise FormatError(
            "no DAG text was found here",
            file=source.name,
            expected="lines as repr(task.compute_dag) has them, such as 'A = PLACEHOLDER [4, 8]'",
            found="none",
            hint="dump_workload_to_dag_log=… of extract_tasks writes them for a network.",
        )
    return dags


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


def with_dags(parts: TuningParts, given: Mapping[str, str]) -> TuningParts:
    """Return a log with given DAG texts, by hash, or one text for one registered task."""
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
    """Read every file of a tuning in the sources; an empty file or a cut line is an empty log."""
    finder = FileFinder(tuning=True)
    for item in sources:
        finder.look_at(item)
    chosen = finder.candidates
    begun = [item for item in finder.unknown if _has_just_begun(item)]
    hidden = not progress or len(chosen) == 1
    bar = tqdm(chosen, desc="reading", unit="file", delay=1, leave=False, disable=hidden)
    parts = [item.read(progress=progress) if item.kind is RECORDS else item.read() for item in bar]
    parts += [FileCandidate(item, RECORDS).read() for item in begun]
    unknown = {item.name for item in finder.unknown}
    problems = [(name, problem) for name, problem in finder.problems if name not in unknown]
    if not parts:
        raise problems[0][1] if problems else _nothing(sources, finder.unknown)
    issues = [*finder.issues, *(unreadable(name, problem) for name, problem in problems)]
    if left := sorted(unknown - {item.name for item in begun}):
        issues.append(note("", "files-not-read", "unrecognized file", "(ignored)", left))
    return parts, issues


def _has_just_begun(source: ByteSource) -> bool:
    return source.size < _FEW and source.read(0, source.size)[:1] in b"{["


def _nothing(sources: Sequence[SourceLike], unknown: Sequence[ByteSource]) -> FormatError:
    named = [os.fsdecode(source) for source in sources if isinstance(source, str | os.PathLike)]
    heads = [source.read(0, min(source.size, _SHOWN)) for source in unknown[:1]]
    return FormatError(
        "nothing of a tuning was found here",
        file=one_line(listed(named or [source.name for source in unknown])),
        expected="a log of Ansor or AutoTVM, a database of MetaSchedule, or output of a tuning",
        found=f"bytes that start with {heads[0]!r}" if heads else "no file of a known format",
        hint="Ansor's logs are what RecordToFile wrote, AutoTVM's what log_to_file wrote.",
    )
