"""What runs of ExecuTorch say of parts that they lack: how ExecuTorch writes them."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

import tvmdbg_widgets as tvmdbg
from tests.executorch_cases import case_dir
from tvmdbg_widgets.analysis.timeline.longest_path import critical_path_of
from tvmdbg_widgets.analysis.timeline.repeat_matrix import repeat_matrix, why_no_repeats
from tvmdbg_widgets.analysis.work import work_of
from tvmdbg_widgets.model.parts import RunParts


def dump_alone() -> RunParts:
    return tvmdbg.open(case_dir("05_multirun") / "etdump.etdp").parts


def record_alone() -> RunParts:
    return tvmdbg.open(case_dir("05_multirun") / "etrecord.bin").parts


def all_delegated() -> RunParts:
    return tvmdbg.open(case_dir("03d_xnnpack_two_outputs")).parts


@pytest.mark.parametrize(
    ("ask", "make", "said"),
    [
        (critical_path_of, dump_alone, "open(…, 'etrecord.bin') or open(…, 'model.pte')"),
        (critical_path_of, record_alone, "open(…, 'etdump.etdp')"),
        (critical_path_of, all_delegated, "what delegates ran was timed as a whole"),
        (work_of, dump_alone, "open(…, 'etrecord.bin') or open(…, 'model.pte')"),
        (repeat_matrix, record_alone, "open(…, 'etdump.etdp')"),
    ],
)
def test_missing_part_explains_how_to_get_it(
    ask: Callable[[RunParts], object], make: Callable[[], RunParts], said: str
) -> None:
    with pytest.raises(ValueError, match=re.escape(said)):
        ask(make())


def test_one_execution_has_no_repeats() -> None:
    run = tvmdbg.open(case_dir("01_mlp_portable"))
    assert "execute the method several times with one event tracer" in why_no_repeats(run.parts)
