"""Data frames: pandas is optional and imported on first use."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


def data_frame(columns: Mapping[str, Any]) -> Any:
    """Make a ``pandas.DataFrame`` of named columns.

    Parameters
    ----------
    columns : mapping of str to array-like
        Columns of one length, in order.

    Returns
    -------
    pandas.DataFrame

    Raises
    ------
    ImportError
        pandas is not installed; the message says how to get it.
    """
    try:
        pandas = importlib.import_module("pandas")
    except ImportError as error:
        raise ImportError(
            "to_dataframe() needs pandas, which is not installed: pip install pandas "
            "(the columns themselves are numpy arrays and need no pandas)"
        ) from error
    return pandas.DataFrame(dict(columns))
