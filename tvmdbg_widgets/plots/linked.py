"""A bokeh figure linked with the views of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tvmdbg_widgets.model.base.slips import public
from tvmdbg_widgets.plots.chart import require_run

if TYPE_CHECKING:
    from tvmdbg_widgets.widgets.plot import LinkedPlot
    from tvmdbg_widgets.widgets.session import Session
    from tvmdbg_widgets.widgets.shown_run import ShownRun


@public
def link(
    figure: Any, run: ShownRun, session: Session | None = None, *, nodes: str = "node"
) -> LinkedPlot:
    """Return a widget that shows a bokeh figure and shares its selection with the views of a run.

    ::

        tvmdbg.plots.link(tvmdbg.plots.times(run), run)

    Selecting bars or dots selects their nodes in ``run.session``, and a node that is selected
    there lights its bars and dots. Any figure, or layout of figures, will do whose data source has
    a column of node ids, as that of ``run.to_dataframe()``.

    Parameters
    ----------
    figure : bokeh.models.Model
    run : DebugRun
    session : Session, optional
        The run's own where left out.
    nodes : str
        Name of the column that holds node ids, or lists of them.

    Raises
    ------
    TypeError
        That is no figure, or no run.
    ValueError
        No data source of the figure has such a column.
    """
    from tvmdbg_widgets.widgets.plot import LinkedPlot

    require_run("link", run)
    return LinkedPlot(figure, run, session, nodes=nodes)
