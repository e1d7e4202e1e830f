"""What the colors and labels of a graph show: the trait that is called, and its kin."""

from __future__ import annotations

from typing import Any, Self

import traitlets

from tvmdbg_widgets.model.graph.label_template import checked_template
from tvmdbg_widgets.model.graph.node_columns import NodeColumn, checked_range
from tvmdbg_widgets.widgets.color_columns import ColorColumns
from tvmdbg_widgets.widgets.shown_run import ShownRun
from tvmdbg_widgets.widgets.traits import as_trait_error


class ColorName(str):
    """The name of what the colors show; called, it shows something else.

    ::

        view.color_by("dtype")
        view.color_by(psnr, name="PSNR", unit="dB")
        view.color_by({"conv2d": 0.1, 12: 0.4})
        view.color_by("error", reference=other_run, measure="ulp")
    """

    __slots__ = ("_columns", "_view")

    _view: GraphColors
    _columns: ColorColumns

    def __new__(cls, name: str, view: GraphColors, columns: ColorColumns) -> Self:
        """Bind a name to its view, and to the columns of that."""
        made = super().__new__(cls, name)
        made._view, made._columns = view, columns
        return made

    def __call__(self, what: Any, **how: Any) -> None:
        """Show something else as color.

        Parameters
        ----------
        what : str, array_like, mapping or callable
            ``"kind"``, ``"time"``, ``"health"``, ``"dtype"``, ``"device"``, ``"storage"``,
            ``"layout"``, ``"bytes"``, ``"slack"``, ``"critical"``, ``"intensity"``, ``"flops"``,
            ``"error"``, the name of data given before, or data as of
            :func:`tvmdbg_widgets.model.graph.node_columns.node_column`. A callable is given each
            ``Node`` and returns a number, a text or None.
        **how
            Of data: ``name``, ``unit``, ``scale``, ``range`` and ``together``. Of ``"error"``:
            ``reference`` and ``measure``, as of
            :class:`tvmdbg_widgets.analysis.output_errors.OutputErrors`. ``range`` may go with
            every name.

        Raises
        ------
        TypeError, ValueError, LookupError
            What cannot be shown; the message says why.
        """
        limits = checked_range(how.get("range"))
        self._view.color_by = self._columns.name_of(what, **how)
        self._view.color_limits = limits

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        """Leave the view behind."""
        return str, (str(self),)

    def stop(self) -> None:
        """Stop working out the colors; what is known stays."""
        self._view.set_trait("_color_paused", True)

    def go_on(self) -> None:
        """Go on with what was stopped."""
        self._view.set_trait("_color_paused", False)

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until the colors are worked out, or stopped; whether that is so."""
        return self._columns.wait(str(self), seconds)

    @property
    def column(self) -> str | NodeColumn:
        """What the colors show: a name, or the column where the run lacks it of itself."""
        return self._columns.column(str(self))

    def for_page(self) -> dict[str, Any]:
        """Return the columns that a page without a kernel is to carry."""
        return self._columns.for_page()


class ColorBy(traitlets.TraitType[Any, Any]):
    """A name that can be called, see :class:`ColorName`; data may be assigned, too."""

    default_value = "kind"
    info_text = "the name of a column, data for each node or entry, or a mapping of nodes to data"

    def validate(self, obj: Any, value: Any) -> ColorName:
        """Take a name, or keep data and take its name."""
        with as_trait_error("color_by"):
            columns = obj._columns  # noqa: SLF001 (the trait is one of that class)
            return ColorName(columns.name_of(value), obj, columns)


class GraphColors(traitlets.HasTraits):
    """Traits of what the colors and labels of a graph show; see ``GraphView``."""

    # A host may know how to send texts, and not what is derived from them.
    color_by = ColorBy().tag(sync=True, to_json=lambda name, _view: str(name))
    color_limits = traitlets.Any(None, allow_none=True).tag(sync=True)
    label = traitlets.Unicode("").tag(sync=True)
    #: Columns that the page does not have of itself, by name; None for what it can ask for.
    _color_columns = traitlets.Dict().tag(sync=True)
    _color_paused = traitlets.Bool(False).tag(sync=True, page=True)

    _debug_run: ShownRun  # the view's
    _begun = False

    def __init__(self, run: ShownRun, *args: Any, **traits: Any) -> None:
        self._columns = ColorColumns(run, self._send_columns)
        super().__init__(run, *args, **traits)
        self._begun = True

    @traitlets.default("color_by")
    def _by_kind(self) -> ColorName:
        return ColorName("kind", self, self._columns)

    @traitlets.default("_color_columns")
    def _on_demand(self) -> dict[str, Any]:
        return self._columns.wire

    @traitlets.validate("color_limits")
    def _two_numbers(self, proposal: Any) -> tuple[float, float] | None:
        with as_trait_error("color_limits"):
            return checked_range(proposal["value"])

    @traitlets.validate("label")
    def _known_fields(self, proposal: Any) -> str:
        with as_trait_error("label"):
            return checked_template(proposal["value"])

    @traitlets.validate("_color_columns")
    def _only_ours(self, _proposal: Any) -> dict[str, Any]:
        return self._columns.wire

    @traitlets.observe("color_by")
    def _recolored(self, change: Any) -> None:
        if self._begun and change["old"] != change["new"]:
            self.color_limits = None  # of what was shown before
        self._color_paused = False
        self._columns.begin(str(self.color_by))

    @traitlets.observe("label")
    def _labelled(self, _change: Any) -> None:
        if "{layout}" in self.label:
            self._columns.begin("layout")

    @traitlets.observe("_color_paused")
    def _paused(self, change: Any) -> None:
        if change["new"]:
            self._columns.stop(str(self.color_by))
        else:
            self._columns.begin(str(self.color_by), again=True)

    def _send_columns(self, wire: dict[str, Any]) -> None:
        self._color_columns = wire
