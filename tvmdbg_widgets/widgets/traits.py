"""Traits of views and sessions: an entry, a range of an axis; how they refuse a value."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

import anywidget
import ipywidgets
import traitlets

from tvmdbg_widgets.analysis.facts import RunFacts
from tvmdbg_widgets.model.base.choice import meant, one_of
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.refs import entry_ref
from tvmdbg_widgets.model.tensors.tensors import Tensors


def named_in(run: RunFacts | None) -> tuple[Graph | None, Tensors | None]:
    """Return where the nodes of a run are looked up by name."""
    return (None, None) if run is None else (run.graph, run.tensors)


@contextmanager
def as_trait_error(name: str) -> Iterator[None]:
    """Raise what a check of a trait raises as a ``TraitError`` that names the trait."""
    try:
        yield
    except (TypeError, ValueError, LookupError, OverflowError) as problem:
        raise traitlets.TraitError(f"{name}: {problem.args[0]}") from None


class Choice(traitlets.Enum[Any]):
    """One of some texts; another is refused with the nearest of them."""

    def validate(self, obj: Any, value: Any) -> Any:
        """Take what is one of them, in any case of letters."""
        known = {str(each).casefold(): each for each in self.values or ()}
        if isinstance(value, str) and (found := known.get(value.casefold())) is not None:
            return found
        return super().validate(obj, value)

    def error(
        self, obj: Any, value: Any, error: Exception | None = None, info: str | None = None
    ) -> NoReturn:
        """Refuse a value."""
        if error is not None:
            super().error(obj, value, error, info)
        name = self.name or "choice"
        raise traitlets.TraitError(
            f"{name}: no {name} {value!r:.200}{meant(value, self.values or ())}"
        )


class ChoiceOr(traitlets.Union):
    """One of some texts, or what other traits take."""

    def __init__(self, values: Sequence[str], *others: Any, default: str) -> None:
        self._values = tuple(values)
        super().__init__([Choice(values), *others], default_value=default)

    def validate(self, obj: Any, value: Any) -> Any:
        """Take what one of the traits takes; of texts only the choices."""
        if isinstance(value, str) and value.casefold() not in self._values:
            with as_trait_error(str(self.name)):
                one_of(str(self.name), value, self._values)
        return super().validate(obj, value)


class EntryTrait(traitlets.Tuple):
    """An entry ``(node, output)`` or None; also set by a node alone, by name, or by a tensor."""

    def __init__(self) -> None:
        super().__init__(traitlets.Int(), traitlets.Int(), allow_none=True, default_value=None)

    def validate(self, obj: Any, value: Any) -> Any:
        """Take what the run of the widget has."""
        if value is None:
            return None
        with as_trait_error(str(self.name)):
            found = entry_ref(value, *named_in(getattr(obj, "shown", None)))
        return super().validate(obj, found)


class TimeRange(traitlets.Tuple):
    """``(start, end)`` in nanoseconds, which ends after it starts; None is no range of its own."""

    unit = "nanoseconds"

    def __init__(self) -> None:
        super().__init__(traitlets.Float(), traitlets.Float(), allow_none=True, default_value=None)

    def validate(self, obj: Any, value: Any) -> Any:
        """Take the pair where it is a part of the axis."""
        pair = super().validate(obj, value)
        if pair is not None and not (math.isfinite(pair[1] - pair[0]) and pair[0] < pair[1]):
            raise traitlets.TraitError(
                f"{self.name} must be (start, end) in {self.unit} with start < end, not {value!r}"
            )
        return pair


class StepRange(TimeRange):
    """The same in steps of a memory plan."""

    unit = "steps"


class Guarded(anywidget.AnyWidget):
    """A widget whose page is taken for hostile.

    A page sets the traits that a user may set there, nothing else: not what names a view's models,
    not the code that it runs, nor what the host lays it out by. The tag ``page`` says otherwise of
    a trait. What is refused is sent back as it is here.
    """

    #: The layout that was made for this widget, not one that it was given.
    _own_layout: ipywidgets.Layout | None = None

    @traitlets.default("layout")
    def _make_layout(self) -> ipywidgets.Layout:
        self._own_layout = ipywidgets.Layout()
        return self._own_layout

    def open(self) -> None:
        """Open the widget to pages, with its layout if that was closed with it."""
        layout = self._own_layout
        if layout is not None and layout.comm is None:
            layout._model_id = None  # noqa: SLF001 (pages know the former one as closed)
            layout.open()
        super().open()

    def close(self) -> None:
        """Free the widget, and the layout that was made for it, in the kernel and in every page."""
        super().close()
        if self._own_layout is not None:
            self._own_layout.close()

    def set_state(self, sync_data: dict[str, Any]) -> None:
        """Take what a page sets.

        Raises
        ------
        TraitError
            A value that the trait cannot have.
        """
        taken = {name: value for name, value in sync_data.items() if self._is_open(name)}
        refused = sync_data.keys() & self.keys - taken.keys()
        try:
            super().set_state(taken)
        except Exception as problem:
            refused = sync_data.keys() & self.keys
            if isinstance(problem, traitlets.TraitError):
                raise
            # Such as an integer that is too large for a float.
            raise traitlets.TraitError(f"{', '.join(taken)}: {problem}") from problem
        finally:
            if refused:
                self.send_state(list(refused))

    def _is_open(self, name: str) -> bool:
        usual = not name.startswith("_") and name not in _OF_HOSTS
        return name in self.keys and bool(self.trait_metadata(name, "page", default=usual))


_OF_HOSTS = frozenset(anywidget.AnyWidget.class_trait_names(sync=True))


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


class OptionalModelTrait(ModelTrait):
    """The model of another widget, or None."""

    allow_none = True
