"""What the rules say of runs of ExecuTorch beside their first sentence."""

import dataclasses
import re
from typing import Any

import pytest

import tvmdbg_widgets as tvmdbg
from tests.executorch_cases import CASES, case_dir
from tests.unit.executorch.delegates.finding_cases import TOLD, of_delegate, run_of
from tests.unit.findings.findings_dump import found
from tvmdbg_widgets.model.base.text import FormatError
from tvmdbg_widgets.run import DebugRun

#: Advice on TVM, which is no use here.
OF_TVM = re.compile(r"TVM|\brun\((?!\))|debugger|GraphModule|Relay|EliminateCommon|DeadCode")


@pytest.mark.parametrize("name", CASES)
def test_findings_do_not_mention_other_tools(name: str) -> None:
    try:
        run = tvmdbg.open(case_dir(name))
    except FormatError:
        return
    for each in run.findings(progress=False):
        said = " ".join((each.title, *each.evidence, each.why, each.next_step))
        assert not OF_TVM.search(said), said
    assert not OF_TVM.search(" ".join(map(str, run.check())))


KEYS = {"run", "rule", "of", "title", "why", "next_step", "severity", "confidence", "nodes"}


def check_text(text: str, told: str | list[str]) -> None:
    for part in [told] if isinstance(told, str) else told:
        assert part in f"^{text}$"


@pytest.mark.parametrize("told", TOLD["said"], ids=lambda each: f"{each['run']}-{each['rule']}")
def test_what_a_finding_says(told: dict[str, Any]) -> None:
    assert told.keys() <= {*KEYS, "evidence", "evidence_count"}
    findings = found(run_of(told["run"]), told["rule"])
    assert len(findings) == told.get("of", 1)
    first, evidence = findings[0], told.get("evidence", {})
    for name in ("title", "why", "next_step"):
        check_text(getattr(first, name), told.get(name, ""))
    own = {"severity": first.severity, "confidence": first.confidence, "nodes": [*first.nodes]}
    assert own == own | {name: value for name, value in told.items() if name in own}
    listed = isinstance(evidence, list)
    for at, part in enumerate(evidence) if listed else evidence.items():
        check_text(first.evidence[int(at)], part)
    count = len(evidence) if listed else told.get("evidence_count", len(first.evidence))
    assert len(first.evidence) == count


@pytest.mark.parametrize("run", TOLD["silent"])
def test_rules_stay_silent(run: str) -> None:
    for rule in TOLD["silent"][run]:
        assert not found(run_of(run), rule)


def test_unlogged_output_and_shares_of_one_time() -> None:
    titles = [each.title for each in found(run_of("silent_kernel"), "unlogged-values")]
    assert "No output of the program was logged" in titles
    timeline: Any = run_of("03b_mixed_xnnpack").timeline
    assert timeline.node_ns[7] / timeline.total_ns == pytest.approx(0.606, abs=5e-4)


def test_names_from_files_stay_on_one_line() -> None:
    parts: Any = of_delegate((10_110_000, 10_150_000)).parts
    files = parts.executorch
    named = dataclasses.replace(files.event_nodes, backends={(0, 0): "evil\nname" * 20})
    files = dataclasses.replace(files, event_nodes=named)
    evil = DebugRun(dataclasses.replace(parts, executorch=files))
    for each in evil.findings(progress=False):
        assert "\n" not in "".join((each.title, *each.evidence, each.why, each.next_step))
        assert len(each.title) < 200
