"""Traits of views and sessions: an entry, a range of an axis; how they refuse a value."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

import traitlets

from tvmdbg_widgets.analysis.derived.derived import Derived
from tvmdbg_widgets.model.base.choice import meant, one_of
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.join.refs import entry_ref
from tvmdbg_widgets.model.tensors.tensors import Tensors


def named_in(run: Derived | None) -> tuple[Graph | None, Tensors | None]:
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
