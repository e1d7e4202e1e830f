# ruff: noqa: ANN201, PTH118
# mypy: ignore-errors
"""What one Python environment has, printed as one line of JSON.

The file's text is handed to other interpreters (``python -c``), which may be older than this one:
nothing newer than Python 3.6 may stand here, and nothing but the standard library.
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
    """Versions of the packages, None where one is missing."""
    try:
        from importlib import metadata
    except ImportError:  # Python 3.7 and older, which is too old anyway
        return {}
    found = {}
    for name in PACKAGES.split():
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = None
    if found["tvmdbg-widgets"] is None:  # a checkout on the path
        from importlib.util import find_spec

        found["tvmdbg-widgets"] = "a checkout" if find_spec("tvmdbg_widgets") else None
    return found


def extensions():
    """Front-end extensions that a server of this environment would serve."""
    try:
        from jupyter_core.paths import jupyter_path

        roots = jupyter_path("labextensions")
    except ImportError:
        roots = [os.path.join(sys.prefix, "share", "jupyter", "labextensions")]
    found = []
    for name in ("@jupyter-widgets/jupyterlab-manager", "anywidget"):
        paths = [os.path.join(root, *name.split("/"), "package.json") for root in roots]
        found += [name] if any(map(os.path.exists, paths)) else []
    return found


def kernels():
    """Kernels that a server of this environment offers, None where it has no such thing."""
    try:
        from jupyter_client.kernelspec import KernelSpecManager
    except ImportError:
        return None
    found = KernelSpecManager().get_all_specs()
    return {name: each["spec"] for name, each in found.items()}


# A notebook's kernel does not import from the folder that this command was given in.
sys.path[:] = [each for each in sys.path if each]
FOUND = {
    "python": platform.python_version(),
    "executable": sys.executable,
    "packages": versions(),
    "extensions": extensions(),
    "kernels": kernels(),
}
print("tvmdbg-doctor:" + json.dumps(FOUND))
