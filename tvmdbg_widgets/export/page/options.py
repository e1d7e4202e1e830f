"""What a page may be asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from tvmdbg_widgets.model.base.choice import one_of

Share: TypeAlias = Literal["statistics", "pictures", "tensors"]
Theme: TypeAlias = Literal["auto", "light", "dark"]


@dataclass(frozen=True, kw_only=True)
class Options:
    """How a page is made.

    Attributes
    ----------
    budget : int
        Bytes that the whole file should not exceed.
    share : str
        What of the activations' values goes along: ``"statistics"`` alone, reduced
        ``"pictures"``, or whole ``"tensors"`` as far as the budget reaches.
    parameters : bool
        Whether values of parameters go along.
    title : str or None
        The run's where None.
    theme : str
        ``"auto"`` (as the system), ``"light"`` or ``"dark"``.
    node : int, str or None
        Node that is selected first, by id or name; None keeps the session's selection.
    view : str or None
        View inside the debugger that the reader starts in.

    Raises
    ------
    ValueError
        For a value out of range.
    """

    budget: int
    share: Share = "pictures"
    parameters: bool = False
    title: str | None = None
    theme: Theme = "auto"
    node: int | str | None = None
    view: str | None = None

    def __post_init__(self) -> None:
        for name, choices in (("share", get_args(Share)), ("theme", get_args(Theme))):
            one_of(name, getattr(self, name), choices)
        if self.budget <= 0:
            raise ValueError(f"budget must be a number of bytes above 0, found {self.budget}")
