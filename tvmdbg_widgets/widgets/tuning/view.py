"""TuningView: costs over trials, the tasks, why trials failed, and the schedule of a trial."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any

import traitlets

from tvmdbg_widgets.analysis.tuning.links import graph_of, link_tasks
from tvmdbg_widgets.answers.bundles import bundle, code_name, module
from tvmdbg_widgets.figures.figure import Figure
from tvmdbg_widgets.model.base.choice import no_argument
from tvmdbg_widgets.widgets.saved import Saved
from tvmdbg_widgets.widgets.session import Session
from tvmdbg_widgets.widgets.shared_model import ModelTrait, OptionalModelTrait
from tvmdbg_widgets.widgets.shown_run import ShownRun
from tvmdbg_widgets.widgets.traits import Choice
from tvmdbg_widgets.widgets.tuning.log_model import LogModel, ShownLog
from tvmdbg_widgets.widgets.view import auto_height, require_run

_PANES = ("schedule", "tiles", "errors", "findings")


class TrialRange(traitlets.Tuple):
    """Trials ``(first, end)``, the last one left out; None is all of them."""

    def __init__(self) -> None:
        super().__init__(traitlets.Int(), traitlets.Int(), allow_none=True, default_value=None)

    def validate(self, obj: Any, value: Any) -> Any:
        """Take a range with at least one trial."""
        found = super().validate(obj, tuple(value) if isinstance(value, list) else value)
        if found is not None and not 0 <= found[0] < found[1]:
            raise traitlets.TraitError(
                f"{self.name} is (first, end) with 0 <= first < end, found {value!r}"
            )
        return found


class TuningView(Saved):
    """A tuning log: how the best cost fell, which task takes the time, why trials failed.

    ::

        tvmdbg.TuningView(log, task=3)
        tvmdbg.TuningView(log, run=run)       # tasks and nodes select each other

    Every trial is a point, failed ones stand in a lane above; below are the errors of each round,
    beside it the tasks, below it the schedule of a trial as loops.

    Parameters
    ----------
    log : TuningLog
    run : DebugRun, optional
        A run of the tuned model: nodes select the task that tuned them, and the other way round.
    session : Session, optional
        The run's own where left out.
    **traits
        Initial state, by the names below.

    Attributes
    ----------
    task : int or None
        Index of the task that is looked at; None is all of them.
    trial : int or None
        The trial whose schedule is shown; None is the best of the task.
    along : str
        Over the ``"trial"`` or over wall ``"time"``, without the gaps between sessions.
    trial_range : (int, int) or None
        The trials that the table counts, the last one left out; None is all of them.
    query : str
        Trials in the foreground, as of :meth:`tvmdbg_widgets.TuningLog.select`; empty is all.
    pane : str
        ``"schedule"``, ``"tiles"``, ``"errors"`` or ``"findings"``.
    sort : str
        Tasks by ``"time"``, ``"gain"``, ``"errors"`` or ``"task"`` (their number).
    height : int or "auto"
        CSS pixels; ``"auto"``: of the part of the notebook that is seen.

    Raises
    ------
    TypeError
        For something that is no tuning log, or a keyword that is no trait of this view.
    """

    _esm = module("tuning")
    _css = bundle("tuning.css")
    _code = traitlets.Unicode(code_name("tuning")).tag(sync=True)
    _made_by = "tvmdbg_widgets.TuningView(log)"

    #: Set when the view is closed, so that it follows its files no longer.
    _stop: threading.Event | None = None
    _model: LogModel

    log = ModelTrait()
    session: Any = OptionalModelTrait()
    task = traitlets.Int(None, allow_none=True, min=0).tag(sync=True)
    trial = traitlets.Int(None, allow_none=True, min=0).tag(sync=True)
    along = Choice(["trial", "time"], "trial").tag(sync=True)
    trial_range: Any = TrialRange().tag(sync=True)
    query = traitlets.Unicode("").tag(sync=True)
    pane = Choice(_PANES, "schedule").tag(sync=True)
    sort = Choice(["time", "gain", "errors", "task"], "time").tag(sync=True)
    height = auto_height(360)

    def __init__(
        self,
        log: ShownLog,
        run: ShownRun | None = None,
        session: Session | None = None,
        **traits: Any,
    ) -> None:
        if not hasattr(log, "trials"):
            raise TypeError(
                f"TuningView shows a tuning log, not {type(log).__name__}: pass "
                "tvmdbg_widgets.open_tuning(path)"
            )
        if run is not None:
            require_run(self, run)
        known = {name for name in self.class_trait_names(sync=True) if not name.startswith("_")}
        for name in traits:
            if name not in known - {"log", "session"}:
                raise no_argument("TuningView", name, known - {"log"})
        self._model = LogModel(
            log, None if run is None else link_tasks(log.facts.parts, graph_of(run))
        )
        if session is None and run is not None:
            session = run.session
        super().__init__(log=self._model, session=session, **traits)

    @traitlets.validate("task", "trial")
    def _of_the_log(self, proposal: dict[str, Any]) -> int | None:
        found: int | None = proposal["value"]
        name = proposal["trait"].name
        log = self._model.tuning_log.facts
        count = len(log.tasks) if name == "task" else len(log)
        if found is not None and found >= count:
            raise traitlets.TraitError(f"{name}: there is no {name} {found}; the log has {count}")
        return found

    @traitlets.validate("log")
    def _its_own_log(self, proposal: dict[str, Any]) -> object:
        if proposal["value"] is not self._model:
            raise traitlets.TraitError("the log of a view cannot be changed: make another view")
        return proposal["value"]

    @property
    def tuning_log(self) -> ShownLog:
        """The log that is shown, as far as it has grown."""
        return self._model.tuning_log

    def follow(self, seconds: float = 2.0) -> TuningView:
        """Let the view grow with its files, looked at every so many seconds, until it is closed.

        ::

            tvmdbg.open_tuning("tuning.json").view().follow()
        """
        if self._stop is None:
            self._stop = threading.Event()
            follower = self.tuning_log.follow(seconds=seconds)
            arguments = (follower, self._stop, seconds)
            name = "tvmdbg-follow"
            threading.Thread(target=self._grow, args=arguments, name=name, daemon=True).start()
        return self

    def _grow(self, follower: Any, stop: threading.Event, seconds: float) -> None:
        while not stop.wait(seconds):
            grown = follower.poll()
            if grown is not None and not stop.is_set():
                self._model.grow(grown)

    def close(self) -> None:
        """Free the view and its model; it follows its files no longer."""
        if self._stop is not None:
            self._stop.set()
        super().close()

    def figure(self, width: float = 720, theme: str = "light") -> Figure:
        """Return what the view shows as a static figure, made without a browser.

        Parameters
        ----------
        width : float
            px, 300 to 2000.
        theme : str
            ``"light"``, ``"dark"``, or ``"auto"``: dark where the reader prefers it.

        Raises
        ------
        ValueError
            A width or theme that is none of these.
        """
        from tvmdbg_widgets.figures.tuning.figure import tuning_figure

        return tuning_figure(self.tuning_log.facts, self.options, width=width, theme=theme)

    @property
    def options(self) -> dict[str, Any]:
        """What the view shows, by trait."""
        names = ("task", "trial", "along", "query", "pane", "sort")
        chosen = {name: getattr(self, name) for name in names}
        span = self.trial_range
        return chosen | {"trial_range": None if span is None else list(span)}

    def _saved_figure(self) -> Figure:
        return self.figure(theme="auto")

    def save_html(self, path: str | os.PathLike[str], **options: Any) -> Path:
        """Write this view in its present state as one HTML file that works offline.

        Parameters
        ----------
        path : path-like
            Ends in ``.html`` or ``.htm``; replaced whole or not at all.
        **options
            ``title`` and ``theme``, as of :meth:`tvmdbg_widgets.TuningLog.save_html`.
        """
        return self.tuning_log.save_html(path, **options, of=self)

    def __repr__(self) -> str:
        return (
            f"<TuningView of {self.tuning_log.facts.title!r}, live in a notebook; "
            "elsewhere use .save_html(path) or .figure().save(path)>"
        )
