"""What a page may set of a widget."""

from __future__ import annotations

from typing import Any

import anywidget
import ipywidgets
import traitlets


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
