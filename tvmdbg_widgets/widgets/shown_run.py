"""What the views of one run share: session, model, groups, and the figure they leave behind."""

from __future__ import annotations

import hashlib
import logging
import operator
import sys
import threading
import time
from collections.abc import Iterable, Sequence
from secrets import token_hex
from types import FrameType
from typing import Any, SupportsIndex, TypeAlias
from urllib.parse import quote

import traitlets

from tvmdbg_widgets.analysis.facts import RunFacts
from tvmdbg_widgets.analysis.tensor_scan import TensorScan
from tvmdbg_widgets.answers.question_scheduler import HAS_THREADS, QuestionScheduler
from tvmdbg_widgets.engine import bundle
from tvmdbg_widgets.figures.raster import Figure
from tvmdbg_widgets.model.graph.groups import Group, Groups
from tvmdbg_widgets.widgets.session import Session
from tvmdbg_widgets.widgets.traits import SharedModel, UsesModels

GroupRef: TypeAlias = int | str | Group
GroupRefs: TypeAlias = GroupRef | Iterable[GroupRef] | None


class Folding(traitlets.HasTraits):
    """Traits of groups, and what opens and closes them; see :class:`GraphView`."""

    grouped = traitlets.Bool(True).tag(sync=True)
    open_groups = traitlets.List(traitlets.Int(), allow_none=True, default_value=None).tag(
        sync=True
    )
    #: Where nobody has chosen: what a live view opened for the room that it has.
    _opened = traitlets.List(traitlets.Int(), allow_none=True, default_value=None).tag(sync=True)
    wrapped = traitlets.Bool(allow_none=True, default_value=None).tag(sync=True)
    group = traitlets.Int(allow_none=True, default_value=None).tag(sync=True)

    _facts: RunFacts  # the view's

    @traitlets.validate("open_groups", "_opened")
    def _known_groups(self, proposal: dict[str, Any]) -> list[int] | None:
        value: list[int] | None = proposal["value"]
        if value is not None:
            _require(self._facts, proposal["trait"].name, value)
        return value

    @traitlets.validate("group")
    def _known_group(self, proposal: dict[str, Any]) -> int | None:
        value: int | None = proposal["value"]
        if value is not None:
            _require(self._facts, "group", [value])
        return value

    def expand(self, what: GroupRefs = None) -> None:
        """Open groups, and the closed ones around them; draws groups where none were drawn.

        ::

            view.expand()                                # all
            view.expand("residual block")                # all of that name
            view.expand(run.groups[3])                   # one
            view.expand(run.groups[3].alike)             # all of its structure

        Parameters
        ----------
        what : int, str, Group or several of them, optional
            Ids, names (or titles, ``"residual block × 16"``), groups; all where left out.

        Raises
        ------
        KeyError, IndexError, TypeError
            Groups that the run does not have; names close ones.
        """
        groups = self._facts.groups
        opened = self._open()
        for group in _rows(groups, what):
            row = group
            while row >= 0:
                opened.add(row)
                row = int(groups.parent[row])
        self._show(opened)

    def collapse(self, what: GroupRefs = None) -> None:
        """Close groups; all where none is named. As :meth:`expand`."""
        opened = self._open()
        opened.difference_update(_rows(self._facts.groups, what))
        self._show(opened)

    def _show(self, opened: set[int]) -> None:
        """Draw groups, these of them open."""
        with self.hold_trait_notifications():
            self.grouped = True
            self.open_groups = sorted(opened)

    def _open(self) -> set[int]:
        """Return the groups that are open now."""
        if self.open_groups is not None:
            return set(self.open_groups)
        if self._opened is not None:
            return set(self._opened)
        from tvmdbg_widgets.analysis.view_columns import open_by_itself

        run = self._facts
        if run.graph is None:
            return set()
        return set(open_by_itself(run.graph, run.groups))


def _require(run: RunFacts, name: str, groups: Iterable[int]) -> None:
    count = len(run.groups) if run.graph is not None else 0
    for group in groups:
        if not 0 <= group < count:
            known = f"group ids end at {count - 1}" if count else "this graph has no groups"
            raise traitlets.TraitError(f"{name}: no group {group}; {known}")


def _rows(groups: Groups, what: GroupRefs) -> list[int]:
    """Return the ids of the groups that are meant."""
    if what is None:
        return list(range(len(groups)))
    if isinstance(what, str):
        return [group.id for group in groups.find(what)]
    if isinstance(what, Group):
        return [what.id]
    if isinstance(what, bool):
        raise TypeError(f"pass a group, its id or its name, not {what!r}")
    if isinstance(what, SupportsIndex):
        return [groups[operator.index(what)].id]
    if not isinstance(what, Iterable):
        raise TypeError(f"pass a group, its id or its name, not {what!r}")
    return [row for each in what for row in _rows(groups, each)]


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


WIDGET = "application/vnd.jupyter.widget-view+json"
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


class RunModel(SharedModel):
    """Answers the views of one run over custom messages; it has no view of its own.

    Answers are computed beside the kernel's main thread, so that a large tensor does not hold up
    the notebook; see :class:`~tvmdbg_widgets.answers.question_scheduler.QuestionScheduler`.
    """

    _esm = bundle("run.js")
    _view_name = traitlets.Any(None).tag(sync=True)

    title = traitlets.Unicode("").tag(sync=True, page=False)
    content_hash = traitlets.Unicode("").tag(sync=True, page=False)

    def __init__(self, run: RunFacts, **traits: Any) -> None:
        self._run = run
        self._scheduler = QuestionScheduler(run, self._reply)
        super().__init__(title=run.title, content_hash=_content_hash(run), **traits)
        self.on_msg(self._on_question)

    def open(self) -> None:
        """Open the model to pages if a view uses it; it answers again if it was closed."""
        if self._scheduler.closed:
            self._scheduler = QuestionScheduler(self._run, self._reply)
        super().open()

    def glance(self, seconds: float) -> None:
        """Have the tensors of a small run scanned, and wait so long for the end."""
        self._scheduler.glance(seconds)

    def close(self) -> None:
        """Free the model in the kernel and in every page."""
        self._scheduler.close()
        super().close()

    def _on_question(self, _widget: object, message: object, _buffers: object) -> None:
        self._scheduler.take(message)

    def _reply(self, content: dict[str, Any], buffers: list[bytes]) -> None:
        self.send(content, buffers)

    def __repr__(self) -> str:
        return f"RunModel({self._run.title!r})"


def _content_hash(run: RunFacts) -> str:
    digest = hashlib.sha256()
    digest.update(run.title.encode())
    for file in run.provenance.files:
        digest.update(file.encode())
    digest.update(str(id(run)).encode())
    return digest.hexdigest()[:16]


def model_of(facts: RunFacts) -> RunModel:
    """Return the widget model that answers the views of a run."""
    if "model" not in facts.kept:
        facts.kept["model"] = RunModel(facts)
    found: RunModel = facts.kept["model"]
    return found


def session_of(facts: RunFacts) -> Session:
    """Return the state that the views of a run share where they are given no other."""
    shared = facts.follows or facts
    if "session" not in shared.kept:
        shared.kept["session"] = Session(shared)
    found: Session = shared.kept["session"]
    return found
