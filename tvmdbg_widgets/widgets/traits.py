"""Traits of views and sessions, and guarded widgets that open and close their models."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from inspect import cleandoc
from textwrap import fill, indent
from typing import Any

import anywidget
import ipywidgets
import traitlets

from tvmdbg_widgets.analysis.facts import RunFacts
from tvmdbg_widgets.figures.options import (
    DebuggerOptions,
    GraphOptions,
    MemoryOptions,
    TensorOptions,
    TimelineOptions,
)
from tvmdbg_widgets.model.base.options import Option, ViewOptions, options_of
from tvmdbg_widgets.model.base.short_tracebacks import shorten
from tvmdbg_widgets.model.base.slips import no_attribute, public_class
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.refs import entry_ref
from tvmdbg_widgets.model.tensors.tensors import Tensors


def named_in(run: RunFacts | None) -> tuple[Graph | None, Tensors | None]:
    """Return graph and tensors, in which names of nodes are looked up."""
    return (None, None) if run is None else (run.graph, run.tensors)


def shown_entry(run: RunFacts | None, given: Any) -> tuple[int, int] | None:
    """Return the entry that is given by a node, its name, a tensor or a pair."""
    if given is None:
        return None
    graph, tensors = named_in(run)
    return entry_ref(given, graph, tensors, only_tensors=run is not None and run.timeline is None)


@contextmanager
def as_trait_error(name: str = "") -> Iterator[None]:
    """Turn errors of a check into a ``TraitError`` that names the trait."""
    try:
        yield
    except (TypeError, ValueError, LookupError, OverflowError) as problem:
        why = problem.args[0] if problem.args else type(problem).__name__
        raise traitlets.TraitError(f"{name}: {why}" if name else why) from None


def validated(name: str, check: Callable[[Any, Any], Any]) -> Any:
    """Return a validator that sets a trait to ``check(widget, value)``; errors name the trait."""

    def validate(widget: Any, proposal: dict[str, Any]) -> Any:
        with as_trait_error(name):
            return check(widget, proposal["value"])

    return traitlets.validate(name)(validate)


class OptionTrait(traitlets.TraitType[Any, Any]):
    """A synced trait with the check and the default of an option."""

    def __init__(self, option: Option) -> None:
        self.option = option
        super().__init__(option.default, allow_none=option.default is None, help=option.about)
        self.tag(sync=True)

    def default(self, obj: Any = None) -> Any:
        """Return a default of its own for every widget."""
        del obj
        return copy(self.default_value)

    def validate(self, obj: Any, value: Any) -> Any:
        """Return the checked value."""
        del obj
        with as_trait_error():
            return self.option.checked(value)


def traits_of(kind: type[ViewOptions]) -> Any:
    """Return a class with the traits of a view, to be a base of its widget."""
    traits = {each.name: OptionTrait(each) for each in options_of(kind) if each.live}
    own = {"__module__": __name__, "_options_type": kind}
    return type(kind.__name__, (traitlets.HasTraits,), own | traits)


MemoryTraits: Any = traits_of(MemoryOptions)
TimelineTraits: Any = traits_of(TimelineOptions)
TensorTraits: Any = traits_of(TensorOptions)
GraphTraits: Any = traits_of(GraphOptions)
DebuggerTraits: Any = traits_of(DebuggerOptions)


def described(view: Any) -> Any:
    """Append the options of a view to its docstring."""
    lines = [cleandoc(view.__doc__), "", "Attributes", "----------"]
    for name, trait in view.class_traits(sync=True).items():
        option = getattr(trait, "option", None)
        if option is not None:
            lines += [f"{name} : {option.python}", indent(fill(option.about, 92), "    ")]
    view.__doc__ = "\n".join(lines)
    return view


@public_class
class Guarded(anywidget.AnyWidget):
    """A widget that treats its page as hostile.

    A page may set only traits that users may set: no models, no code, nothing of the host's layout.
    The tag ``page`` overrides this per trait. Refused values are sent back as they are in Python.
    """

    #: Layout that this widget made, unless one was given.
    _own_layout: ipywidgets.Layout | None = None

    def __init_subclass__(cls, **given: Any) -> None:
        """Make errors of users short, also in constructors."""
        super().__init_subclass__(**given)
        public_class(cls, "__init__")

    def __setattr__(self, name: str, value: Any) -> None:
        """Set a trait; a name that looks like a misspelled trait is refused."""
        try:
            if not (name.startswith("_") or name in vars(self) or hasattr(type(self), name)):
                _require_no_trait_like(self, name)
            super().__setattr__(name, value)
        except Exception as problem:
            shorten(problem)
            raise

    @traitlets.default("layout")
    def _make_layout(self) -> ipywidgets.Layout:
        self._own_layout = ipywidgets.Layout()
        return self._own_layout

    def open(self) -> None:
        """Open the widget to pages, with its own layout if that was closed."""
        layout = self._own_layout
        if layout is not None and layout.comm is None:
            layout._model_id = None  # noqa: SLF001 (pages know the old id as closed)
            layout.open()
        super().open()

    def close(self) -> None:
        """Free the widget and its own layout in the kernel and in every page."""
        super().close()
        if self._own_layout is not None:
            self._own_layout.close()

    def set_state(self, sync_data: dict[str, Any]) -> None:
        """Apply the values that a page sets.

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
            # Example: an integer too large for a float.
            raise traitlets.TraitError(f"{', '.join(taken)}: {problem}") from problem
        finally:
            if refused:
                self.send_state(list(refused))

    def _is_open(self, name: str) -> bool:
        usual = not name.startswith("_") and name not in _OF_HOSTS
        return name in self.keys and bool(self.trait_metadata(name, "page", default=usual))


#: Resemblance of a name to a trait from which on it is a slip.
_ALMOST = 0.8


def _require_no_trait_like(widget: Guarded, name: str) -> None:
    known = [known for known in widget.trait_names() if not known.startswith("_")]
    if difflib.get_close_matches(name, known, 1, _ALMOST):
        raise no_attribute(type(widget).__name__, name, known)


_OF_HOSTS = frozenset(anywidget.AnyWidget.class_trait_names(sync=True))


class SharedModel(Guarded):
    """A widget without a view, open as long as one of its views is."""

    def __init__(self, **traits: Any) -> None:
        #: Ids of the views that are open.
        self._used_by: set[int] = set()
        super().__init__(**traits)

    def open(self) -> None:
        """Open the model if a view uses it."""
        if self._used_by:
            super().open()

    def use(self, view: UsesModels) -> None:
        """Stay open for a view, until :meth:`leave`."""
        self._used_by.add(id(view))
        self.open()

    def leave(self, view: UsesModels) -> None:
        """Close after the last view has left."""
        if id(view) in self._used_by:
            self._used_by.remove(id(view))
            if not self._used_by:
                self.close()

    def close(self) -> None:
        """Free the model in the kernel and in every page; another view opens it again."""
        super().close()
        self._model_id = None  # pages know the old id as closed

    @property
    def model_id(self) -> str:
        """Id for pages; reading it opens the model for good."""
        if self.comm is None:
            super().open()
        return str(self.comm.comm_id)


class ModelTrait(anywidget.WidgetTrait):
    """The model of another widget; pages find it by this trait and cannot change it."""

    allow_none = False

    def __init__(self) -> None:
        super().__init__()
        self.tag(sync=True, page=False)

    def validate(self, obj: Any, value: Any) -> Any:
        """Accept a shared model without reading its id, which would open it."""
        return value if isinstance(value, SharedModel) else super().validate(obj, value)


class UsesModels(Guarded):
    """A widget that keeps models open while it is open."""

    def open(self) -> None:
        """Open the models, then the widget that refers to them."""
        for model in self._models():
            model.use(self)
        super().open()

    def close(self) -> None:
        """Free the widget, and models without other users."""
        super().close()
        for model in self._models():
            model.leave(self)

    def notify_change(self, change: Any) -> None:
        """Switch from one model to another."""
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
        names = [name for name, trait in self.traits().items() if isinstance(trait, ModelTrait)]
        models = (self._trait_values.get(name) for name in names)
        return [model for model in models if isinstance(model, SharedModel)]


class OptionalModelTrait(ModelTrait):
    """The model of another widget, or None."""

    allow_none = True
