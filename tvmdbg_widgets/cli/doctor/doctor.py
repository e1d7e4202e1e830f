"""``tvmdbg doctor``: what of this installation will not work, and why."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tvmdbg_widgets.cli.common.examples import examples
from tvmdbg_widgets.cli.common.failures import FOUND, in_words, verb
from tvmdbg_widgets.cli.common.hints import for_shell
from tvmdbg_widgets.cli.common.terminal import folded, note, say, styled, width

if TYPE_CHECKING:
    from tvmdbg_widgets.cli.doctor.environments import Environment
    from tvmdbg_widgets.cli.doctor.rules import Problem

EXAMPLES = examples(
    ("Why does the view stay empty?", "tvmdbg doctor"),
    ("Is it the installation or the files?", "tvmdbg doctor /tmp/tvmdbg"),
    ("To attach to an issue", "tvmdbg doctor --json > doctor.json"),
)
_SHOWN = ("tvmdbg-widgets", "anywidget", "ipywidgets", "numpy", "jupyterlab", "notebook")


@verb
def doctor(
    dump: Annotated[
        list[str] | None,
        typer.Argument(metavar="[DUMP]...", help="A dump to check as well.", show_default=False),
    ] = None,
    *,
    timeout: Annotated[
        float, typer.Option(metavar="SECONDS", min=0.1, help="Timeout per kernel.")
    ] = 20.0,
    as_json: Annotated[bool, typer.Option("--json", metavar="", help="Write JSON.")] = False,
) -> None:
    """Look for what will not work: versions here, where Jupyter's server runs, in each kernel.

    Each kernel's own Python is started with a small script. Exit status 1 if something that is
    set up will not work; each problem says what to do.
    """
    from tvmdbg_widgets.cli.doctor.bundles import bundle_problem, state
    from tvmdbg_widgets.cli.doctor.environments import environments
    from tvmdbg_widgets.cli.doctor.rules import problems

    found = environments(timeout)
    bundles = state()
    told = problems(found)
    stale = bundle_problem(bundles)
    told += [stale] if stale is not None else []
    sound, grave = _look_at(dump) if dump else ("", [])
    told += grave
    if as_json:
        from tvmdbg_widgets.cli.common.json_text import json_text

        print(json_text(_record(found, bundles, sound, told)))
    else:
        _tell(found, bundles, sound, told)
    if any(each.fatal for each in told):
        raise typer.Exit(FOUND)


def _look_at(dump: list[str]) -> tuple[str, list[Problem]]:
    """Return what to say of a dump that can be read, and what is wrong with it."""
    from tvmdbg_widgets.cli.common.dump import Named
    from tvmdbg_widgets.cli.doctor.rules import Problem
    from tvmdbg_widgets.model.base.errors import FormatError

    try:
        run = Named(dump).open()
    except (FormatError, OSError, ValueError) as error:
        return "", [
            Problem("dump", for_shell(in_words(error)), "opening it", "look at what is named")
        ]
    issues = run.check()
    grave = [each for each in issues if each.severity.value == "error"]
    if not grave:
        from tvmdbg_widgets.model.base.numbers import counted

        noted = f"; {counted(len(issues), 'remark')}, which tvmdbg check tells" if issues else ""
        return f"{', '.join(dump)}: opens without errors{noted}", []
    return "", [
        Problem(
            "dump",
            for_shell(each.message),
            "what stands there",
            "tvmdbg check tells all",
            fatal=True,
        )
        for each in grave[:5]
    ]


def _tell(
    found: list[Environment], bundles: tuple[str, str], sound: str, told: list[Problem]
) -> None:
    for each in found:
        _tell_environment(each)
    _tell_parts(found[0], bundles)
    if sound:
        head, *more = folded(_from_home(sound), width(sys.stdout), first=12, rest=12)
        say(styled("Dump", "bold"), "        ", styled(head, "green"))
        for line in more:
            say(styled(line, "green"))
    say()
    if not told:
        say(styled("Everything works.", "bold", "green"))
    for problem in sorted(told, key=lambda problem: not problem.fatal):
        _tell_problem(problem)
    if any(problem.fatal for problem in told):
        note("Exit status 1: something will not work.")


def _tell_environment(each: Environment) -> None:
    names = {"here": "This environment", "server": "Jupyter's server"}
    title = f"  {each.title}" if each.title else ""
    say(styled(names.get(each.role, f"Kernel {each.name}"), "bold"), styled(title, "dim"))
    if each.problem:
        _lines(each.problem)
    else:
        say(
            "  ",
            styled(f"{'python':<16}", "dim"),
            styled(f"{each.python}  {_from_home(each.executable)}"),
        )
    for package in _SHOWN if not each.problem else ():
        version = each.version(package)
        if version is not None or package in _SHOWN[:4]:
            text = styled(version) if version else styled("missing", "yellow")
            say("  ", styled(f"{package:<16}", "dim"), text)
    say()


def _tell_parts(here: Environment, bundles: tuple[str, str]) -> None:
    from tvmdbg_widgets.cli.doctor.rules import EXTRAS

    kind, detail = bundles
    color = "green" if kind == "current" else "yellow"
    shown = detail[:12] if kind in ("current", "stale") else detail
    say(styled("Front ends", "bold"), "  ", styled(kind, color), styled(f"  {shown}", "dim"))
    have = [name for name in EXTRAS if here.version(name)]
    say(styled("Optional", "bold"), "    ", styled(", ".join(have) or "none"))
    for name, (use, brings) in EXTRAS.items():
        if name not in have:
            _lines(f"without {name}: no {use}; pip install {brings}", 12)


def _tell_problem(each: Problem) -> None:
    mark = styled("problem  ", "bold", "red") if each.fatal else styled("remark   ", "yellow")
    head, *more = folded(f"{each.where}: {each.what}", width(sys.stdout), first=9, rest=9)
    say(mark, head)
    for line in more:
        say(line)
    _lines(f"{'will not work' if each.fatal else 'concerns'}: {each.effect}", 9)
    _lines(f"do: {each.remedy}", 9)


def _lines(text: str, indent: int = 2) -> None:
    for line in folded(text, width(sys.stdout), first=indent, rest=indent, indent=True):
        say(styled(line, "dim"))


def _record(
    found: list[Environment], bundles: tuple[str, str], sound: str, told: list[Problem]
) -> dict[str, Any]:
    return {
        "ok": not any(each.fatal for each in told),
        "environments": [
            {
                "role": each.role,
                "name": each.name,
                "title": each.title,
                "problem": _from_home(each.problem) or None,
                "python": each.python or None,
                "executable": _from_home(each.executable) or None,
                "packages": dict(each.facts.get("packages", {})),
                "extensions": list(each.extensions),
            }
            for each in found
        ],
        "bundles": {"state": bundles[0], "detail": bundles[1]},
        "dump": _from_home(sound) or None,
        "problems": [
            {
                "where": each.where,
                "what": _from_home(each.what),
                "effect": _from_home(each.effect),
                "do": _from_home(each.remedy),
                "fatal": each.fatal,
            }
            for each in told
        ],
    }


def _from_home(text: str) -> str:
    """The text with ``~`` for the home folder: what is attached to an issue names no user."""
    home = os.fspath(Path.home())
    return text if len(home) < 2 else text.replace(home + os.sep, f"~{os.sep}")
