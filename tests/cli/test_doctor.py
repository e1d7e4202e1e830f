"""doctor: what will not work, in environments made for it."""

import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cli.start import Run
from hatch_build import content_hash

from tvmdbg_widgets import samples
from tvmdbg_widgets.cli.doctor import NAMES, _tell_extras, bundle_problems, bundle_state
from tvmdbg_widgets.cli.doctor_environments import Environment, environments, problems

SOUND = {
    "tvmdbg-widgets": "0.1.0",
    "anywidget": "0.11.0",
    "ipywidgets": "8.1.9",
    "numpy": "2.4.0",
    "jupyterlab": "4.6.6",
    "jupyter-server": "2.21.1",
}
SERVED = ["@jupyter-widgets/jupyterlab-manager", "anywidget"]


def _environment(role: str, name: str, **changes: Any) -> Environment:
    packages = {**SOUND, **changes.pop("packages", {})}
    facts = {
        "python": "3.12.1",
        "executable": f"/env/{name}/python",
        "packages": packages,
        "extensions": SERVED,
        **changes,
    }
    return Environment(role, name, facts=facts)


def _kernel(package: str, version: str | None) -> Environment:
    return _environment("kernel", "k", packages={package: version})


HERE = _environment("here", "this environment")
KERNEL = _environment("kernel", "python3")


def test_sound_installation_has_no_problems() -> None:
    assert problems([HERE, KERNEL]) == []


@pytest.mark.parametrize(
    ("found", "where", "what", "fatal"),
    [
        (
            [_environment("here", "h", extensions=["anywidget"]), KERNEL],
            "server",
            "the widget manager (jupyterlab-widgets) is missing",
            True,
        ),
        (
            [_environment("here", "h", extensions=SERVED[:1]), KERNEL],
            "server",
            "anywidget's front end is missing where the server runs",
            True,
        ),
        ([HERE, _kernel("anywidget", None)], "kernel k", "anywidget is missing", True),
        (
            [HERE, _kernel("anywidget", "0.9.13")],
            "kernel k",
            "anywidget 0.9.13 is incompatible (anywidget>=0.11,<0.12)",
            True,
        ),
        (
            [HERE, _kernel("ipywidgets", "7.8.5")],
            "kernel k",
            "ipywidgets 7.8.5 is incompatible",
            True,
        ),
        (
            [HERE, _kernel("tvmdbg-widgets", None)],
            "kernel k",
            "tvmdbg-widgets is not installed where this kernel runs",
            True,
        ),
        (
            [HERE, KERNEL, _kernel("tvmdbg-widgets", None)],
            "kernel k",
            "tvmdbg-widgets is not installed where this kernel runs",
            False,  # another kernel has it
        ),
        ([HERE, _environment("kernel", "k", python="3.9.2")], "kernel k", "3.9.2 is too old", True),
        ([HERE], "this environment", "no Python kernel that starts", True),
        (
            [_environment("here", "h", packages={"jupyter-server": None, "jupyterlab": None})],
            "server",
            "no Jupyter server here or on the path",
            False,
        ),
    ],
)
def test_problem_names_its_environment_and_remedy(
    found: list[Environment], where: str, what: str, fatal: bool
) -> None:
    told = [each for each in problems(found) if what in each.what]
    assert [(each.where, each.fatal) for each in told] == [(where, fatal)]
    assert all(each.effect and each.remedy for each in told)


def test_version_mismatch_of_server_and_kernel_is_reported() -> None:
    here = _environment("here", "h", packages={"jupyter-server": None, "jupyterlab": None})
    server = _environment("server", "s", packages={"anywidget": "0.10.2"})
    told = [each.what for each in problems([here, server, KERNEL])]
    assert "anywidget is 0.11.0 in the kernel and 0.10.2 where the server runs" in told


def test_bundles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    static = tmp_path / "tvmdbg_widgets/static"
    static.mkdir(parents=True)
    assert bundle_state(static)[0] == "missing"
    assert bundle_problems(*bundle_state(static))
    for name in NAMES:
        (static / f"{name}.js").write_text("")
    assert bundle_state(static) == ("missing", "hash.json")
    (static / "hash.json").write_text('{"sha256": "abc"}')
    assert bundle_state(static) == ("current", "abc")
    (tmp_path / "js/src").mkdir(parents=True)
    source = os.path.join(os.path.dirname(__file__), "../../js/hatch_build.py")  # noqa: PTH118, PTH120
    shutil.copy(source, tmp_path / "js")
    for name in ("hatchling", "hatchling.builders.hooks.plugin.interface"):
        monkeypatch.setitem(sys.modules, name, None)  # they are compared without it
    assert bundle_state(static)[0] == "stale"
    assert bundle_problems(*bundle_state(static))
    (static / "hash.json").write_text(json.dumps({"sha256": content_hash(tmp_path)}))
    assert bundle_state(static) == ("current", content_hash(tmp_path))


@pytest.fixture
def kernels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Add kernels to those that Jupyter knows."""

    def add(name: str, argv: list[str], language: str = "python") -> None:
        folder = tmp_path / "jupyter/kernels" / name
        folder.mkdir(parents=True)
        spec = {"argv": argv, "language": language, "display_name": f"Kernel {name}"}
        (folder / "kernel.json").write_text(json.dumps(spec))

    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "jupyter"))
    return add


def test_kernels_report_their_own_environment_or_problem(kernels: Callable[..., None]) -> None:
    pytest.importorskip("jupyter_client")
    kernels("gone", ["/no/such/python", "-m", "ipykernel_launcher"])
    kernels("failing", ["/bin/sh", "-m", "ipykernel_launcher"])
    kernels("own", [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"])
    kernels("bare", ["python", "-m", "ipykernel_launcher"])
    kernels("julia", ["julia", "-i"], language="julia")
    found = {each.name: each for each in environments(timeout=60) if each.role == "kernel"}
    assert "does not start" in found["gone"].problem
    assert "failed" in found["failing"].problem
    assert "for julia" in found["julia"].problem
    for name in ("own", "bare"):  # jupyter_client starts `python` with the server's own
        assert found[name].executable == sys.executable
        assert found[name].version("anywidget")


def test_unresponsive_kernel_times_out(kernels: Callable[..., None]) -> None:
    pytest.importorskip("jupyter_client")
    kernels("stuck", ["/bin/sh", "-c", "exec sleep 60", "-m", "ipykernel_launcher"])
    told = {each.name: each.problem for each in environments(timeout=5)}
    assert "did not answer within 5 s" in told.get("stuck", told["this environment"])


def test_doctor_reports_environments_and_dump(tvmdbg: Run, tmp_path: Path) -> None:
    done = tvmdbg("doctor", samples.resnet20_cifar, "--json")
    told = json.loads(done.stdout)
    assert done.returncode == (0 if told["ok"] else 1)
    here = told["environments"][0]
    assert (here["role"], here["executable"]) == ("here", sys.executable)
    assert here["packages"]["anywidget"]
    assert not [each for each in told["problems"] if each["where"] == "dump"]
    assert "resnet20_cifar: opens without errors" in told["dump"]
    text = tvmdbg("doctor", tmp_path)
    assert text.returncode == 1
    assert "nothing of a run was found here" in " ".join(text.stdout.split())
    assert "This environment" in text.stdout


def test_dump_is_reported_as_sound_or_missing(tvmdbg: Run, tmp_path: Path) -> None:
    sound = " ".join(tvmdbg("doctor", samples.resnet20_cifar).stdout.split())
    assert "Dump " in sound
    assert "resnet20_cifar: opens without errors" in sound
    missing = tmp_path / "nope"
    log = " ".join(tvmdbg("doctor", samples.ansor_starved).stdout.split())
    assert "is a tuning log, not a run" in log
    told = " ".join(tvmdbg("doctor", missing).stdout.split())
    said = " ".join(tvmdbg("summary", missing).stderr.split())
    assert said == f"error: {missing}: no such file or folder"
    assert said.removeprefix("error: ") in told
    assert "Errno" not in told
    assert "Dump " not in told


def test_missing_extras_list_their_install_commands(capsys: pytest.CaptureFixture[str]) -> None:
    _tell_extras(_environment("here", "h", packages={"pandas": "2.3.0"}))
    told = " ".join(capsys.readouterr().out.split())
    assert "no figures as PNG (figure.save('x.png')); pip install 'tvmdbg-widgets[png]'" in told
    assert "pip install 'tvmdbg-widgets[remote]'" in told
    assert "pip install pandas" not in told


def test_report_does_not_contain_the_home_folder(
    tvmdbg: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = os.path.dirname(os.path.dirname(sys.executable))  # noqa: PTH120
    monkeypatch.setenv("HOME", home)
    for arguments in (["--json"], []):
        done = tvmdbg("doctor", *arguments)
        assert f"~{os.sep}" in done.stdout
        assert home + os.sep not in done.stdout
        assert "no the" not in done.stdout
