"""The figure that a view leaves in a saved notebook."""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections.abc import Sequence
from secrets import token_hex
from types import FrameType
from typing import Any
from urllib.parse import quote

import traitlets

from tvmdbg_widgets.analysis.facts import RunFacts
from tvmdbg_widgets.analysis.tensor_scan import TensorScan
from tvmdbg_widgets.answers.question_scheduler import HAS_THREADS
from tvmdbg_widgets.figures.raster import Figure
from tvmdbg_widgets.widgets.run_model import WIDGET, model_of
from tvmdbg_widgets.widgets.traits import UsesModels

_LOG = logging.getLogger(__name__)


#: A saved notebook carries at most so much for one view.
_MOST_BYTES = 96_000


#: Seconds that a figure waits for the scans of small runs; the samples take 0.1 s.
_PATIENCE = 0.3


class Saved(UsesModels):
    """A widget that leaves a figure in the notebook, for when it is not alive.

    The figure is an output of its own below the widget's. What it tells of the values of tensors
    is told again once they were all scanned.
    """

    #: Tells the figures that stand for this widget from those of others.
    _figure_id = traitlets.Unicode().tag(sync=True)
    #: How to make another one.
    _made_by = "tvmdbg_widgets.{name}(run)"
    #: The figure's HTML that was published last.
    _published = ""

    @traitlets.default("_figure_id")
    def _new_figure_id(self) -> str:
        return token_hex(4)

    def _saved_figure(self) -> Figure:
        """Return the figure, no larger than a saved notebook has room for."""
        raise NotImplementedError

    def _scanned_runs(self) -> Sequence[RunFacts]:
        """Return the runs whose scanned tensors the figure tells of."""
        return ()

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        """Return the widget and its figure as one output."""
        self._glance()
        bundle = super()._repr_mimebundle_(**kwargs)
        if bundle is None:
            return None
        data, metadata = bundle
        return {**data, **self._figure_data()}, metadata

    def _ipython_display_(self) -> None:
        """Show the widget, and below it its figure, which is made once the widget is shown."""
        if self.comm is None:
            name = type(self).__name__
            told = f"This {name} is closed. Make another one: {self._made_by.format(name=name)}"
            _publish({"text/plain": told})
            return
        if makes_one_output():
            raise NotImplementedError
        shown = super()._repr_mimebundle_()
        if shown is None:
            return
        _publish(live_output(shown[0]))
        unfinished = self._glance()
        figure = figure_output(self._figure_data(), self._figure_id)
        self._published = figure["text/html"]
        _publish(figure, transient={"display_id": self._display_id})
        for scan in unfinished:
            scan.when_done(self._renew)

    def _glance(self) -> list[TensorScan]:
        """Have small runs scanned; return the scans that take longer than a figure waits."""
        end = time.monotonic() + _PATIENCE
        scans = []
        for run in self._scanned_runs():
            model_of(run).glance(end - time.monotonic())
            scans.append(run.search.scan)
        return [scan for scan in scans if scan.state != "done"]

    def _figure_data(self) -> dict[str, str]:
        """Return the figure by MIME type."""
        figure = self._saved_figure()
        data = {"text/plain": figure.text, "text/html": figure.html}
        if len(figure.svg) + len(figure.html) <= _MOST_BYTES:
            data["image/svg+xml"] = figure.svg
        return data

    @property
    def _display_id(self) -> str:
        return f"tvmdbg-{self._figure_id}"

    def _renew(self) -> None:
        """Have the figure painted again, beside whoever scanned."""
        if HAS_THREADS:
            threading.Thread(target=self._publish_again, name="tvmdbg-figure", daemon=True).start()
        else:
            self._publish_again()

    def _publish_again(self) -> None:
        """Publish the figure if it is another now: an update makes the notebook unsaved."""
        try:
            if self.comm is None:
                return
            figure = figure_output(self._figure_data(), self._figure_id)
            if figure["text/html"] != self._published:
                self._published = figure["text/html"]
                _publish(figure, transient={"display_id": self._display_id}, update=True)
        except Exception:  # noqa: BLE001 (the kernel may be on its way out)
            _LOG.info("the figure of %s was not renewed", type(self).__name__, exc_info=True)


def _publish(data: dict[str, Any], **how: Any) -> None:
    from IPython.display import publish_display_data

    publish_display_data(data, **how)  # type: ignore[no-untyped-call]


#: In JupyterLab 4 and Notebook 7 a view that is gone has an error in its place. This hides the
#: error, and the figure for as long as the view may still come. Figures follow the page's theme: a
#: picture is asked for its dark colors by the `color-scheme` around it.
#: A `<link>`, not a `<style>`: sites that remove tags would leave the text of a style on the page.
_STYLE = """
.jp-OutputArea-child:has(+ .jp-OutputArea-child > .jp-OutputArea-output > .tvmdbg-saved)
:not(:has(> .jp-OutputArea-output *)) { display: none }
.jp-OutputArea-child:has(> .jp-OutputArea-output:not([data-mime-type], .jupyter-widgets))
+ .jp-OutputArea-child > .jp-OutputArea-output > .tvmdbg-saved
{ animation: tvmdbg-saved 2s step-end }
@keyframes tvmdbg-saved { from { max-height: 0; visibility: hidden } }
.tvmdbg-saved { color-scheme: light }
[data-jp-theme-light="false"] .tvmdbg-saved { color-scheme: dark }
""".replace("\n:not", ":not")


_LINK = f'<link rel="stylesheet" href="data:text/css,{quote(" ".join(_STYLE.split()), safe=" ")}">'


def live_output(data: dict[str, Any]) -> dict[str, Any]:
    """Return the output that holds the view alone, of its data by MIME type."""
    return {WIDGET: data[WIDGET], "text/html": ""}


def figure_output(data: dict[str, str], figure_id: str) -> dict[str, str]:
    """Return the output that holds the figure."""
    names = f"tvmdbg-saved tvmdbg-saved-{figure_id}"
    return {**data, "text/html": f'<div class="{names}">{_LINK}{data["text/html"]}</div>'}


def makes_one_output() -> bool:
    """Whether what is being shown must be one output.

    A handle, ``display(view, display_id=True)``, updates one output; and what asks for the data of
    an object, as ``Output.append_display_data`` does, makes one of them.
    """
    from IPython.core.display_functions import display
    from IPython.core.displayhook import DisplayHook
    from IPython.core.formatters import DisplayFormatter

    frame: FrameType | None = sys._getframe()  # noqa: SLF001 (no object is told who shows it)
    while frame is not None and frame.f_code is not DisplayFormatter.format.__code__:
        frame = frame.f_back
    caller = None if frame is None else frame.f_back
    if caller is None or caller.f_code is DisplayHook.compute_format_data.__code__:
        return False
    return caller.f_code is not display.__code__ or bool(caller.f_locals["transient"])
