"""Measured again on another machine, and compared with it."""

from __future__ import annotations

import os
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from tvmdbg_widgets.analysis.tuning.derived.derived import DerivedLog

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tvmdbg_widgets.analysis.tuning.transfer import MachineComparison
    from tvmdbg_widgets.export.tuning.rerun import Rerun
    from tvmdbg_widgets.model.tuning.record import Record


class Elsewhere(DerivedLog):
    """Measured again on another machine, and compared with it."""

    def reuse(
        self,
        records: Iterable[int | Record] | None = None,
        *,
        target: str | None = None,
        target_host: str | None = None,
        hardware: Mapping[str, int] | None = None,
        register: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | None = None,
        rpc: tuple[str, str, int] | None = None,
        emit_source: str | None = None,
        output: str = "rerun.json",
        discard_first: bool = True,
        **measuring: Any,
    ) -> Rerun:
        """Return a script that measures schedules on another machine and writes a new log.

        ::

            rerun = log.reuse(log.select("cost<2ms task:3"), register="workloads.py")
            rerun.warnings
            rerun.save("rerun.py")            # there: python rerun.py
            log.compare(tvmdbg.open_tuning("rerun.json"))

        The script needs TVM 0.8 to 0.19 there, and nothing of this package.

        Parameters
        ----------
        records : iterable of int or Record, optional
            Rows, what ``select`` or ``best`` return; the best of each task by default.
        target, target_host : str, optional
            Replace the records' own, and bring hardware parameters of their own.
        hardware : mapping of str to int, optional
            Hardware parameters to replace, by TVM's names: ``{"max_threads_per_block": 512}``.
        register : str or path, or several of them, optional
            What registers the workloads: a Python file, whose source is copied into the script,
            or the name of a module of the other machine. Workloads of a model, whose keys are
            hashes, are registered by ``auto_scheduler.extract_tasks``, which the module runs. By
            default the files the log was opened with.
        rpc : (str, str, int), optional
            Key of a device, host and port of the RPC tracker; else the machine itself.
        emit_source : str, optional
            Folder there, for lowered programs and generated code.
        output : str
            The new log there.
        discard_first : bool
            Whether the first measurement of each runner process, which is slow, is made once more
            and discarded.
        **measuring
            ``build_timeout=60``, ``timeout=30`` (seconds), ``number=3``, ``repeat=3``,
            ``min_repeat_ms=100``, ``cooldown=0.0``, ``cpu_cache_flush=False``, ``n_parallel``,
            ``device=0``, ``build_func="default"``: as of
            :class:`~tvmdbg_widgets.export.tuning.options.RerunOptions`.

        Raises
        ------
        ValueError
            There is nothing to measure, a record is not Ansor's, or an option makes no sense.
        TypeError
            There is no such option.
        IndexError
            There is no such row.
        """
        from tvmdbg_widgets.analysis.tuning.records.choose import best_rows
        from tvmdbg_widgets.export.tuning.options import RerunOptions
        from tvmdbg_widgets.export.tuning.rerun import rerun
        from tvmdbg_widgets.formats.tuning.record import read_record
        from tvmdbg_widgets.model.tuning.record import Record

        if records is None:
            rows = best_rows(self.trials, len(self.tasks))
            records = rows[rows >= 0].tolist()
        chosen = [
            each if isinstance(each, Record) else read_record(self.parts, each) for each in records
        ]
        if isinstance(register, str | os.PathLike):
            register = [register]
        known = {each.name for each in fields(RerunOptions)} - {"sources"}
        for name in measuring:
            if name not in known:
                from tvmdbg_widgets.model.base.choice import no_argument

                raise no_argument("reuse()", name, {*known, "records"})
        options = RerunOptions(
            target=target,
            target_host=target_host,
            hardware=hardware or {},
            register=register or (),
            sources=self.parts.registered if register is None else (),
            rpc=rpc,
            emit_source=emit_source,
            output=output,
            discard_first=discard_first,
            **measuring,
        )
        return rerun(chosen, options)

    def compare(self, other: DerivedLog, *, progress: bool = True) -> MachineComparison:
        """Compare with a log of the same schedules from another machine, which is the new one.

        Schedules are the same where the workload and all steps are; the target may differ.

        ::

            compared = log.compare(tvmdbg.open_tuning("rerun.json"))
            compared                          # per task: rank correlation, regret, failures
            compared.correlation              # 0.87 (95 % CI 0.71 … 0.95)
            compared.to_dataframe()           # one row a schedule

        Parameters
        ----------
        other : TuningLog
        progress : bool
            Whether to show a bar where it takes over a second.

        Raises
        ------
        TypeError
            `other` is no tuning log.
        FormatError
            A file changed since it was opened.
        """
        from tvmdbg_widgets.analysis.tuning.transfer import compare_machines

        if not isinstance(other, DerivedLog):
            raise TypeError(f"compare takes a tuning log, found {type(other).__name__}")
        return compare_machines(self.parts, other.parts, progress=progress)
