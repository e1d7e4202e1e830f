"""A script that measures schedules of a tuning log on another machine, with only TVM."""

from __future__ import annotations

import ast
import html
import os
import re
import tokenize
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from tvmdbg_widgets.analysis.tuning.hardware_limits import (
    gpu_warnings,
    known_hardware,
    limit_warnings,
)
from tvmdbg_widgets.analysis.tuning.identity import target_keys
from tvmdbg_widgets.analysis.tuning.trial_queries import best_rows
from tvmdbg_widgets.export.rerun_script_text import template, with_data
from tvmdbg_widgets.formats.tuning.record import read_record
from tvmdbg_widgets.model.base.numbers import counted, duration_text
from tvmdbg_widgets.model.base.slips import no_argument, one_of
from tvmdbg_widgets.model.base.text import one_line
from tvmdbg_widgets.model.base.writing import replacing_all, suffixed
from tvmdbg_widgets.model.tuning.measure_errors import MeasureError, Record
from tvmdbg_widgets.model.tuning.parts import HARDWARE_NAMES, Target, TuningParts, Workload

#: Characters of records up to which they are embedded in the script.
MOST_EMBEDDED = 200_000
_MOST_SHOWN = 16_000
_MOST_NAMES = 5
_GIVE = "register=…, or --register of the script"


@dataclass(frozen=True)
class Rerun:
    """A script that measures schedules again, to copy to another machine.

    Attributes
    ----------
    script : str
        Python 3.7 or newer, for TVM 0.8 to 0.19.
    records : str
        The chosen records where they are too long for the script: a log that lies beside it, named
        like the script with ``.records.json`` for ``.py``. Empty where the script holds them.
    rows : tuple of int
        The trials it measures, in its order.
    warnings : tuple of str
        What may go wrong there, as far as it is known here.
    """

    script: str
    records: str
    rows: tuple[int, ...]
    warnings: tuple[str, ...]

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the script, and a file of records unless they are embedded; return its path.

        Raises
        ------
        ValueError
            The path does not end in ``.py``.
        OSError
            It cannot be written; an existing file stays.
        """
        target = suffixed(path, ".py")
        contents = {target: self.script}
        if self.records:
            contents[target.with_suffix(".records.json")] = self.records
        with replacing_all(contents) as files:
            for file, content in zip(files, contents.values(), strict=True):
                file.write(content.encode())
        return target

    @property
    def caption(self) -> str:
        """Number of records, where they are, and the script's size."""
        where = "beside it in x.records.json, written by save()" if self.records else "in it"
        size = counted(len(self.script.encode()), "byte")
        return f"Script for TVM 0.8–0.19: {counted(len(self.rows), 'record')} {where}, {size}"

    def __repr__(self) -> str:
        lines = [self.caption, *(f"  warning: {warning}" for warning in self.warnings)]
        return "\n".join([*lines, "  .save('rerun.py'), copy it, then: python rerun.py --help"])

    def _repr_html_(self) -> str:
        items = "".join(f"<li>{html.escape(warning)}</li>" for warning in self.warnings)
        code = self.script[:_MOST_SHOWN]
        cut = len(self.script) - len(code)
        more = f"\n… {counted(cut, 'more character')}" if cut else ""
        return (
            f"<p>{html.escape(self.caption)}</p>{f'<ul>{items}</ul>' if items else ''}"
            f"<details><summary>rerun.py</summary><pre>{html.escape(code)}{more}</pre></details>"
        )


def reuse(
    parts: TuningParts,
    /,
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
    register : str or path, or several of them, optional
        By default the files the log was opened with. Workloads of a model, whose keys are
        hashes, are registered by ``auto_scheduler.extract_tasks``, which the module runs.
    target, target_host, hardware, rpc, emit_source, output, discard_first, **measuring
        As `register`: of :class:`~tvmdbg_widgets.export.rerun.RerunOptions`.

    Raises
    ------
    ValueError, TypeError, IndexError
        There is nothing to measure, a record is not Ansor's, or an option makes no sense;
        there is no such option, or no such row.
    """
    if records is None:
        rows = best_rows(parts.trials, len(parts.tasks))
        records = rows[rows >= 0].tolist()
    chosen = [
        record if isinstance(record, Record) else read_record(parts, record) for record in records
    ]
    if isinstance(register, str | os.PathLike):
        register = [register]
    known = {option.name for option in fields(RerunOptions)} - {"sources"}
    for name in measuring:
        if name not in known:
            raise no_argument("reuse()", name, {*known, "records"})
    options = RerunOptions(
        target=target,
        target_host=target_host,
        hardware=hardware or {},
        register=register or (),
        sources=parts.registered if register is None else (),
        rpc=rpc,
        emit_source=emit_source,
        output=output,
        discard_first=discard_first,
        **measuring,
    )
    return rerun(chosen, options)


def rerun(records: Sequence[Record], options: RerunOptions | None = None) -> Rerun:
    """Write a script that measures records again into a new log."""
    how = options or RerunOptions()
    if not records:
        raise ValueError("there is no record to measure: none is valid, or none was chosen")
    workloads = {record.task.workload.key: record.task.workload for record in records}.values()
    names = sorted({workload.name for workload in workloads if not workload.is_hash})
    registering = Registering.of(how, names)
    lines = [_line(record) for record in records]
    beside = sum(map(len, lines)) > MOST_EMBEDDED
    warnings = [*_warnings(records, how), *_unregistered(workloads, names, registering)]
    values: dict[str, Any] = {
        "DEFAULTS": how.defaults(),
        "WARNINGS": [one_line(warning) for warning in warnings],
        "MODULES": list(registering.modules),
        "SOURCES": list(registering.sources),
        "RECORDS": None if beside else lines,
    }
    notes = {} if beside else {"RECORDS": [*map(_note, range(1, len(lines) + 1), records)]}
    script = with_data(template(), values, notes)
    beside_text = "".join(f"{line}\n" for line in lines) if beside else ""
    rows = tuple(record.row for record in records)
    return Rerun(script, beside_text, rows, tuple(values["WARNINGS"]))


def _line(record: Record) -> str:
    if record.task.tuner != "ansor":
        raise ValueError(
            f"{record.where} is no record of tvm.auto_scheduler (Ansor) but of "
            f"{record.task.tuner}: a script can measure Ansor's alone"
        )
    try:
        return record.line.decode()
    except UnicodeDecodeError as error:
        raise ValueError(f"{record.where} is no UTF-8 at byte {error.start}") from None


def _note(number: int, record: Record) -> str:
    failed = record.error != MeasureError.NO_ERROR
    was = record.error.label if failed else duration_text(record.cost * 1e9)
    return f"{number}: row {record.row}, task {record.task.index}, was {was}"


def _warnings(records: Sequence[Record], how: RerunOptions) -> list[str]:
    texts, new = [], dict(how.hardware)
    if how.target is not None:
        target = Target.parse(how.target)
        texts += gpu_warnings(records, target)
        new = {**known_hardware(target), **how.hardware}
        if not new and "cpu" not in (target_keys(target) or ()):
            texts.append(
                "the limits of the target are known there only: the script notes each schedule "
                "with more threads than a block of the device may have"
            )
    texts += limit_warnings(records, new)
    if special := sum(bool(record.task.input_names) for record in records):
        texts.append(
            f"{counted(special, 'record')} with special inputs: the registering module calls "
            "auto_scheduler.search_task.register_task_input_buffer for them"
        )
    if failed := sum(record.error != MeasureError.NO_ERROR for record in records):
        texts.append(f"{counted(failed, 'record')} failed in the log")
    return texts


def _unregistered(
    workloads: Collection[Workload], names: Collection[str], registering: Registering
) -> list[str]:
    texts = []
    hashes = [workload for workload in workloads if workload.is_hash]
    if hashes and not (registering.modules or registering.sources):
        texts.append(
            f"{counted(len(hashes), 'workload')} of a model, known by hash alone: only a module "
            f"that runs auto_scheduler.extract_tasks on the model registers them: {_GIVE}"
        )
    if old := [workload for workload in hashes if workload.args == ()]:
        texts.append(
            f"{counted(len(old), 'key')} of a hash without shapes, as TVM wrote before 2021: TVM "
            "0.8 and newer registers none under such a key"
        )
    if missing := registering.missing(names):
        shown = ", ".join(missing[:_MOST_NAMES]) + (", …" if len(missing) > _MOST_NAMES else "")
        texts.append(f"no module is given that registers {shown}: {_GIVE}")
    return texts


_MODULE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*", re.ASCII)
_BUILD_FUNCS = ("default", "ndk")
_LEAST = {
    **dict.fromkeys(("build_timeout", "timeout", "number", "repeat"), 1),
    **dict.fromkeys(("min_repeat_ms", "cooldown", "device"), 0),
}


@dataclass(frozen=True)
class RerunOptions:
    """Settings of a rerun script, which are also options of the script.

    Attributes
    ----------
    target, target_host : str or None
        Replace the records' own.
    hardware : mapping of str to int
        Hardware parameters to replace, by TVM's names (``"max_threads_per_block"``); with a new
        target TVM gives the others on the other machine, else the log.
    register : sequence of str or path
        What registers the workloads: a Python file, whose source is copied into the script, or
        the dotted name of a module of the other machine.
    sources : sequence of str
        Sources of more such modules, of which those are copied that mention a workload.
    rpc : (str, str, int) or None
        Key of the device, host and port of the RPC tracker; None runs on the machine itself.
    emit_source : str or None
        Folder on the other machine for lowered programs and generated code.
    output : str
        The new log there.
    build_timeout, timeout : int
        Seconds per build, and per run.
    number, repeat : int
        Runs that are averaged, and averages that are taken: ``repeat`` costs a record.
    min_repeat_ms : int
        ``number`` grows until the runs of an average take so many milliseconds.
    cooldown : float
        Seconds between two measurements.
    cpu_cache_flush : bool
        Flush the caches of a CPU before every run; makes ``number`` 1 and ``min_repeat_ms`` 0.
    n_parallel : int or None
        Builds at a time; None for the cores the process may use there.
    device : int
        Which of several devices.
    build_func : str
        ``"default"``, or ``"ndk"`` for Android.
    discard_first : bool
        Whether the first measurement of a runner process, which is slow, is made once more.

    Raises
    ------
    ValueError
        A value makes no sense.
    """

    target: str | None = None
    target_host: str | None = None
    hardware: Mapping[str, int] = field(default_factory=dict)
    register: Sequence[str | os.PathLike[str]] = ()
    sources: Sequence[str] = ()
    rpc: tuple[str, str, int] | None = None
    emit_source: str | None = None
    output: str = "rerun.json"
    build_timeout: int = 60
    timeout: int = 30
    number: int = 3
    repeat: int = 3
    min_repeat_ms: int = 100
    cooldown: float = 0.0
    cpu_cache_flush: bool = False
    n_parallel: int | None = None
    device: int = 0
    build_func: str = "default"
    discard_first: bool = True

    def __post_init__(self) -> None:
        for name, least in _LEAST.items():
            if getattr(self, name) < least:
                raise ValueError(f"{name} is at least {least}, found {getattr(self, name)!r}")
        if self.n_parallel is not None and self.n_parallel < 1:
            raise ValueError(f"n_parallel is at least 1, found {self.n_parallel!r}")
        one_of("build_func", self.build_func, _BUILD_FUNCS)
        if self.rpc is not None and not 0 < self.rpc[2] < 65536:
            raise ValueError(f"the tracker's port is 1 to 65535, found {self.rpc[2]!r}")
        if self.target_host is not None and self.target is None:
            raise ValueError("target_host needs target: give both")
        for text in ("target", "output", "emit_source"):
            if (value := getattr(self, text)) is not None and not value.strip():
                raise ValueError(f"{text} is empty")
        for name in self.hardware:
            one_of("hardware parameter", name, HARDWARE_NAMES)

    def defaults(self) -> dict[str, Any]:
        """Return the defaults of the script's own options."""
        key, host, port = self.rpc or (None, "127.0.0.1", 9190)
        before, after = (
            ("output", "target", "target_host"),
            (
                *("build_func", "build_timeout", "timeout", "n_parallel", "number", "repeat"),
                *("min_repeat_ms", "cooldown", "cpu_cache_flush", "device"),
            ),
        )
        return {
            **{name: getattr(self, name) for name in before},
            "hardware": [f"{name}={int(n)}" for name, n in self.hardware.items()] or None,
            "rpc": key,
            "host": host,
            "port": port,
            **{name: getattr(self, name) for name in after},
            "keep_first": not self.discard_first,
            "emit_source": self.emit_source,
        }


@dataclass(frozen=True)
class Registering:
    """Modules that register workloads."""

    modules: tuple[str, ...] = ()
    sources: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, how: RerunOptions, names: Collection[str]) -> Registering:
        """Read the given files, which are parsed and never run."""
        modules, sources = [], []
        for given in map(str, how.register):
            path = Path(given)
            if path.is_file():
                sources.append((path.name, _source(path)))
            elif _MODULE.fullmatch(given) and path.suffix != ".py":
                modules.append(given)
            else:
                raise ValueError(
                    f"{given!r:.200} is neither a Python file here nor a module's name"
                )
        sources += [
            (f"workloads_{number}.py", text)
            for number, text in enumerate(how.sources, 1)
            if any(_mentions(text, name) for name in names)
        ]
        return cls(tuple(modules), tuple(sources))

    def missing(self, names: Collection[str]) -> list[str]:
        """Return the names that no source mentions; none if a module may register them."""
        if self.modules:
            return []
        texts = [text for _, text in self.sources]
        return [name for name in names if not any(_mentions(text, name) for text in texts)]


def _mentions(source: str, name: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", source) is not None


def _source(path: Path) -> str:
    try:
        with tokenize.open(path) as file:
            source = file.read()
        ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ValueError(f"{path} is no Python module: {error}") from None
    return source
