"""A Chromium for the tests: `python tests/chromium.py` finds or installs one, prints its path."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

VARIABLES = ("TVMDBG_CHROMIUM", "CHROMIUM")
# Pages take a sixth less processor time in the one that is never seen: it has no windows to draw.
HEADLESS = ("chromium-headless-shell", "chrome-headless-shell")
WINDOWED = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
APPLICATIONS = (
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)
# Without them Chromium asks hosts outside for updates, a container's sandbox stops it, and an
# emulated GPU takes a tenth of its processor time.
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-gpu-compositing",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


class ChromiumNotFoundError(RuntimeError):
    """No Chromium, and none of the ways to install one worked."""


def find() -> str | None:
    """Path of a Chromium: the one a variable names, one on PATH, or Playwright's own."""
    for variable in VARIABLES:
        if named := os.environ.get(variable):
            if path := shutil.which(named):
                return path
            raise ChromiumNotFoundError(f"{variable}={named} is not a program")
    for name in (*HEADLESS, *WINDOWED, *APPLICATIONS):
        if path := shutil.which(name):
            return path
    return _of_playwright()


def find_or_install() -> str:
    """Path of a Chromium, installed with apt-get or by Playwright if there is none."""
    if path := find():
        return path
    for command in _installers():
        print("no Chromium here:", " ".join(command), file=sys.stderr, flush=True)
        try:
            subprocess.run(command, check=True, stdout=sys.stderr, stdin=subprocess.DEVNULL)
        except (OSError, subprocess.CalledProcessError) as problem:
            print(problem, file=sys.stderr)
        if path := find():
            return path
    raise ChromiumNotFoundError(
        "The tests of the views need Chromium or Chrome and could install neither. "
        "Install one and put it on PATH, or name it: TVMDBG_CHROMIUM=/path/to/chromium"
    )


def _of_playwright() -> str | None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if Path(path).exists() else None


def _installers() -> list[list[str]]:
    commands = []
    apt = shutil.which("apt-get")
    sudo = shutil.which("sudo")
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    if apt and (root or (sudo and _without_password(sudo))):
        prefix = [] if root else [str(sudo), "-n"]
        commands.append([*prefix, apt, "update", "-qq"])
        install = ["install", "-qq", "--yes", "--no-install-recommends"]
        quiet = [*prefix, "env", "DEBIAN_FRONTEND=noninteractive", apt, *install]
        commands.extend([*quiet, package] for package in ("chromium-headless-shell", "chromium"))
    commands.append([sys.executable, "-m", "playwright", "install", "chromium"])
    return commands


def _without_password(sudo: str) -> bool:
    return subprocess.run([sudo, "-n", "true"], check=False, capture_output=True).returncode == 0


if __name__ == "__main__":
    try:
        print(find_or_install())
    except ChromiumNotFoundError as problem:
        sys.exit(str(problem))
