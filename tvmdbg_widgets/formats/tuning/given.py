"""What a caller gives beside a log: DAG texts, and modules that register workloads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tvmdbg_widgets.formats.registry import head
from tvmdbg_widgets.formats.tuning import dag_dump, outputs
from tvmdbg_widgets.model.errors import FormatError
from tvmdbg_widgets.model.sources import BytesSource
from tvmdbg_widgets.model.sources_given import as_source

if TYPE_CHECKING:
    from tvmdbg_widgets.model.sources import ByteSource
    from tvmdbg_widgets.model.sources_given import SourceLike

_MOST_TEXT = 64 << 20


def given_dags(given: SourceLike) -> dict[str, str]:
    """Return DAG texts by workload key or hash, from a file, or from the text itself.

    Raises
    ------
    FormatError
        There is none in it.
    OSError
        The path cannot be read.
    """
    if isinstance(given, str) and " = PLACEHOLDER" in given:
        source: ByteSource = BytesSource(given.encode(errors="replace"), "<DAG text>")
    else:
        source = as_source(given)
    if dag_dump.sniff(head(source)):
        return _checked(source, dag_dump.read_dag_dump(source))
    return _checked(source, dict(outputs.read_output(source).dags))


def given_text(given: SourceLike) -> str:
    """Return the text of a file, or of bytes.

    Raises
    ------
    FormatError
        It is too long to be a module.
    OSError
        The path cannot be read.
    """
    source = as_source(given)
    if source.size > _MOST_TEXT:
        raise FormatError(
            "this is too long to be a module that registers workloads",
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
