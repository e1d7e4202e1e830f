"""What a figure may show where it is handed on to others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from tvmdbg_widgets.model.tensors.tensors import Tensor
from tvmdbg_widgets.model.verdicts.findings import Findings

#: Why a tensor's values are not shown (empty: they are), and whether only counts of them are.
Redact: TypeAlias = "Callable[[Tensor], tuple[str, bool]]"


@dataclass(frozen=True)
class Redaction:
    """What a view's figure shows instead of what its owner may see."""

    redact: Redact
    findings: Findings | None = None
    selected: tuple[int, ...] = ()
    entry: tuple[int, int] | None = None
