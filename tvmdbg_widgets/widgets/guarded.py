"""What a page may set of a widget."""

from __future__ import annotations

from typing import Any

import anywidget
import traitlets


class ModelTrait(anywidget.WidgetTrait):
    """The model of another widget, which pages find by it and cannot change; None only at first."""

    allow_none = False

    def __init__(self) -> None:
        super().__init__()
        self.tag(sync=True, page=False)


class Guarded(anywidget.AnyWidget):
    """A widget whose page is taken for hostile.

    A page sets the traits that a user may set there, nothing else: not what names a view's models,
    not the code that it runs, nor what the host lays it out by. The tag ``page`` says otherwise of
    a trait. What is refused is sent back as it is here.
    """

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
