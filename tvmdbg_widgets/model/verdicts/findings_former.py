"""Former words for severity and confidence; whoever still uses them is warned."""

from __future__ import annotations

import enum
import warnings
from typing import Final


class Kind(enum.StrEnum):
    """Deprecated: the former words for ``Severity``."""

    FAULT = "fault"
    DOUBT = "doubt"
    COST = "cost"
    NOTE = "note"


class Certainty(enum.StrEnum):
    """Deprecated: the former words for ``Confidence``."""

    CERTAIN = "certain"
    LIKELY = "likely"
    POSSIBLE = "possible"


#: By severity and by confidence.
KINDS: Final = dict(zip(("error", "warning", "hotspot", "info"), Kind, strict=True))
CERTAINTIES: Final = dict(zip(("high", "medium", "low"), Certainty, strict=True))


def warn(name: str, better: str) -> None:
    """Warn the caller's caller that a name is deprecated."""
    warnings.warn(f"{name} is deprecated: use {better}", DeprecationWarning, stacklevel=3)
