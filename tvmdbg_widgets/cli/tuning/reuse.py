"""``tvmdbg tuning reuse``: a script that measures schedules on another machine."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tvmdbg_widgets.cli.common.terminal import note, say
from tvmdbg_widgets.cli.common.verbs import UsageError, examples, flag, option
from tvmdbg_widgets.cli.tuning.logs import NamedLog, of_logs_alone

if TYPE_CHECKING:
    from tvmdbg_widgets.tuning import TuningLog

EXAMPLES = examples(
    ("The best of each task", "tvmdbg tuning reuse ansor.json --register workloads.py"),
    ("Some schedules", "tvmdbg tuning reuse ansor.json --select 'task:3 cost<2ms'"),
    ("For another GPU", "tvmdbg tuning reuse a.json --target 'cuda -arch=sm_86'"),
    ("On a phone", "tvmdbg tuning reuse a.json --rpc pixel --host 10.0.0.1 --port 9190"),
    ("There", "python rerun.py --help && python rerun.py"),
)
_WHICH, _HOW = "Which schedules", "How they are measured"
_RANGE = re.compile(r"(\d{1,9})(?::(\d{1,9}))?")


@of_logs_alone
def reuse(
    named: NamedLog,
    *,
    output: Annotated[
        Path, option("SCRIPT", "The script, such as rerun.py", "-o", "--output")
    ] = Path("rerun.py"),
    rows: Annotated[
        str | None,
        option("LIST", "Trials by row: 3,17,40:50 (50 is excluded).", rich_help_panel=_WHICH),
    ] = None,
    select: Annotated[
        str | None, option("QUERY", "Trials a query finds.", rich_help_panel=_WHICH)
    ] = None,
    best: Annotated[
        bool,
        flag("The best trial of each task (default).", "--best", rich_help_panel=_WHICH),
    ] = False,
    register: Annotated[
        list[str] | None,
        option(
            "MODULE",
            "What registers the workloads: a Python file, whose source goes into the "
            "script, or the name of a module there.",
            show_default=False,
        ),
    ] = None,
    target: Annotated[str | None, option("TARGET", "Replaces the records' target.")] = None,
    target_host: Annotated[str | None, option("TARGET", "For --target.")] = None,
    hardware: Annotated[
        list[str] | None,
        option(
            "NAME=N",
            "Replaces a hardware parameter, such as max_threads_per_block=512.",
            show_default=False,
        ),
    ] = None,
    rpc: Annotated[str | None, option("KEY", "Run on a device of an RPC tracker.")] = None,
    host: Annotated[str, option("HOST", "With --rpc: the tracker's.")] = "127.0.0.1",
    port: Annotated[int, option("PORT", "With --rpc: the tracker's.")] = 9190,
    emit_source: Annotated[
        str | None, option("FOLDER", "Folder there for TIR and generated code.")
    ] = None,
    new_log: Annotated[str, option("LOG", "What the script writes.")] = "rerun.json",
    build_timeout: Annotated[int, option("S", "Seconds per build.", rich_help_panel=_HOW)] = 60,
    timeout: Annotated[int, option("S", "Seconds per run.", rich_help_panel=_HOW)] = 30,
    number: Annotated[int, option("N", "Runs that are averaged.", rich_help_panel=_HOW)] = 3,
    repeat: Annotated[int, option("N", "Averages that are taken.", rich_help_panel=_HOW)] = 3,
    min_repeat_ms: Annotated[
        int, option("MS", "More runs until an average takes this long.", rich_help_panel=_HOW)
    ] = 100,
    keep_first: Annotated[
        bool,
        flag("Do not discard the slow first measurement.", "--keep-first", rich_help_panel=_HOW),
    ] = False,
) -> None:
    """Write a script that measures schedules on another machine with TVM 0.8 to 0.19 alone.

    It builds and runs each schedule, discards the slow first measurement, and writes a new log,
    which tvmdbg tuning compare compares with this one. It prints what may go wrong there.
    """
    if sum((rows is not None, select is not None, best)) > 1:
        raise UsageError("--rows, --select and --best exclude each other")
    named.spare(output)
    log = named.open()
    rerun = log.reuse(
        _chosen(log, rows, select),
        target=target,
        target_host=target_host,
        hardware=_hardware(hardware or ()),
        register=register,
        rpc=None if rpc is None else (rpc, host, port),
        emit_source=emit_source,
        output=new_log,
        discard_first=not keep_first,
        build_timeout=build_timeout,
        timeout=timeout,
        number=number,
        repeat=repeat,
        min_repeat_ms=min_repeat_ms,
    )
    path = rerun.save(output)
    say(str(path))
    if rerun.records:
        say(str(path.with_suffix(".records.json")))
    note(rerun.caption)
    for warning in rerun.warnings:
        note(f"warning: {warning}")


def _chosen(log: TuningLog, rows: str | None, select: str | None) -> Sequence[int] | None:
    if select is not None:
        chosen = log.select(select)
        if not chosen:
            raise UsageError(f"no trial fits: {chosen.caption}")
        return chosen
    return None if rows is None else _rows(rows, len(log))


def _rows(text: str, count: int) -> list[int]:
    numbers: list[int] = []
    for part in text.split(","):
        match = _RANGE.fullmatch(part.strip())
        if match is None:
            raise UsageError(f"--rows {part!r:.80}: expected rows and ranges", "Such as: 3,40:50")
        first, end = int(match[1]), int(match[2] or int(match[1]) + 1)
        if not first < end <= count:
            there = f"there are rows 0 to {count - 1:,}" if count else "the log has no rows"
            raise UsageError(f"--rows {part}: {there}")
        numbers += range(first, end)
    return numbers


def _hardware(given: Sequence[str]) -> dict[str, int]:
    values = {}
    for part in ",".join(given).split(",") if given else ():
        name, _, number = part.partition("=")
        if not re.fullmatch(r"-?\d{1,18}", number):
            raise UsageError(f"--hardware {part!r:.80}: expected NAME=NUMBER")
        values[name.strip()] = int(number)
    return values
