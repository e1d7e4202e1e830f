# ruff: noqa: ANN201, PTH113, PTH118
# mypy: ignore-errors
"""What one Python environment has; runs inside that environment, with its standard library alone.

The file's text is handed to other interpreters (``python -c``), which may be older than this one:
nothing newer than Python 3.6 may stand here, and nothing of this package.
"""

import json
import os
import platform
import sys

PACKAGES = (
    "tvmdbg-widgets",
    "anywidget",
    "ipywidgets",
    "ipykernel",
    "numpy",
    "jupyterlab",
    "notebook",
    "jupyter-server",
    "jupyterlab-widgets",
    "widgetsnbextension",
    "voila",
    "marimo",
    "pandas",
    "resvg-py",
    "dpkt",
    "fsspec",
    "aiohttp",
)


def versions():
    """Versions of the packages above, None where one is missing."""
    try:
        from importlib import metadata
    except ImportError:  # Python 3.7 and older, which is too old anyway
        return {}
    found = {}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = None
    if found["tvmdbg-widgets"] is None:  # a checkout on the path
        from importlib.util import find_spec

        found["tvmdbg-widgets"] = "a checkout" if find_spec("tvmdbg_widgets") else None
    return found


def extensions():
    """Names of the front-end extensions that a server of this environment would serve."""
    roots = [os.path.join(sys.prefix, "share", "jupyter")]
    try:
        from jupyter_core.paths import jupyter_path

        roots = jupyter_path()
    except ImportError:
        pass
    found = []
    for root in roots:
        for name in ("anywidget", os.path.join("@jupyter-widgets", "jupyterlab-manager")):
            path = os.path.join(root, "labextensions", name, "package.json")
            if os.path.isfile(path):
                found.append(name.replace(os.sep, "/"))
    return sorted(set(found))


def kernels():
    """Kernels that a server of this environment offers, None where it has no such thing."""
    try:
        from jupyter_client.kernelspec import KernelSpecManager
    except ImportError:
        return None
    found = {}
    for name, each in KernelSpecManager().get_all_specs().items():
        spec = each["spec"]
        found[name] = {
            "argv": spec.get("argv", []),
            "env": spec.get("env", {}),
            "language": spec.get("language", ""),
            "title": spec.get("display_name", name),
        }
    return found


def main():
    """Print everything as one line of JSON."""
    # A notebook's kernel does not import from the folder that this command was given in.
    sys.path[:] = [each for each in sys.path if each]
    found = {
        "python": platform.python_version(),
        "executable": sys.executable,
        "prefix": sys.prefix,
        "packages": versions(),
        "extensions": extensions(),
        "kernels": kernels(),
    }
    print("tvmdbg-doctor:" + json.dumps(found))


main()
