"""Remedies are code that runs: the builder lines compile, the patch does what it says."""

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tvmdbg_widgets.analysis.findings.tuning.remedies import PATCH, fewer_builds, longer_builds

#: How TVM's sources, v0.7 to v0.19, count cores, and other spellings that Python has.
SOURCES = {
    "auto_scheduler/measure.py": '''"""Builders."""
import os
import multiprocessing
import logging


class LocalBuilder:
    """Uses cores.

    n_parallel : int = multiprocessing.cpu_count()
        How many at once.
    """

    def __init__(self, timeout=15, n_parallel=multiprocessing.cpu_count(), build_func="default"):
        self.n_parallel = n_parallel


found = LocalBuilder().n_parallel
''',
    "auto_scheduler/cost_model/xgb_model.py": """import multiprocessing
params = {"nthread": multiprocessing.cpu_count() // 2}
found = params["nthread"] * 2
""",
    "autotvm/measure/measure.py": """# pylint: disable=pointless-string-statement
import multiprocessing  # for the number of cores
from collections import namedtuple


def cores(n_parallel=None):
    return n_parallel or multiprocessing.cpu_count()


found = cores()
""",
    "contrib/popen_pool.py": """import os
max_workers = None
if max_workers is None:
    max_workers = os.cpu_count()
found = max_workers
""",
    "other/inside.py": """def cores():
    import multiprocessing as mp

    return mp.cpu_count()


found = cores()
""",
    "other/bare.py": """from multiprocessing import Pool, cpu_count

found = max(1, cpu_count())
""",
    "other/several lines.py": """from multiprocessing import (
    Pool,
    cpu_count,
)

found = cpu_count()
""",
    "meta_schedule/utils.py": """import os


def cpu_count(logical=True):
    return 77 if logical else 7


found = cpu_count(logical=True)
""",
    "other/own.py": """def cpu_count():
    return 5


found = 5
""",
    "other/text.py": """TEXT = "by default multiprocessing.cpu_count() builds run at once"
found = 3
""",
}
OWN = {"meta_schedule/utils.py": 77, "other/own.py": 5, "other/text.py": 3}
LINUX = pytest.mark.skipif(
    not (hasattr(os, "sched_getaffinity") and shutil.which("sed")), reason="Linux only"
)


def value(path: Path) -> int:
    told = subprocess.run(
        [
            sys.executable,
            "-c",
            "import runpy, sys; print(runpy.run_path(sys.argv[1])['found'])",
            path,
        ],
        capture_output=True,
        text=True,
        check=True,
        preexec_fn=lambda: os.sched_setaffinity(0, {min(os.sched_getaffinity(0))}),
    )
    return int(told.stdout)


def patch(root: Path) -> None:
    binaries = root / "bin"
    binaries.mkdir(exist_ok=True)
    python = binaries / "python3"
    python.write_text(f'#!/bin/sh\nPYTHONPATH="{root}" exec {sys.executable} "$@"\n')
    python.chmod(0o755)
    path = f"{binaries}:{os.environ['PATH']}"
    subprocess.run(["bash", "-ec", PATCH], check=True, env={**os.environ, "PATH": path})


@LINUX
def test_patched_sources_count_available_cores(tmp_path: Path) -> None:
    tvm = tmp_path / "tvm"
    for name, text in SOURCES.items():
        path = tvm / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (tvm / "__init__.py").write_text("")
    if (os.cpu_count() or 1) > 1:
        assert value(tvm / "contrib/popen_pool.py") > 1
    patch(tmp_path)
    once = {name: (tvm / name).read_text() for name in SOURCES}
    for name, text in once.items():
        ast.parse(text)
        expected = OWN.get(name, 0 if "xgb" in name else 1)  # half of one core is none
        assert value(tvm / name) == expected, name
    assert (tvm / "contrib/popen_pool.py.orig").read_text() == SOURCES["contrib/popen_pool.py"]
    assert once["meta_schedule/utils.py"] == SOURCES["meta_schedule/utils.py"]
    patch(tmp_path)
    assert {name: (tvm / name).read_text() for name in SOURCES} == once


@pytest.mark.parametrize("tuner", ["ansor", "autotvm"])
@pytest.mark.parametrize("timeout", [10.0, 15.0, 300.0, float("nan")])
def test_builder_lines_are_python(tuner: str, timeout: float) -> None:
    for told in (fewer_builds(tuner, timeout), longer_builds(tuner, timeout)):
        lines = told.split("\n")
        code = [each for each in lines if " = " in each or each.startswith(("import", "from"))]
        code = [each for each in code if not each.startswith(" ")]
        ast.parse("\n".join(code))
        assert sum("LocalBuilder(" in each for each in code) == 1


def test_fewer_builds_remedy_states_its_limits() -> None:
    told = fewer_builds("ansor", 15.0)
    for part in ("Linux only", "quotas of cgroups", "len(os.sched_getaffinity(0))"):
        assert part in told
    assert "one tuning at a time" in told.lower()
