"""show, html, demo, findings: what is made of a run, by the verbs that make it."""

import json
import sys
from pathlib import Path

import pytest
from cli.start import Run, refused

from tvmdbg_widgets import samples

OVERFLOW = samples.resnet20_cifar_fp16_overflow


def test_html_is_one_file_within_its_budget(tvmdbg: Run, tmp_path: Path) -> None:
    path = tmp_path / "run page.html"
    options = ["--share", "statistics", "--budget", "2MB", "--theme", "dark", "--view", "tensor"]
    done = tvmdbg("html", OVERFLOW, "-o", path, "--node", "38", *options)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{path}\n"
    assert path.read_bytes()[:15].lower() == b"<!doctype html>"
    assert path.stat().st_size <= 2_000_000
    assert f"{path.stat().st_size:,} bytes" in done.stderr


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--budget", "much"], "is not a size"),
        (["--node", "900"], "no node 900"),
        (["--node", "relus"], "no node is named 'relus'"),
        (["--share", "all"], "Invalid value for '--share'"),
    ],
)
def test_html_refuses_invalid_options(
    options: list[str], told: str, tvmdbg: Run, tmp_path: Path
) -> None:
    assert told in refused(tvmdbg("html", OVERFLOW, "-o", tmp_path / "x.html", *options))
    assert list(tmp_path.iterdir()) == []


def test_html_output_must_be_a_file_in_an_existing_folder(tvmdbg: Run, tmp_path: Path) -> None:
    assert tvmdbg("html", OVERFLOW, "-o", tmp_path).returncode == 2
    assert "no such folder" in refused(tvmdbg("html", OVERFLOW, "-o", tmp_path / "no/such/x.html"))


@pytest.mark.parametrize(
    "arguments", [["show", str(OVERFLOW)], ["demo"], ["demo", "--fault"], ["demo", "--executorch"]]
)
def test_a_page_in_a_temporary_file(arguments: list[str], tvmdbg: Run, tmp_path: Path) -> None:
    env = {"TMPDIR": str(tmp_path), "TEMP": str(tmp_path), "TMP": str(tmp_path)}
    done = tvmdbg(*arguments, "--no-browser", env=env)
    assert done.returncode == 0, done.stderr
    path = Path(done.stdout.strip())
    assert path.is_relative_to(tmp_path)
    assert path.read_bytes()[:15].lower() == b"<!doctype html>"


@pytest.mark.skipif(sys.platform == "win32", reason="the browser here is a shell script")
def test_show_opens_the_page_in_the_browser(tvmdbg_process: Run, tmp_path: Path) -> None:
    browser, opened = tmp_path / "browser", tmp_path / "opened"
    browser.write_text(f'#!/bin/sh\necho "$1" > "{opened}"\n')
    browser.chmod(0o755)
    done = tvmdbg_process("show", OVERFLOW, env={"BROWSER": f"{browser} %s"})
    assert done.returncode == 0, done.stderr
    assert opened.read_text().strip() == Path(done.stdout.strip()).as_uri()


def test_demo_prints_the_path_of_its_dump(tvmdbg: Run) -> None:
    done = tvmdbg("demo", "--path")
    assert Path(done.stdout.strip()) == samples.resnet20_cifar
    assert tvmdbg("summary", done.stdout.strip()).returncode == 0


def test_findings_of_an_overflow(tvmdbg: Run) -> None:
    done = tvmdbg("findings", OVERFLOW, "--json", "--fail-on", "error")
    assert done.returncode == 1
    told = json.loads(done.stdout)
    assert told["complete"] is True
    # The collection's README: node 38 overflows to inf (59 values).
    fault = next(each for each in told["findings"] if each["severity"] == "error")
    assert fault["nodes"][0] == 38
    assert any("59 +Inf" in fact for fact in fault["evidence"])
    text = tvmdbg("findings", OVERFLOW)
    assert text.returncode == 0
    assert "First Inf in #38" in text.stdout
    assert text.stderr == ""


@pytest.mark.parametrize(
    ("word", "status"), [("error", 0), ("warning", 0), ("hotspot", 1), ("info", 1)]
)
def test_severity_sets_the_exit_status(word: str, status: int, tvmdbg: Run) -> None:
    told = tvmdbg("findings", samples.resnet20_cifar, "--json", "--fail-on", word)
    assert (told.returncode, told.stderr) == (status, "")


@pytest.mark.parametrize("wrong", ["sometimes", "fault"])
def test_unknown_severities_are_refused(wrong: str, tvmdbg: Run) -> None:
    assert "error, warning" in refused(
        tvmdbg("findings", samples.resnet20_cifar, "--fail-on", wrong)
    )


def test_findings_of_a_sound_run_do_not_fail(tvmdbg: Run) -> None:
    done = tvmdbg("findings", samples.resnet20_cifar, "--fail-on", "error", "--json")
    assert done.returncode == 0, done.stdout
    assert not [each for each in json.loads(done.stdout)["findings"] if each["severity"] == "error"]
