"""Every command that a text of ours tells a user to type does something."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from typer.main import get_command

from tests.unit.typed.typed_files import STANDS_FOR, lay_out, texts

if TYPE_CHECKING:
    import click
    from cli.start import Run


#: Verbs that wait for a browser; test_docs.py sees to their options.
WAIT = {"show", "demo"}
#: Where our texts put a dump.
TEMPORARY = "/tmp/"  # noqa: S108 (nothing is written there)
#: Words that stand for something else.
MEANT = {
    "LAYOUT": "wide",
    "TVM_SOURCE": "tvm/",
    "FILE": "out.json",
    "38,conv2d_3,30:40": "38,tvmgen_default_fused_nn_conv2d_add_nn_relu,30:40",
}
#: Commands that are right for files other than those of the samples.
OTHER_FILES = {
    (
        "convert net.params -o out.params --from-dtype-layout 'code:u8 bits:u8 lanes:u32'"
        " --dtype-layout narrow"
    )
}
#: What a dash reads, by verb.
SENT = {"convert": "net.params", "summary": "graph.json"}


@cache
def _verbs() -> dict[str, click.Command]:
    from tvmdbg_widgets.cli.app import app

    return get_command(app).commands  # type: ignore[attr-defined,no-any-return]


def _command(words: list[str]) -> tuple[list[str], click.Command | None]:
    inner, taken = _verbs(), []
    command = None
    for word in words:
        if word not in inner:
            break
        command = inner[word]
        taken.append(word)
        inner = getattr(command, "commands", {})
    return taken, command


def typed(text: str) -> Iterator[list[str]]:
    """The commands of a text as words; prose that goes on after a command is left out."""
    text = text.replace("$(tvmdbg demo --path)", f"{TEMPORARY}tvmdbg")
    for said in re.findall(r"(?<![\w/.-])tvmdbg ([a-z][^`\n…\\]*)(?![^`\n]*[…\\])", text):
        line = re.split(r"  | && | \| (?!code)| > | # |;", said)[0].strip()
        try:
            words = shlex.split(line)
        except ValueError:
            words = line.split()
        words = [word.rstrip(",.:)") if word.startswith("--") else word for word in words]
        taken, command = _command(words)
        if command is None or hasattr(command, "commands"):
            continue
        takes = {
            name for each in command.params for name in each.opts if not getattr(each, "is_flag", 0)
        }
        rest = words[len(taken) :]
        kept: list[str] = []
        for word in rest:
            value = bool(kept) and kept[-1] in takes and kept[-1].startswith("-")
            sign = word in {"<", ">"} or (bool(kept) and kept[-1] in {"<", ">"})
            name = word.removeprefix(TEMPORARY).rstrip("/")
            known = name in STANDS_FOR or name in NAMES or word in MEANT
            if not (value or sign or known or word.startswith("-")):
                if re.search(r"\w\.\w|/$", word):
                    kept.append(word)
                    continue
                break
            kept.append(word)
        if kept and (not all(word.startswith("-") for word in kept) or taken == ["explain"]):
            yield [*taken, *kept]


NAMES = {
    *("tvm", "module.ll", "report.json", "stdout.txt", "weights.json", "workloads.py"),
    *("autotvm.log", "work_dir", "DLTensor", "-", "mini", "c.bin", "s.bin"),
}


def commands() -> dict[tuple[str, ...], str]:
    """Each command once, and where it is told."""
    return {tuple(words): where for where, _, text in texts() for words in typed(text)}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return lay_out(tmp_path_factory.mktemp("typed"))


def test_every_documented_command_runs(tvmdbg: Run, folder: Path) -> None:
    wrong = []
    for words, where in commands().items():
        if words[0] in WAIT or shlex.join(words) in OTHER_FILES:
            continue
        given, sent = [MEANT.get(word, word).replace(TEMPORARY, "") for word in words], b""
        if words[0] == "tuning":
            given = [{"a": "a.json", "b": "b.json"}.get(word, word) for word in given]
        if given[-2:-1] == ["<"]:
            sent = (folder / given[-1]).read_bytes()
            given = given[:-2]
        if "-" in given and words[0] in SENT:
            sent = (folder / SENT[words[0]]).read_bytes()
        if words[0] == "extract":
            shutil.rmtree(folder / "mini", ignore_errors=True)
        done = tvmdbg(*given, input=sent, cwd=folder, text=False)
        if done.returncode not in {0, 1} or b"Traceback" in done.stderr:
            wrong.append(f"{where}: tvmdbg {shlex.join(words)}: {done.stderr.decode()}")
    assert not wrong, "\n".join(wrong)
