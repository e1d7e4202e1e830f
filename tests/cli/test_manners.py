"""What every verb has in common: help, streams, colors, pipes, signals, errors."""

import json
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cli.start import COMMAND, Run, environment, refused

import tvmdbg_widgets
from tests.graph_json import graph_json, null, operator
from tvmdbg_widgets import samples

VERBS = (
    *("show", "html", "summary", "memory", "findings", "check", "compare", "table", "trace"),
    *("extract", "convert", "doctor", "demo"),
)
TUNING = ("summary", "tasks", "errors", "best", "compare", "distill", "merge", "reuse")
SAMPLE = str(samples.resnet20_cifar)
ESCAPE = "\x1b"
ODD = "a\x1b[31mred\x1b]0;title\x07\n[bold]b[/bold] \u202ec"


def test_version(tvmdbg_process: Run) -> None:
    done = tvmdbg_process("--version")
    assert done.returncode == 0
    assert done.stdout.split()[:2] == ["tvmdbg", tvmdbg_widgets.__version__]
    assert done.stderr == ""


@pytest.mark.parametrize(("group", "verbs"), [((), VERBS), (("tuning",), TUNING)])
def test_help_lists_every_verb_and_every_verb_has_examples(
    tvmdbg: Run, group: tuple[str, ...], verbs: tuple[str, ...]
) -> None:
    done = tvmdbg(*group, "--help")
    assert done.returncode == 0
    listed = verbs if group else (*verbs, "tuning")
    assert all(re.search(rf"^│ {verb}\b", done.stdout, re.MULTILINE) for verb in listed)
    for verb in verbs:
        told = tvmdbg(*group, verb, "--help")
        assert told.returncode == 0, told.stderr
        assert " ".join(("tvmdbg", *group, verb)) in told.stdout.partition("Examples")[2]
        assert "--debug" in told.stdout
        assert max(map(len, told.stdout.splitlines())) <= 80


@pytest.mark.parametrize("arguments", [["--version"], ["--help"], ["check", "--help"]])
def test_help_starts_without_numpy_and_widgets(arguments: list[str]) -> None:
    code = (
        "import sys; from tvmdbg_widgets.cli import main\n"
        f"sys.argv = ['tvmdbg', *{arguments!r}]\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "heavy = ('numpy', 'ml_dtypes', 'anywidget', 'ipywidgets', 'networkx', 'tqdm', 'pandas')\n"
        "print(*(name for name in heavy if name in sys.modules), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment(), capture_output=True, text=True, check=True
    )
    assert done.stderr.strip() == ""


@pytest.mark.parametrize(
    "arguments",
    [["nonsense"], ["check"], ["check", SAMPLE, "--nonsense"], ["table", SAMPLE, "--top", "-1"]],
)
def test_wrong_call_exits_with_status_2_and_writes_no_result(
    tvmdbg: Run, arguments: list[str]
) -> None:
    done = tvmdbg(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "Usage: tvmdbg" in done.stderr
    assert "Traceback" not in done.stderr


def test_missing_file_suggests_one_beside_it(tvmdbg: Run, tmp_path: Path) -> None:
    (tmp_path / "resnet").mkdir()
    done = tvmdbg("summary", tmp_path / "resnt")
    assert "no such file or folder; did you mean 'resnet'?" in " ".join(done.stderr.split())
    done = tvmdbg("summary", tmp_path / "gone" / "resnet")
    assert "there is no folder" in " ".join(done.stderr.split())


def test_missing_file_prints_one_message(tvmdbg: Run, tmp_path: Path) -> None:
    done = tvmdbg("summary", tmp_path / "nowhere")
    assert done.returncode == 2
    assert done.stdout == ""
    assert "no such file or folder" in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


def test_broken_file_is_reported_with_field_and_offset(tvmdbg: Run, tmp_path: Path) -> None:
    path = tmp_path / "cut.params"
    whole = (samples.resnet20_cifar / "_tvmdbg_device_CPU_0/output_tensors.params").read_bytes()
    path.write_bytes(whole[:20])
    done = tvmdbg("check", path)
    assert done.returncode == 2
    facts = re.findall(r"^ +(field|offset|expected|found|try): (.+)$", done.stderr, re.MULTILINE)
    told = dict(facts)
    assert told.keys() >= {"field", "offset", "expected", "found"}
    assert told["offset"] == "byte 16"
    assert "Traceback" not in done.stderr
    assert "Traceback" in tvmdbg("check", path, "--debug").stderr


def test_piped_output_has_no_colors_and_no_notes(tvmdbg: Run) -> None:
    done = tvmdbg("table", SAMPLE, "--top", "2")
    assert ESCAPE not in done.stdout + done.stderr
    assert len(done.stdout.splitlines()) == 3
    assert "2 slowest operators" in done.stderr
    assert "#65 conv2d + add + add + relu" in done.stdout  # nothing is shortened


def _in_terminal(arguments: list[str], columns: int, **env: str) -> str:
    """What a terminal of that width is sent."""
    import fcntl
    import termios

    child, terminal = pty.fork()
    if child == 0:
        told = environment(TERM="xterm-256color", **env)
        os.execvpe(COMMAND[0], [*COMMAND, *arguments], told)  # noqa: S606
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    found = b""
    while True:
        try:
            piece = os.read(terminal, 65536)
        except OSError:
            break
        if not piece:
            break
        found += piece
    os.waitpid(child, 0)
    os.close(terminal)
    return found.decode()


def _plain(text: str) -> list[str]:
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text).replace("\r", "").splitlines()


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo terminal on Windows")
@pytest.mark.parametrize(("verb", "columns"), [("summary", 80), ("check", 120), ("table", 80)])
def test_a_terminal_gets_colors_and_lines_that_fit(verb: str, columns: int) -> None:
    text = _in_terminal([verb, SAMPLE], columns, COLUMNS=str(columns))
    assert f"{ESCAPE}[1m" in text
    assert max(map(len, _plain(text))) <= columns


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo terminal on Windows")
def test_no_color_disables_terminal_colors() -> None:
    assert ESCAPE not in _in_terminal(["table", SAMPLE], 80, NO_COLOR="1").replace("\x1b[?25", "")


def test_a_closed_pipe_is_silent() -> None:
    process = subprocess.Popen(
        [*COMMAND, "table", SAMPLE],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    process.stdout.close()
    error = process.stderr.read().decode()
    assert process.wait() in (0, 141)
    assert "Error" not in error
    assert "Traceback" not in error


@pytest.mark.skipif(sys.platform != "linux", reason="told by /proc when the command waits")
def test_interrupt_exits_quietly_with_status_130(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [*COMMAND, "convert", "-", "-o", str(tmp_path / "out"), "--dtype-layout", "wide"],
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    deadline = time.monotonic() + 60
    while _reads_nothing_yet(process.pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, error = process.communicate(timeout=120)
    assert (process.returncode, out, error) == (130, b"", b"")
    assert not (tmp_path / "out").exists()


def _reads_nothing_yet(pid: int) -> bool:
    """Whether the command has not laid its standard input on disk yet, which it then waits for."""
    opened = [
        str(path.readlink()) for path in Path(f"/proc/{pid}/fd").glob("*") if path.is_symlink()
    ]
    return not [name for name in opened if name.endswith("(deleted)")]


def _graph_with(name: str) -> bytes:
    nodes = [null(name), operator(name, name, [0])]
    return graph_json(nodes, shapes=[1], dtypes=["float32", name])


@pytest.mark.parametrize(
    "verb", [["summary"], ["check"], ["table"], ["table", "--csv"], ["table", "--json"]]
)
def test_control_characters_in_names_are_escaped(
    verb: list[str], tvmdbg: Run, tmp_path: Path
) -> None:
    path = tmp_path / "graph.json"
    path.write_bytes(_graph_with(ODD))
    done = tvmdbg(verb[0], path, *verb[1:])
    assert done.returncode in (0, 1), done.stderr
    for stream in (done.stdout, done.stderr):
        assert not [each for each in stream if not each.isprintable() and each != "\n"]
    if verb == ["table", "--json"]:
        assert json.loads(done.stdout)["operators"][0]["name"] == ODD
    elif verb[0] == "table":
        assert "[bold]b[/bold]" in done.stdout  # neither interpreted nor lost
        assert r"\x1b[31mred" in done.stdout


def test_paths_with_spaces_and_unicode_open(tvmdbg: Run, tmp_path: Path) -> None:
    folder = tmp_path / "运行 [bold] one's"
    folder.mkdir()
    path = folder / "图 graph.json"
    path.write_bytes(_graph_with("x"))
    for named in (folder, path):
        done = tvmdbg("summary", named)
        assert done.returncode == 0, done.stderr
        assert named.name in done.stdout


def test_ascii_streams_do_not_fail(tvmdbg_process: Run) -> None:
    done = tvmdbg_process("table", SAMPLE, env={"PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0, done.stderr
    assert r"\xb5s" in done.stdout
    assert "convolution" in done.stdout


def test_standard_input_is_read_as_a_dump(tvmdbg: Run) -> None:
    graph = (samples.resnet20_cifar / "graph.json").read_bytes()
    done = tvmdbg("summary", "-", input=graph, text=False)
    assert done.returncode == 0, done.stderr
    assert b"72 nodes" in done.stdout
    twice = tvmdbg("summary", "-", "-", input=graph, text=False)
    assert twice.returncode == 2
    assert b"only once" in twice.stderr
    for verb in ("compare", "rpc"):
        assert b"only once" in tvmdbg(verb, "-", "-", input=graph, text=False).stderr


@pytest.mark.parametrize("mark", ["'", '"'])
def test_quotes_pasted_around_a_path_are_taken_off(tvmdbg: Run, mark: str, tmp_path: Path) -> None:
    assert tvmdbg("summary", f" {mark}{SAMPLE}{mark}").returncode == 0
    assert "'nowhere'" in refused(tvmdbg("summary", "'nowhere'"))


def test_version_into_a_closed_pipe_leaves_no_traceback() -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [*COMMAND, "--version"],
        env=environment(),
        stdout=write,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(write)
    assert done.stderr == b""


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shell_completion_completes_a_verb(shell: str, tvmdbg: Run) -> None:
    script = tvmdbg(
        "--show-completion", shell, env={"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    )
    assert script.returncode == 0, script.stderr
    assert "_TVMDBG_COMPLETE" in script.stdout
    asked = {
        "_TVMDBG_COMPLETE": f"complete_{shell}",
        "COMP_WORDS": "tvmdbg ch",
        "COMP_CWORD": "1",
        "_TYPER_COMPLETE_ARGS": "tvmdbg ch",
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
        "_TYPER_COMPLETE_WORD_TO_COMPLETE": "ch",
    }
    assert "check" in tvmdbg(env=asked).stdout


def test_completion_of_a_value(tvmdbg: Run) -> None:
    asked = {
        "_TVMDBG_COMPLETE": "complete_bash",
        "COMP_WORDS": "tvmdbg html x --share ",
        "COMP_CWORD": "4",
    }
    assert tvmdbg(env=asked).stdout.split() == ["statistics", "pictures", "tensors"]


@pytest.mark.skipif(sys.platform == "win32", reason="a shell closes the streams")
def test_initially_closed_streams_are_handled() -> None:
    command = " ".join(map(str, COMMAND))

    def started(rest: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["sh", "-c", f"{command} {rest}"],
            capture_output=True,
            text=True,
            env=environment(),
            check=False,
        )

    done = started(f"summary '{SAMPLE}' >&-")
    assert done.returncode == 2
    assert done.stderr.startswith("error: standard output is closed")
    quiet = started(f"table '{SAMPLE}' --csv 2>&-")
    assert quiet.returncode == 0
    assert quiet.stdout.startswith("node,name")
    assert "operators;" not in quiet.stdout


def test_page_over_budget_prints_a_remark_not_a_python_warning(tvmdbg: Run, tmp_path: Path) -> None:
    done = tvmdbg("html", SAMPLE, "-o", str(tmp_path / "run.html"), "--budget", "100k")
    assert done.returncode == 0
    assert "more than the budget" in done.stderr
    assert "Warning" not in done.stderr
    assert ".py" not in done.stderr
