"""Data frames: pandas is optional and imported on first use."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any


def data_frame(columns: Mapping[str, Any]) -> Any:
    """Make a ``pandas.DataFrame`` of named columns."""
    try:
        pandas = importlib.import_module("pandas")
    except ImportError as error:
        raise ImportError(
            "to_dataframe() needs pandas, which is not installed: pip install pandas "
            "(the columns themselves are numpy arrays and need no pandas)"
        ) from error
    return pandas.DataFrame(dict(columns))
