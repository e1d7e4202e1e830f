"""All verbs of ``tvmdbg tuning``."""

from __future__ import annotations

import typer

from tvmdbg_widgets.cli.common.verbs import Verbs, examples, register
from tvmdbg_widgets.cli.tuning import (
    best,
    compare,
    distill,
    errors,
    merge,
    reuse,
    show,
    summary,
    tasks,
)

app = typer.Typer(
    cls=Verbs,
    no_args_is_help=True,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Inspect tuning logs of Ansor, AutoTVM and MetaSchedule. TVM is not needed.",
    epilog=examples(
        ("What happened, what went wrong", "tvmdbg tuning summary ansor.json"),
        ("The best schedule of a task as loops", "tvmdbg tuning show ansor.json --task 3"),
    ),
)
_ANALYZE = (summary, tasks, errors, best, show, compare)
register(app, {"Analyze": _ANALYZE, "Export": (distill, merge, reuse)})
