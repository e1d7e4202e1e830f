"""``tvmdbg doctor``: problems of this installation and their causes."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Annotated, Any

import typer

from tvmdbg_widgets.cli.common.dump import NamedRun, print_json
from tvmdbg_widgets.cli.common.terminal import for_shell, note, paragraph, say, styled
from tvmdbg_widgets.cli.common.verbs import (
    FOUND,
    UsageError,
    argument,
    examples,
    flag,
    in_words,
    option,
    verb,
)
from tvmdbg_widgets.cli.doctor_environments import Environment, Problem, environments, problems
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.text import FormatError

EXAMPLES = examples(
    ("Why does the view stay empty?", "tvmdbg doctor"),
    ("Is it the installation or the files?", "tvmdbg doctor /tmp/tvmdbg"),
    ("To attach to an issue", "tvmdbg doctor --json > doctor.json"),
)
STATIC = Path(__file__).parents[1] / "static"
NAMES = ("loader", "run", "session", "graph", "tensor", "timeline", "memory", "debugger", "page")
_ALWAYS = ("tvmdbg-widgets", "anywidget", "ipywidgets", "numpy")
_PACKAGES = (*_ALWAYS, "jupyterlab", "notebook")
#: Purpose of an optional package, and what to install.
_EXTRAS = {
    "pandas": ("tables as data frames (to_dataframe)", "pandas"),
    "resvg-py": ("figures as PNG (figure.save('x.png'))", "'tvmdbg-widgets[png]'"),
    "dpkt": ("network captures of RPC sessions", "'tvmdbg-widgets[rpc]'"),
    "fsspec": ("dumps by URL", "'tvmdbg-widgets[remote]'"),
    "aiohttp": ("dumps by http(s) URL", "'tvmdbg-widgets[remote]'"),
    "jupyterlab": ("linked views in a notebook", "'tvmdbg-widgets[lab]'"),
}


@verb
def doctor(
    dump: Annotated[
        list[str] | None, argument("[DUMP]...", "A dump to check as well.", show_default=False)
    ] = None,
    *,
    timeout: Annotated[float, option("SECONDS", "Timeout per kernel.", min=0.1)] = 20.0,
    as_json: Annotated[bool, flag("Write JSON.", "--json")] = False,
) -> None:
    """Check what works: versions here, where Jupyter's server runs, in each kernel.

    Each kernel's own Python is started with a small script. Exit status 1 if something that is
    set up will not work; every problem comes with a remedy.
    """
    known = environments(timeout)
    bundles = bundle_state()
    troubles = problems(known)
    troubles += bundle_problems(*bundles)
    sound, grave = _look_at(dump) if dump else ("", [])
    troubles += grave
    if as_json:
        print_json(_record(known, bundles, sound, troubles))
    else:
        _tell(known, bundles, sound, troubles)
    if any(trouble.fatal for trouble in troubles):
        raise typer.Exit(FOUND)


def bundle_state(static: Path = STATIC) -> tuple[str, str]:
    """Return ``"current"``, ``"missing"`` or ``"stale"``, with the missing files or the hash."""
    absent = [f"{name}.js" for name in NAMES if not (static / f"{name}.js").is_file()]
    try:
        recorded = str(json.loads((static / "hash.json").read_text("utf-8"))["sha256"])
    except (OSError, ValueError, KeyError, TypeError):
        absent.append("hash.json")
    if absent:
        return "missing", ", ".join(absent)
    root = static.parents[1]
    hook = root / "js/hatch_build.py"
    spec = spec_from_file_location("tvmdbg_widgets_hatch_build", hook)
    if not (root / "js/src").is_dir() or not hook.is_file() or spec is None or spec.loader is None:
        return "current", recorded
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return ("current" if module.is_current(root) else "stale"), recorded


def bundle_problems(state: str, detail: str) -> list[Problem]:
    """Return the problem of a state of the bundles, if it is one."""
    if state == "missing":
        remedy = "in a checkout: make bundle; else: pip install --force-reinstall tvmdbg-widgets"
        return [Problem("bundles", f"missing: {detail}", "views and pages stay empty", remedy)]
    what = "the built front ends are older than their sources"
    effect = "views show an older version of the code"
    return [Problem("bundles", what, effect, "make bundle")] if state == "stale" else []


def _look_at(dump: list[str]) -> tuple[str, list[Problem]]:
    """Return a sentence on a readable dump, and its problems."""
    try:
        issues = NamedRun(dump).open().check()
    except (FormatError, OSError, ValueError, UsageError) as error:
        what = for_shell(in_words(error))
        return "", [Problem("dump", what, "opening it", "look at what is named")]
    grave = [issue for issue in issues if issue.severity.value == "error"]
    if grave:
        effect, remedy = "the part it names", "tvmdbg check lists all"
        return "", [Problem("dump", for_shell(x.message), effect, remedy) for x in grave[:5]]
    noted = f"; {counted(len(issues), 'remark')}, which tvmdbg check lists" if issues else ""
    return f"{', '.join(dump)}: opens without errors{noted}", []


def _tell(
    environments: list[Environment], bundles: tuple[str, str], sound: str, troubles: list[Problem]
) -> None:
    for environment in environments:
        _tell_environment(environment)
    kind, detail = bundles
    color = "green" if kind == "current" else "yellow"
    shown = detail if kind == "missing" else detail[:12]
    say(styled("Front ends", "bold"), "  ", styled(kind, color), styled(f"  {shown}", "dim"))
    _tell_extras(environments[0])
    if sound:
        dump = _from_home(sound)
        paragraph(dump, "green", label=f"{'Dump':<12}", label_styles=("bold",))
    say()
    if not troubles:
        say(styled("Everything works.", "bold", "green"))
    for problem in sorted(troubles, key=lambda problem: not problem.fatal):
        styles = ("bold", "red") if problem.fatal else ("yellow",)
        mark, effect = ("problem", "will not work") if problem.fatal else ("remark", "concerns")
        what = f"{problem.where}: {problem.what}"
        paragraph(what, label=f"{mark:<9}", label_styles=styles)
        paragraph(f"{effect}: {problem.effect}", "dim", indent=9)
        paragraph(f"do: {problem.remedy}", "dim", indent=9)
    if any(problem.fatal for problem in troubles):
        note("Exit status 1: something will not work.")


def _tell_environment(environment: Environment) -> None:
    roles = {"here": "This environment", "server": "Jupyter's server"}
    name = roles.get(environment.role, f"Kernel {environment.name}")
    title = f"  {environment.title}" if environment.title else ""
    say(styled(name, "bold"), styled(title, "dim"))
    if environment.problem:
        paragraph(environment.problem, "dim", indent=2)
    else:
        texts = {name: environment.version(name) or "" for name in _PACKAGES}
        texts = {"python": f"{environment.python}  {_from_home(environment.executable)}", **texts}
        for name, text in texts.items():
            if text or name in _ALWAYS:
                shown = styled(text) if text else styled("missing", "yellow")
                say("  ", styled(f"{name:<16}", "dim"), shown)
    say()


def _tell_extras(here: Environment) -> None:
    have = [name for name in _EXTRAS if here.version(name)]
    say(styled("Optional", "bold"), "    ", styled(", ".join(have) or "none"))
    for name, (use, brings) in _EXTRAS.items():
        if name not in have:
            paragraph(f"without {name}: no {use}; pip install {brings}", "dim", indent=12)


def _record(
    environments: list[Environment], bundles: tuple[str, str], sound: str, troubles: list[Problem]
) -> dict[str, Any]:
    return {
        "ok": not any(problem.fatal for problem in troubles),
        "environments": [
            {
                "role": one.role,
                "name": one.name,
                "title": one.title,
                "problem": _from_home(one.problem) or None,
                "python": one.python or None,
                "executable": _from_home(one.executable) or None,
                "packages": dict(one.facts.get("packages", {})),
                "extensions": list(one.extensions),
            }
            for one in environments
        ],
        "bundles": {"state": bundles[0], "detail": bundles[1]},
        "dump": _from_home(sound) or None,
        "problems": [
            {
                "do" if name == "remedy" else name: _from_home(fact) if name != "fatal" else fact
                for name, fact in asdict(problem).items()
            }
            for problem in troubles
        ],
    }


def _from_home(text: str) -> str:
    """Return a text with ``~`` for the home folder, so that reports name no user."""
    home = os.fspath(Path.home())
    return text if len(home) < 2 else text.replace(home + os.sep, f"~{os.sep}")
