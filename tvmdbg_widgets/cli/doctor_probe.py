# ruff: noqa: ANN201, PTH118
# mypy: ignore-errors
"""Facts of one Python environment, printed as one line of JSON.

Other, possibly older interpreters run this text (``python -c``): it needs Python 3.6 and the
standard library only.
"""

import json
import os
import platform
import sys

PACKAGES = (
    "tvmdbg-widgets anywidget ipywidgets ipykernel numpy jupyterlab notebook jupyter-server "
    "jupyterlab-widgets widgetsnbextension voila marimo pandas resvg-py dpkt fsspec aiohttp"
)


def versions():
    """Return the versions of the packages, None if missing."""
    try:
        from importlib import metadata
    except ImportError:  # Python 3.7 and older, which is too old anyway
        return {}
    numbers = {}
    for name in PACKAGES.split():
        try:
            numbers[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            numbers[name] = None
    if numbers["tvmdbg-widgets"] is None:  # a checkout on the path
        from importlib.util import find_spec

        numbers["tvmdbg-widgets"] = "a checkout" if find_spec("tvmdbg_widgets") else None
    return numbers


def extensions():
    """Return the front-end extensions that a server of this environment would serve."""
    try:
        from jupyter_core.paths import jupyter_path

        roots = jupyter_path("labextensions")
    except ImportError:
        roots = [os.path.join(sys.prefix, "share", "jupyter", "labextensions")]
    present = []
    for name in ("@jupyter-widgets/jupyterlab-manager", "anywidget"):
        paths = [os.path.join(root, *name.split("/"), "package.json") for root in roots]
        present += [name] if any(map(os.path.exists, paths)) else []
    return present


def kernels():
    """Return the kernels that a server of this environment offers, None without a server."""
    try:
        from jupyter_client.kernelspec import KernelSpecManager
    except ImportError:
        return None
    return {name: kernel["spec"] for name, kernel in KernelSpecManager().get_all_specs().items()}


# A notebook's kernel does not import from the current folder of this command.
sys.path[:] = [folder for folder in sys.path if folder]
FOUND = {
    "python": platform.python_version(),
    "executable": sys.executable,
    "packages": versions(),
    "extensions": extensions(),
    "kernels": kernels(),
}
print("tvmdbg-doctor:" + json.dumps(FOUND))
