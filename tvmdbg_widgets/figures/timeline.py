"""The timeline of a run as a figure, which asks for its data; its text form."""

from __future__ import annotations

from tvmdbg_widgets.analysis.facts import RunFacts
from tvmdbg_widgets.analysis.summary import how_to_get
from tvmdbg_widgets.analysis.timeline.longest_path import why_not
from tvmdbg_widgets.analysis.timeline.merged import merged
from tvmdbg_widgets.analysis.timeline.repeat_matrix import repeat_matrix, why_no_repeats
from tvmdbg_widgets.analysis.timeline.roofline import roofline_of
from tvmdbg_widgets.analysis.times.operator_rows import operators
from tvmdbg_widgets.analysis.times.sums import times
from tvmdbg_widgets.answers.time_tables import why_no_times
from tvmdbg_widgets.figures.engine import ToDraw
from tvmdbg_widgets.figures.options import Redaction, TimelineOptions
from tvmdbg_widgets.model.base.options import drawn
from tvmdbg_widgets.model.timeline.words import timeline_words


def timeline_to_draw(
    run: RunFacts, options: TimelineOptions, *, saved: bool, redaction: Redaction | None
) -> ToDraw:
    """Return what the figure of a timeline takes; by ``"change"`` it is that of two runs."""
    del saved, redaction
    compared = run.compared if options.table_by == "change" else None
    title = "" if compared is None else compared.title
    return ToDraw(drawn(options), lambda: timeline_text(run, options), title)


_TOP = 10


def timeline_text(run: RunFacts, options: TimelineOptions) -> str:
    """Return a timeline's figure as text: its table of times, its chart, and the operators."""
    timeline, by = run.timeline, options.table_by
    if timeline is None:
        return f"{run.title}: no times. {how_to_get('timeline', run.parts)}"
    if by == "change" and run.compared is not None:
        return repr(run.compared)
    in_order = options.sort == "order"
    rows = operators(run.parts)[:_TOP] if in_order else operators(run.parts, top=_TOP)
    said = timeline_words(timeline, run.graph is not None).said
    lines = [f"{rows!r}\n({said})"]
    if timeline.num_slices and options.show != "table" and options.chart != "time":
        lines.insert(0, _chart_text(run, options))
    if by not in ("node", "change") and options.show != "chart":
        if why := why_no_times(run.graph, by):
            lines.append(why)
        else:
            lines.insert(0, repr(times(run.parts, lambda: run.groups, by)))
    return "\n".join(lines)


def _chart_text(run: RunFacts, options: TimelineOptions) -> str:
    if options.chart == "merged":
        return repr(merged(run.parts, lambda: run.groups))
    if options.chart == "roofline":
        why = why_not(run.parts).replace("critical path", "roofline")
        ceilings = options.peak_flops, options.bandwidth
        return why or repr(roofline_of(run.parts, lambda: run.work, *ceilings))
    if options.chart not in ("repeats", "folded"):
        return ""
    if why := why_no_repeats(run.parts):
        return why
    matrix = repeat_matrix(run.parts)
    if options.chart == "repeats":
        return repr(matrix)
    folded = matrix.folded()
    return f"{folded!r}\n({folded.said})"
