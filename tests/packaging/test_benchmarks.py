"""Every script of benchmarks/ runs, at the smallest size at which it does all that it does."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPTS = sorted(
    ".".join(path.relative_to(ROOT).with_suffix("").parts)
    for path in (ROOT / "benchmarks").rglob("*.py")
    if '__name__ == "__main__"' in path.read_text("utf-8")
)


def test_scripts_are_found() -> None:
    assert "benchmarks.graph_view" in SCRIPTS
    assert len(SCRIPTS) >= 20


@pytest.mark.slow
@pytest.mark.parametrize("script", SCRIPTS)
def test_a_benchmark_runs(script: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", script],
        cwd=ROOT,
        env={**os.environ, "TVMDBG_SMALLEST": "1"},
        capture_output=True,
        text=True,
        timeout=1200,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    assert done.stdout
