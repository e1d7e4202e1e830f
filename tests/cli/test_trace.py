"""trace: the times of a dump as a file that other programs open."""

import json
from pathlib import Path
from typing import Any

import pytest
from cli.start import Run, refused

from tvmdbg_widgets import samples

SAMPLE = samples.resnet20_cifar


def _slices(text: str) -> list[dict[str, Any]]:
    return [event for event in json.loads(text)["traceEvents"] if event["ph"] in "Xi"]


def test_dump_times_are_written_as_a_trace(tvmdbg: Run, tmp_path: Path) -> None:
    output = tmp_path / "trace.json"
    done = tvmdbg("trace", SAMPLE, "-o", output)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [str(output)]
    slices = _slices(output.read_text())
    own = next(SAMPLE.rglob("_tvmdbg_execution_trace.json"))
    events = json.loads(own.read_text())["traceEvents"]
    begins = [event for event in events if event["ph"] == "B"]
    assert sorted(each["name"] for each in slices) == sorted(each["name"] for each in begins)
    assert sum(float(each.get("dur", 0)) for each in slices) == pytest.approx(events[-1]["ts"])
    piped = tvmdbg("trace", SAMPLE, "-o", "-")
    assert _slices(piped.stdout) == slices
    assert tvmdbg("summary", output).returncode == 0


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((SAMPLE, "-o", "trace.txt"), "is no .json"),
        ((SAMPLE, "-o", "nowhere/trace.json"), "there is no such folder"),
        ((SAMPLE, "-o", "."), "is a folder"),
        ((SAMPLE / "_tvmdbg_device_CPU_0/_tvmdbg_graph_dump.json", "-o", "t.json"), "no times"),
    ],
)
def test_trace_that_cannot_be_written_is_refused_with_the_reason(
    arguments: tuple[Any, ...], told: str, tvmdbg: Run, tmp_path: Path
) -> None:
    assert told in refused(tvmdbg("trace", *arguments, cwd=tmp_path))
    assert not list(tmp_path.iterdir())


def test_a_trace_is_not_written_over_itself(tvmdbg: Run, tmp_path: Path) -> None:
    output = tmp_path / "trace.json"
    tvmdbg("trace", SAMPLE, "-o", output)
    before = output.read_bytes()
    assert "never overwritten" in refused(tvmdbg("trace", output, "-o", output))
    assert output.read_bytes() == before
