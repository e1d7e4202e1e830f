"""Arguments that name a tuning log."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from tvmdbg_widgets.cli.common.dump import (
    local_paths,
    quiet_unless_terminal,
    read_once,
    source_of,
    taking,
    wanted,
)
from tvmdbg_widgets.cli.common.verbs import UsageError, argument, option, verb

if TYPE_CHECKING:
    from tvmdbg_widgets.tuning import TuningLog


_WHERE = "Which files"

_Logs = Annotated[
    list[str],
    argument(
        "LOG",
        "Files or folders of one tuning, in any order: logs of Ansor or AutoTVM, "
        "MetaSchedule's databases, captured output, DAG texts. [bold]-[/] reads "
        "one from standard input.",
        show_default=False,
    ),
]
_Register = Annotated[
    list[str] | None,
    option(
        "FILE",
        "Python source that registers the workloads, for `reuse`; it is never run here.",
        "--register",
        rich_help_panel=_WHERE,
        show_default=False,
    ),
]
_Weights = Annotated[
    str | None,
    option(
        "FILE",
        "JSON: how often the network calls each task, as a list in the order of "
        "the tasks, or by workload key.",
        "--weights",
        rich_help_panel=_WHERE,
    ),
]


@dataclass(frozen=True)
class NamedLog:
    """The log named by a verb's arguments."""

    logs: list[str]
    register: list[str] | None = None
    weights: str | None = None

    def open(self) -> TuningLog:
        """Open it."""
        from tvmdbg_widgets.tuning import open_tuning

        quiet_unless_terminal()
        read_once(*self.logs)
        return open_tuning(
            [source_of(log) for log in self.logs],
            register=self.register or None,
            weights=None if self.weights is None else _weights(self.weights),
            progress=wanted(),
        )

    def spare(self, output: str | os.PathLike[str]) -> None:
        """Refuse to overwrite an input file."""
        target = Path(output)
        if target.is_dir():
            raise UsageError(f"{output} is a folder", "Give an output file.")
        if target.exists() and any(
            path.samefile(target) or (path.is_dir() and target.parent.samefile(path))
            for path in local_paths(*self.logs)
            if path.exists()
        ):
            raise UsageError(
                f"{output} is an input file, which is never overwritten", "Choose another file."
            )


def of_log(function: Callable[..., None]) -> Callable[..., None]:
    """Make a function a verb with arguments that name a log, its first parameter."""
    options = {"register": _Register, "weights": _Weights}
    return verb(taking(NamedLog, ("logs", _Logs), options)(function))


def of_logs_alone(function: Callable[..., None]) -> Callable[..., None]:
    """Make a function a verb with only the files of a log, its first parameter."""
    return verb(taking(NamedLog, ("logs", _Logs), {})(function))


def task_of(text: str) -> int | str:
    """Return a task's index for an integer, else its key or name."""
    return int(text) if re.fullmatch(r"-?[0-9]{1,9}", text) else text


def _weights(name: str) -> Any:
    import json

    from tvmdbg_widgets.formats.tuning.gather import given_text

    text = given_text(name, "the weights of tasks")
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(
            f"--weights {name}: {error}",
            "Write JSON: [1, 2, 4], or {workload key: 2} for some of the tasks.",
        ) from None
