"""``tvmdbg trace``: the timeline as a Chrome trace, for Perfetto and others."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from tvmdbg_widgets.cli.common.dump import NamedRun, of_run, require_file
from tvmdbg_widgets.cli.common.terminal import note, say
from tvmdbg_widgets.cli.common.verbs import UsageError, examples, option
from tvmdbg_widgets.model.base.numbers import counted

EXAMPLES = examples(
    ('For ui.perfetto.dev, "Open trace file"', "tvmdbg trace /tmp/tvmdbg -o trace.json"),
    ("From a report", "tvmdbg trace report.json graph.json -o trace.json"),
    ("In a pipe", "tvmdbg trace /tmp/tvmdbg -o - | gzip > trace.json.gz"),
)


@of_run
def trace(
    named: NamedRun,
    output: Annotated[
        str,
        option("FILE", "Output file: trace.json; [bold]-[/] is standard output.", "-o", "--output"),
    ],
) -> None:
    """Export the times of a run as a Chrome trace for Perfetto and other viewers.

    Times are exact. Processes are devices, threads are tracks; overlapping slices get their own
    threads, since other viewers drop them. Each slice has its node, op kind, match quality and
    occurrence. Timelines that were not observed are named synthetic.
    """
    _check_target(output)
    run = named.open()
    named.spare(run, output)
    timeline = run.timeline
    if timeline is None:
        from tvmdbg_widgets.analysis.summary import how_to_get

        raise UsageError("this run has no times", how_to_get("timeline", run.parts))
    if output == "-":
        from tvmdbg_widgets.export.chrome_trace import send_chrome_trace

        send_chrome_trace(timeline, run.graph, sys.stdout.buffer, title=run.title)
        sys.stdout.buffer.flush()
        return
    path = run.to_chrome_trace(output)
    say(output)
    note(f"{counted(path.stat().st_size, 'byte')}; open it in ui.perfetto.dev or chrome://tracing")


def _check_target(output: str) -> None:
    if output == "-":
        return
    target = Path(output)
    if target.suffix.lower() != ".json" and not target.is_dir():
        raise UsageError(f"{output} is no .json", "Perfetto knows traces in JSON by this ending.")
    require_file(output, "trace.json")
