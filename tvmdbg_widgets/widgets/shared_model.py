"""Models that views share: a page has them, and ipywidgets keeps them, while a view uses them.

ipywidgets keeps each widget that a page may speak to until somebody closes it. What nobody shows
has no page: a run whose views are closed, or that had none, goes with its last reference.
"""

from __future__ import annotations

from typing import Any

import anywidget

from tvmdbg_widgets.widgets.guarded import Guarded


class SharedModel(Guarded):
    """A widget without a view of its own, open as long as one of its views is."""

    def __init__(self, **traits: Any) -> None:
        #: Ids of the views that are open.
        self._used_by: set[int] = set()
        super().__init__(**traits)

    def open(self) -> None:
        """Open the model to pages if a view uses it; else it waits for one."""
        if self._used_by:
            super().open()

    def use(self, view: UsesModels) -> None:
        """Be open for a view, until :meth:`leave`."""
        self._used_by.add(id(view))
        self.open()

    def leave(self, view: UsesModels) -> None:
        """Close where the last view leaves."""
        if id(view) in self._used_by:
            self._used_by.remove(id(view))
            if not self._used_by:
                self.close()

    def close(self) -> None:
        """Free the model in the kernel and in every page; another view opens it again."""
        super().close()
        self._model_id = None  # pages know the former one as closed

    @property
    def model_id(self) -> str:
        """By which pages find the model; who asks for it before any view opens it for good."""
        if self.comm is None:
            super().open()
        return str(self.comm.comm_id)


class ModelTrait(anywidget.WidgetTrait):
    """The model of another widget, which pages find by it and cannot change; None only at first."""

    allow_none = False

    def __init__(self) -> None:
        super().__init__()
        self.tag(sync=True, page=False)

    def validate(self, obj: Any, value: Any) -> Any:
        """Take a shared model as it is: to ask for its id would open it."""
        return value if isinstance(value, SharedModel) else super().validate(obj, value)


class OptionalModelTrait(ModelTrait):
    """The model of another widget, or None."""

    allow_none = True


class UsesModels(Guarded):
    """A widget with models of others, which are open while it is."""

    def open(self) -> None:
        """Open the models, then the widget, which tells its page of them."""
        for model in self._models():
            model.use(self)
        super().open()

    def close(self) -> None:
        """Free the widget, and each model that no other one uses."""
        super().close()
        for model in self._models():
            model.leave(self)

    def notify_change(self, change: Any) -> None:
        """Leave one model for another."""
        if not isinstance(self.traits().get(change["name"]), ModelTrait) or self.comm is None:
            super().notify_change(change)
            return
        for model in self._models():
            model.use(self)
        super().notify_change(change)
        old = change["old"]
        if isinstance(old, SharedModel) and old not in self._models():
            old.leave(self)

    def _models(self) -> list[SharedModel]:
        names = [name for name, each in self.traits().items() if isinstance(each, ModelTrait)]
        found = (self._trait_values.get(name) for name in names)
        return [each for each in found if isinstance(each, SharedModel)]
