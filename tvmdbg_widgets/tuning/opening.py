"""``open_tuning``: one or several logs of a tuning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from tvmdbg_widgets.model.base.slips import public

if TYPE_CHECKING:
    from tvmdbg_widgets.analysis.tuning.curves import Weights
    from tvmdbg_widgets.formats.family import Part
    from tvmdbg_widgets.sources.given import SourceLike
    from tvmdbg_widgets.tuning.log import TuningLog


@public
def open_tuning(
    source: SourceLike | Sequence[SourceLike],
    *more: SourceLike,
    register: SourceLike | Sequence[SourceLike] | None = None,
    dag: SourceLike | Sequence[SourceLike] | Mapping[str, str] | None = None,
    weights: Weights | None = None,
    progress: bool = True,
) -> TuningLog:
    """Open one or several logs of one tuning as one.

    Formats are recognized by content: logs of Ansor and AutoTVM, MetaSchedule's databases,
    captured output of a tuning, ``total_latency.tsv``, DAG texts and files of
    ``dump_workload_to_dag_log``. Rows keep the order of the files.

    Parameters
    ----------
    source, *more
        Folders, archives, files, URLs of these, bytes or binary file objects, also as one list.
    register
        Python modules that register workloads (``@auto_scheduler.register_workload``): scripts of
        :meth:`TuningLog.reuse` take their sources along; they are never run here.
    dag
        DAG texts (``str(task.compute_dag)``) or files of them, files of
        ``dump_workload_to_dag_log``, or a mapping of workload keys to DAG texts.
    weights
        Calls per task in the network: numbers in the order of ``log.tasks``, or
        numbers by workload key, index or task, 1 by default.
    progress
        Whether to show a bar where this takes more than a second.

    Raises
    ------
    FormatError
        There is no log, or a file changed while it was read.
    OSError
        A path cannot be read.
    KeyError, IndexError, ValueError
        The weights name a task that is not there, do not fit in number, or are negative or no
        numbers.

    Examples
    --------
    >>> import tvmdbg_widgets as tvmdbg
    >>> log = tvmdbg.open_tuning("ansor.json", weights=[2, 1, 4])  # doctest: +SKIP
    """
    from tvmdbg_widgets.analysis.tuning.curves import weights_of
    from tvmdbg_widgets.formats.family import JoinOptions
    from tvmdbg_widgets.formats.tuning.assemble import assemble
    from tvmdbg_widgets.formats.tuning.gather import gather, given_text, with_dags
    from tvmdbg_widgets.sources.given import content_of, flat
    from tvmdbg_widgets.tuning.log import TuningLog

    sources = list(map(content_of, flat((source, *more))))
    pieces, issues = gather(sources, progress=progress)
    registered = [] if register is None else list(map(given_text, flat([register])))
    options = JoinOptions(_title(sources, pieces))
    parts = assemble(pieces, issues, options, registered=registered)
    parts = with_dags(parts, dags_of(dag))
    return TuningLog(parts, None if weights is None else weights_of(parts, weights))


def _title(sources: Sequence[object], pieces: Sequence[Part]) -> str:
    """Return the title of the only source, or of the first source with records."""
    from tvmdbg_widgets.formats.tvm.assemble import title_of

    records = [piece for piece in pieces if piece.kind == "tuning-records"]
    logs = [piece for piece in records if len(piece.value.log.trials)]
    if len(sources) == 1 or not logs:
        return title_of(sources)
    more = f" and {len(logs) - 1:,} more" if len(logs) > 1 else ""
    return title_of([logs[0].source.name]) + more


def dags_of(dag: SourceLike | Sequence[SourceLike] | Mapping[str, str] | None) -> dict[str, str]:
    """Return the given DAG texts by workload key or hash."""
    from tvmdbg_widgets.formats.tuning.gather import given_dags
    from tvmdbg_widgets.sources.given import flat

    if isinstance(dag, Mapping):
        if not all(isinstance(text, str) for pair in dag.items() for text in pair):
            raise TypeError("dag: a mapping must hold texts by workload key")
        return dict(dag)
    texts: dict[str, str] = {}
    for source in flat([] if dag is None else [dag]):
        texts |= given_dags(source)
    return texts
