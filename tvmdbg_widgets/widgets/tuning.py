"""TuningView: costs over trials, tasks, errors, and the schedule of a trial."""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import traitlets

from tvmdbg_widgets.analysis.facts import OpenedRun, RunFacts, facts_of
from tvmdbg_widgets.analysis.tuning.facts import LogFacts
from tvmdbg_widgets.analysis.tuning.links import TaskLinks, graph_of, link_tasks
from tvmdbg_widgets.answers.messages import message_id
from tvmdbg_widgets.answers.question_scheduler import HAS_THREADS, replied
from tvmdbg_widgets.answers.tuning import TuningAnswers
from tvmdbg_widgets.engine import bundle, code_name, module
from tvmdbg_widgets.figures.options import auto_height
from tvmdbg_widgets.figures.raster import Figure
from tvmdbg_widgets.model.base.options import (
    TEXT,
    ViewOptions,
    anything,
    choice,
    fixed,
    option,
    whole,
)
from tvmdbg_widgets.widgets.outputs import Saved
from tvmdbg_widgets.widgets.run_model import session_of
from tvmdbg_widgets.widgets.session import Session
from tvmdbg_widgets.widgets.traits import (
    ModelTrait,
    OptionalModelTrait,
    SharedModel,
    described,
    traits_of,
)
from tvmdbg_widgets.widgets.view import require_run


def _trials(span: Any) -> tuple[int, int]:
    first, end = fixed(first=whole(), end=whole()).check(span)
    if not 0 <= first < end:
        raise ValueError(f"expected (first, end) with 0 <= first < end, found {span!r:.80}")
    return first, end


@dataclass(frozen=True, kw_only=True)
class TuningOptions(ViewOptions):
    """Options of a tuning log."""

    height: int | str = auto_height(360)
    task: int | None = option(whole(0), None, "Index of the shown task; None is all of them.")
    trial: int | None = option(
        whole(0), None, "The trial whose schedule is shown; None is the best of the task."
    )
    along: str = option(
        choice("trial", "time"),
        "trial",
        'Over the ``"trial"`` or over wall ``"time"``, without the gaps between sessions.',
    )
    trial_range: tuple[int, int] | None = option(
        anything("[first: number, end: number]", "(int, int)", _trials),
        None,
        "The trials that the table counts, the last one left out; None is all of them.",
    )
    query: str = option(
        TEXT,
        "",
        "Trials in the foreground, as of :meth:`tvmdbg_widgets.TuningLog.select`; empty is all.",
    )
    pane: str = option(
        choice("schedule", "tiles", "errors", "findings"),
        "schedule",
        '``"schedule"``, ``"tiles"``, ``"errors"`` or ``"findings"``.',
    )
    sort: str = option(
        choice("time", "gain", "errors", "task"),
        "time",
        'Tasks by ``"time"``, ``"gain"``, ``"errors"`` or ``"task"`` (their number).',
    )


TuningTraits: Any = traits_of(TuningOptions)


@described
class TuningView(TuningTraits, Saved):
    """A tuning log: best cost over trials, time by task, and why trials failed.

    ::

        tvmdbg.TuningView(log, task=3)
        tvmdbg.TuningView(log, run=run)       # tasks and nodes select each other

    Every trial is a point, with failed ones in a lane above and the errors per round below.
    The tasks are listed beside it; below is the schedule of one trial as loops.

    Parameters
    ----------
    log : TuningLog
    run : DebugRun, optional
        A run of the tuned model: nodes select the task that tuned them, and the other way round.
    session : Session, optional
        The run's own where left out.
    **traits
        Initial state, by the names below.

    Raises
    ------
    TypeError
        For something that is no tuning log, or a keyword that is no trait of this view.
    """

    _esm = module("tuning")
    _css = bundle("tuning.css")
    _code = traitlets.Unicode(code_name("tuning")).tag(sync=True)
    _made_by = "tvmdbg_widgets.TuningView(log)"

    #: Set when the view is closed, to stop following its files.
    _stop: threading.Event | None = None
    _model: LogModel

    log = ModelTrait()
    session: Any = OptionalModelTrait()

    def __init__(
        self,
        log: ShownLog,
        run: OpenedRun | RunFacts | None = None,
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
        self._require_traits(traits, "log")
        self._model = LogModel(
            log, None if run is None else link_tasks(log.facts.parts, graph_of(run))
        )
        if not (trials := log.facts.trials).failed.all() or not len(trials):
            traits.setdefault("pane", "schedule")
        traits.setdefault("pane", "findings")
        if session is None and run is not None:
            session = session_of(facts_of(run))
        super().__init__(log=self._model, session=session, **traits)

    @traitlets.validate("task", "trial")
    def _of_the_log(self, proposal: dict[str, Any]) -> int | None:
        row: int | None = proposal["value"]
        name = proposal["trait"].name
        log = self._model.tuning_log.facts
        count = len(log.tasks) if name == "task" else len(log)
        if row is not None and row >= count:
            raise traitlets.TraitError(f"{name}: there is no {name} {row}; the log has {count}")
        return row

    @traitlets.validate("log")
    def _its_own_log(self, proposal: dict[str, Any]) -> object:
        if proposal["value"] is not self._model:
            raise traitlets.TraitError("the log of a view cannot be changed: make another view")
        return proposal["value"]

    @property
    def tuning_log(self) -> ShownLog:
        """The shown log in its latest state."""
        return self._model.tuning_log

    def follow(self, seconds: float = 2.0) -> TuningView:
        """Poll the files every ``seconds`` and show new trials, until the view is closed.

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
        """Free the view and its model, and stop following its files."""
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
        from tvmdbg_widgets.figures.engine import draw_view

        answers = self._model.answers
        return draw_view(
            "tuning",
            answers.log.title,
            self.options,
            answers.answer,
            text=lambda: repr(answers.log),
            width=width,
            theme=theme,
        )

    @property
    def options(self) -> dict[str, Any]:
        """State of the view by trait."""
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
            Ends in ``.html`` or ``.htm``; replaced atomically.
        **options
            ``title`` and ``theme``, as of :meth:`tvmdbg_widgets.TuningLog.save_html`.
        """
        from tvmdbg_widgets.export.tuning_page import save_page

        return save_page(self, path, **options)

    def __repr__(self) -> str:
        return (
            f"<TuningView of {self.tuning_log.facts.title!r}, live in a notebook; "
            "elsewhere use .save_html(path) or .figure().save(path)>"
        )


class ShownLog(Protocol):
    """The part of :class:`tvmdbg_widgets.TuningLog` that the view uses."""

    facts: LogFacts

    def follow(self, seconds: float = 1.0) -> Any:
        """Return an object that polls for new trials."""


class LogModel(SharedModel):
    """Answers the views of one tuning log over custom messages; it has no view.

    One thread answers, one question at a time.
    """

    _esm = bundle("run.js")
    _view_name = traitlets.Any(None).tag(sync=True)

    content = traitlets.Int(0).tag(sync=True, page=False)

    def __init__(self, log: ShownLog, links: TaskLinks | None = None, **traits: Any) -> None:
        self._log = log
        self.answers = TuningAnswers(log.facts, links)
        self._pool: ThreadPoolExecutor | None = None
        super().__init__(**traits)
        self.on_msg(self._on_question)

    @property
    def tuning_log(self) -> ShownLog:
        """The log in its latest state."""
        return self._log

    def grow(self, log: ShownLog) -> None:
        """Replace the log by one with more records, and notify the views."""
        self._log = log
        self.answers = TuningAnswers(log.facts, self.answers.links)
        self.content += 1

    def close(self) -> None:
        """Free the model in the kernel and in every page."""
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown(wait=False, cancel_futures=True)
        super().close()

    def _on_question(self, _widget: object, message: object, _buffers: object) -> None:
        if not HAS_THREADS:
            self._answer(message)
            return
        if self._pool is None:
            self._pool = ThreadPoolExecutor(1, "tvmdbg-tuning")
        self._pool.submit(self._answer, message)

    def _answer(self, message: object) -> None:
        content, buffers = replied("a tuning view", lambda: self.answers.answer(message))
        self.send({"id": message_id(message), **content}, buffers)

    def __repr__(self) -> str:
        return f"LogModel({self._log.facts.title!r})"
