"""Cases of which a few are always tried, and all of them in ``make test-all``."""

from collections.abc import Iterable
from typing import Any

import pytest
from _pytest.mark import ParameterSet


def mostly_slow(cases: Iterable[Any], *always: Any) -> list[ParameterSet]:
    """All cases of a checklist; those that are not to be tried always are marked ``slow``."""
    known = list(cases)
    assert set(always) <= set(known)
    return [_case(each, always) for each in known]


def _case(case: Any, always: tuple[Any, ...]) -> ParameterSet:
    values = case if isinstance(case, tuple) else (case,)
    return pytest.param(*values, marks=() if case in always else pytest.mark.slow)
