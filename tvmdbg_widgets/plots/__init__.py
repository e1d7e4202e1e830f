"""Charts of a run as ordinary bokeh figures, to change, save and share.

::

    figure = tvmdbg.plots.times(run)
    tvmdbg.plots.link(figure, run)                        # in a notebook, linked with the views
    bokeh.embed.file_html(figure, bokeh.resources.INLINE) # a page that works offline

The rows of the first renderer's ColumnDataSource are the bars or dots. Its columns have the names
of the tables they come from (``run.table()``, ``run.roofline()``, …) and their units, times in
nanoseconds; texts for the tooltip end in ``_text``, and charts by operator have ``operator``, the
name on the axis. bokeh is imported when the first figure is made.
"""

from typing import TYPE_CHECKING

from tvmdbg_widgets.model.base.slips import lazily
from tvmdbg_widgets.plots.chart import link
from tvmdbg_widgets.plots.operators import compare_times, repeats, times
from tvmdbg_widgets.plots.resources import memory, roofline
from tvmdbg_widgets.plots.tensors import channels, histogram

__all__ = [
    "channels",
    "compare_times",
    "histogram",
    "link",
    "memory",
    "repeats",
    "roofline",
    "times",
]

if not TYPE_CHECKING:
    __getattr__ = lazily(__name__, {})
