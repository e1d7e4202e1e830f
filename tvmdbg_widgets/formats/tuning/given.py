"""What a caller gives beside a log: DAG texts, and modules that register workloads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tvmdbg_widgets.formats.registry import head
from tvmdbg_widgets.formats.tuning import dag_dump, outputs
from tvmdbg_widgets.formats.tuning.dags.hashes import hashes_of
from tvmdbg_widgets.model.base.errors import FormatError
from tvmdbg_widgets.model.base.issues import Issue, IssueSeverity
from tvmdbg_widgets.model.tuning.parts import TuningParts
from tvmdbg_widgets.sources.byte_source import ByteSource, BytesSource
from tvmdbg_widgets.sources.given import SourceLike, as_source

_MOST_TEXT = 64 << 20


def given_dags(given: SourceLike) -> dict[str, str]:
    """Return DAG texts by workload key or hash, from a file, or from the text itself."""
    if isinstance(given, str) and " = PLACEHOLDER" in given:
        source: ByteSource = BytesSource(given.encode(errors="replace"), "<DAG text>")
    else:
        source = as_source(given)
    if dag_dump.sniff(head(source)):
        return _checked(source, dag_dump.read_dag_dump(source))
    return _checked(source, dict(outputs.read_output(source).dags))


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
