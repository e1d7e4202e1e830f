"""Which method and which execution of a run are shown."""

from __future__ import annotations

import numpy as np

from tvmdbg_widgets.model.base.choice import meant
from tvmdbg_widgets.model.base.errors import FormatError
from tvmdbg_widgets.model.base.text import listed
from tvmdbg_widgets.model.executorch.etdump import ETDump
from tvmdbg_widgets.model.executorch.etrecord import ETRecord
from tvmdbg_widgets.model.executorch.program import Program

_FORWARD = "forward"


def methods_of(record: ETRecord | None, program: Program | None) -> tuple[str, ...]:
    """Return the methods that ETRecord and program name, each once."""
    named = (
        *(record.methods if record is not None else ()),
        *(program.methods if program is not None else ()),
    )
    return tuple(dict.fromkeys(named))


def method_of(record: ETRecord | None, program: Program | None, wanted: str | None) -> str:
    """Return the method whose graph is shown: the one wanted, ``"forward"``, or the only one."""
    known = methods_of(record, program)
    if wanted is not None:
        if known and wanted not in known:
            raise _no_such("method", wanted, known, record, program)
        return wanted
    if not known or _FORWARD in known:
        return _FORWARD
    if len(known) > 1:
        raise _no_such("method", None, known, record, program)
    return known[0]


def _no_such(
    what: str,
    wanted: object,
    known: tuple[str, ...],
    record: ETRecord | None,
    program: Program | None,
) -> FormatError:
    file = record.file if record is not None else program.file if program is not None else ""
    return FormatError(
        f"several {what}s" if wanted is None else f"no {what} {wanted!r}{meant(wanted, known)}",
        file=file,
        expected=f"one of {listed([*map(repr, known)])}",
        found="no choice" if wanted is None else None,
        hint=f"Choose one: open(…, {what}={known[0]!r}).",
    )


def execution_of(
    dump: ETDump | None, wanted: int | None, others: frozenset[int] = frozenset()
) -> int:
    """Return the position among the runs of the execution whose values are shown."""
    if dump is None:
        return -1
    executions = [run for run in range(dump.num_runs) if dump.run_names[run] != "Default"]
    if wanted is not None:
        if not 0 <= wanted < len(executions):
            raise FormatError(
                f"no execution {wanted}",
                file=dump.file,
                expected=f"0 to {len(executions) - 1}" if executions else "none",
                found=wanted,
                hint="open(…, execution=0) shows the values of the first.",
            )
        return executions[wanted]
    runs = np.searchsorted(dump.run_offsets, list(dump.values), "right") - 1
    own = [run for run in executions if run not in others]
    logged = sorted({*runs.tolist()}.intersection(own))
    return (logged or own or executions or [-1])[0]
