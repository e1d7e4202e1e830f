"""The model through which every view of a run asks its questions."""

from __future__ import annotations

import hashlib
from typing import Any

import traitlets

from tvmdbg_widgets.analysis.derived.derived import Derived
from tvmdbg_widgets.answers.bundles import bundle
from tvmdbg_widgets.answers.question_scheduler import QuestionScheduler
from tvmdbg_widgets.widgets.shared_model import SharedModel


class RunModel(SharedModel):
    """Answers the views of one run over custom messages; it has no view of its own.

    Answers are computed beside the kernel's main thread, so that a large tensor does not hold up
    the notebook; see :class:`~tvmdbg_widgets.answers.question_scheduler.QuestionScheduler`.
    """

    _esm = bundle("run.js")
    _view_name = traitlets.Any(None).tag(sync=True)

    title = traitlets.Unicode("").tag(sync=True, page=False)
    content_hash = traitlets.Unicode("").tag(sync=True, page=False)

    def __init__(self, run: Derived, **traits: Any) -> None:
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


def _content_hash(run: Derived) -> str:
    digest = hashlib.sha256()
    digest.update(run.title.encode())
    for file in run.provenance.files:
        digest.update(file.encode())
    digest.update(str(id(run)).encode())
    return digest.hexdigest()[:16]
