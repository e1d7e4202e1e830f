"""What a page may be asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from tvmdbg_widgets.model.base.choice import one_of

Share: TypeAlias = Literal["statistics", "pictures", "tensors"]
Theme: TypeAlias = Literal["auto", "light", "dark"]


@dataclass(frozen=True, kw_only=True)
class PageOptions:
    """How a page is made."""

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
