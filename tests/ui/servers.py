"""Jupyter servers for the tests, each with folders of its own."""

import contextlib
import json
import os
import secrets
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from typing import Literal

START_SECONDS = 300.0  # measured 13 to 45 s on two busy cores
STOP_SECONDS = 60.0
ANSWER_SECONDS = 20.0


@dataclass(frozen=True)
class Server:
    """A running Jupyter server."""

    app: Literal["lab", "notebook"]
    address: str  # ends with a slash
    token: str
    folder: Path  # what it serves

    def page(self, notebook: str) -> str:
        """Address of one notebook of :attr:`folder`, alone on its page."""
        view = "doc/tree" if self.app == "lab" else "notebooks"
        return f"{self.address}{view}/{notebook}?token={self.token}"

    def end_kernel(self, kernel: str) -> None:
        """End one of its kernels and wait for that."""
        asked = urllib.request.Request(  # noqa: S310
            f"{self.address}api/kernels/{kernel}",
            headers={"Authorization": f"token {self.token}"},
            method="DELETE",
        )
        urllib.request.urlopen(asked, timeout=START_SECONDS).close()  # noqa: S310


@contextlib.contextmanager
def jupyter(app: Literal["lab", "notebook"], home: Path) -> Iterator[Server]:
    """Start JupyterLab or Notebook 7 on a free port."""
    folder, config, runtime = home / "notebooks", home / "config", home / "runtime"
    for each in (folder, config / "labconfig", runtime):
        each.mkdir(parents=True)
    news = {"disabledExtensions": {"@jupyterlab/apputils-extension:announcements": True}}
    (config / "labconfig" / "page_config.json").write_text(json.dumps(news), "utf-8")
    token = secrets.token_hex(16)
    exposed = "LabApp" if app == "lab" else "JupyterNotebookApp"
    module = "jupyterlab" if app == "lab" else "notebook"
    command = [
        *(sys.executable, "-m", module, "--no-browser", "--allow-root"),
        "--ServerApp.ip=127.0.0.1",
        "--ServerApp.port=0",
        f"--ServerApp.root_dir={folder}",
        f"--IdentityProvider.token={token}",
        f"--{exposed}.expose_app_in_browser=True",
        "--LabApp.news_url=None",
    ]
    log = home / "server.log"
    with log.open("wb") as stream:
        server = subprocess.Popen(
            command,
            env=os.environ | _private(home),
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        yield Server(app, _address(server, runtime, log), token, folder)
    finally:
        _stop(server)


def _private(home: Path) -> Mapping[str, str]:
    """Variables that keep the user's own Jupyter out, and the tests out of it."""
    return {
        "JUPYTER_CONFIG_DIR": str(home / "config"),
        "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
        "JUPYTER_DATA_DIR": str(home / "data"),
        "IPYTHONDIR": str(home / "ipython"),
        "JUPYTERLAB_SETTINGS_DIR": str(home / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(home / "workspaces"),
    }


def _address(server: subprocess.Popen[bytes], runtime: Path, log: Path) -> str:
    end = time.monotonic() + START_SECONDS
    info = runtime / f"jpserver-{server.pid}.json"
    while time.monotonic() < end and server.poll() is None:
        # The file appears before it is filled, and the port before it answers.
        with contextlib.suppress(OSError, HTTPException, ValueError, KeyError):
            address = str(json.loads(info.read_text("utf-8"))["url"])
            with urllib.request.urlopen(f"{address}api", timeout=ANSWER_SECONDS):  # noqa: S310
                return address
        time.sleep(0.1)
    state = "stayed silent" if server.poll() is None else f"ended with {server.returncode}"
    raise RuntimeError(f"the Jupyter server {state}:\n{log.read_text('utf-8', 'replace')}")


def _stop(server: subprocess.Popen[bytes]) -> None:
    """End the server, which ends its kernels."""
    if server.poll() is not None:
        return
    os.killpg(server.pid, signal.SIGTERM)
    try:
        server.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(server.pid, signal.SIGKILL)
        server.wait()
