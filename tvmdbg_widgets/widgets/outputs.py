"""Figures that views leave in a saved notebook."""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections.abc import Iterable, Sequence
from secrets import token_hex
from types import FrameType
from typing import Any
from urllib.parse import quote

import traitlets

from tvmdbg_widgets.analysis.facts import RunFacts
from tvmdbg_widgets.analysis.tensor_scan import TensorScan
from tvmdbg_widgets.answers.question_scheduler import HAS_THREADS
from tvmdbg_widgets.figures.raster import Figure
from tvmdbg_widgets.model.base.slips import no_argument
from tvmdbg_widgets.widgets.run_model import WIDGET, model_of
from tvmdbg_widgets.widgets.traits import UsesModels

_LOG = logging.getLogger(__name__)


#: Most characters per view in a saved notebook.
_MOST_BYTES = 96_000


#: Seconds that a figure waits for scans of small runs; the samples take 0.1 s.
_PATIENCE = 0.3


class Saved(UsesModels):
    """A widget that leaves a figure in the notebook for when its kernel is gone.

    The figure is an output of its own below the widget's. It is renewed once all tensors are
    scanned.
    """

    #: Id of this widget's figures.
    _figure_id = traitlets.Unicode().tag(sync=True)
    #: Code that makes another one.
    _made_by = "tvmdbg_widgets.{name}(run)"
    #: Last published HTML of the figure.
    _published = ""

    @traitlets.default("_figure_id")
    def _new_figure_id(self) -> str:
        return token_hex(4)

    def _require_traits(self, given: Iterable[str], model: str) -> None:
        """Raise TypeError for a keyword that is no trait of the view."""
        names = {name for name in self.class_trait_names(sync=True) if not name.startswith("_")}
        for name in given:
            if name not in names - {model, "session"}:
                raise no_argument(type(self).__name__, name, names - {model})

    def _saved_figure(self) -> Figure:
        """Return a figure that fits into a saved notebook."""
        raise NotImplementedError

    def _scanned_runs(self) -> Sequence[RunFacts]:
        """Return the runs whose scans change the figure."""
        return ()

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        self._glance()
        bundle = super()._repr_mimebundle_(**kwargs)
        if bundle is None:
            return None
        data, metadata = bundle
        return {**data, **self._figure_data()}, metadata

    def _ipython_display_(self) -> None:
        if self.comm is None:
            name = type(self).__name__
            text = f"This {name} is closed. Make another one: {self._made_by.format(name=name)}"
            _publish({"text/plain": text})
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
        """Scan small runs; return the scans that are still running."""
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
        """Draw the figure again, not in the scanning thread."""
        if HAS_THREADS:
            threading.Thread(target=self._publish_again, name="tvmdbg-figure", daemon=True).start()
        else:
            self._publish_again()

    def _publish_again(self) -> None:
        """Publish the figure if it has changed: an update marks the notebook as unsaved."""
        try:
            if self.comm is None:
                return
            figure = figure_output(self._figure_data(), self._figure_id)
            if figure["text/html"] != self._published:
                self._published = figure["text/html"]
                _publish(figure, transient={"display_id": self._display_id}, update=True)
        except Exception:  # noqa: BLE001 (the kernel may be shutting down)
            _LOG.info("the figure of %s was not renewed", type(self).__name__, exc_info=True)


def _publish(data: dict[str, Any], **how: Any) -> None:
    from IPython.display import publish_display_data

    publish_display_data(data, **how)  # type: ignore[no-untyped-call]


#: JupyterLab 4 and Notebook 7 show an error for a view without a kernel. This hides the error, and
#: hides the figure while the view may still load. The `color-scheme` around a picture chooses its
#: dark colors. It is a `<link>`, since sites that remove tags keep the text of a `<style>`.
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
    """Return the output with only the view."""
    return {WIDGET: data[WIDGET], "text/html": ""}


def figure_output(data: dict[str, str], figure_id: str) -> dict[str, str]:
    """Return the output with the figure."""
    names = f"tvmdbg-saved tvmdbg-saved-{figure_id}"
    return {**data, "text/html": f'<div class="{names}">{_LINK}{data["text/html"]}</div>'}


def makes_one_output() -> bool:
    """Whether the present display call must make exactly one output.

    ``display(view, display_id=True)`` updates one output, and ``Output.append_display_data`` asks
    for one object's data.
    """
    from IPython.core.display_functions import display
    from IPython.core.displayhook import DisplayHook
    from IPython.core.formatters import DisplayFormatter

    frame: FrameType | None = sys._getframe()  # noqa: SLF001 (the only way to know the caller)
    while frame is not None and frame.f_code is not DisplayFormatter.format.__code__:
        frame = frame.f_back
    caller = None if frame is None else frame.f_back
    if caller is None or caller.f_code is DisplayHook.compute_format_data.__code__:
        return False
    return caller.f_code is not display.__code__ or bool(caller.f_locals["transient"])
