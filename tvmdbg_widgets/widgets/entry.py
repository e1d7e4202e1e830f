"""The trait of an entry, as users name one."""

from __future__ import annotations

from typing import Any

import traitlets

from tvmdbg_widgets.model.join.entry_refs import entry_ref
from tvmdbg_widgets.widgets.trait_errors import as_trait_error


class EntryTrait(traitlets.Tuple):
    """An entry ``(node, output)`` or None; also set by a node alone, by name, or by a tensor."""

    def __init__(self) -> None:
        super().__init__(traitlets.Int(), traitlets.Int(), allow_none=True, default_value=None)

    def validate(self, obj: Any, value: Any) -> Any:
        """Take what the run of the widget has."""
        if value is None:
            return None
        run = getattr(obj, "shown", None)
        graph, tensors = (None, None) if run is None else (run.graph, run.tensors)
        with as_trait_error(str(self.name)):
            found = entry_ref(value, graph, tensors)
        return super().validate(obj, found)
