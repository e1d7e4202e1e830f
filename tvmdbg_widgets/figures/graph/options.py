"""How a figure shows the graph."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from tvmdbg_widgets.analysis.graph.node_columns import COLOR_NAMES
from tvmdbg_widgets.figures.choices import DIRECTIONS
from tvmdbg_widgets.model.base.choice import one_of
from tvmdbg_widgets.model.graph.node_columns import NodeColumn

Direction = Literal["down", "right"]


@dataclass(frozen=True)
class GraphFigureOptions:
    """How the graph is shown; as of ``GraphView``. ``selected`` are node ids."""

    color_by: str | NodeColumn = "kind"
    fold_parameters: bool = True
    direction: Direction = "down"
    focus: int | str | None = None
    hops: int | None = None
    search: str = ""
    selected: tuple[int, ...] = field(default=())
    isolate: dict[str, Any] | None = None
    hidden: tuple[str, ...] = ()
    color_limits: tuple[float, float] | None = None
    label: str = ""
    open_groups: tuple[int, ...] | None = None
    grouped: bool = True
    whole: bool = False

    def __post_init__(self) -> None:
        """Refuse what no graph can be shown with."""
        if isinstance(self.color_by, str):
            one_of("color_by", self.color_by, COLOR_NAMES)
        one_of("direction", self.direction, DIRECTIONS)
        if self.hops is not None and self.hops < 0:
            raise ValueError(f"hops is 0 or more, found {self.hops}")
