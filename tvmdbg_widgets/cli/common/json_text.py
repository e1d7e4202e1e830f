"""JSON for other programs: standard numbers only, plain ASCII."""

from __future__ import annotations

import json
import math
from typing import Any


def print_json(value: Any) -> None:
    """Write a value as JSON; NaN and infinities, which JSON has not, are null."""
    print(json.dumps(_standard(value), indent=2, allow_nan=False))


def _standard(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _standard(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_standard(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
