"""Hints speak of options, not of calls, where there are options."""

import shutil
from pathlib import Path

import pytest
from cli.start import Run

from tvmdbg_widgets import samples
from tvmdbg_widgets.analysis.summary import HOW_TO_GET, OF_EXECUTORCH
from tvmdbg_widgets.cli.common.terminal import for_shell


@pytest.mark.parametrize(
    ("hint", "said"),
    [
        (
            "Choose one: tvmdbg_widgets.open('/a b/CPU_0'), or open(…, device='CPU_0').",
            "Choose one: '/a b/CPU_0', or --device CPU_0.",
        ),
        (
            "Give the graph (open(…, graph=lib.get_graph_json())) to settle them",
            "Give the graph (lib.get_graph_json() in a file, as --graph FILE) to settle them",
        ),
        ("open(…, graph=lib.get_graph_json()).", "give --graph FILE, which holds {}."),
        ("so does time_list (open(…, times='t.json'))", "so does time_list (add t.json)"),
        ("links (open(…, follow_links=True) follows them)", "links (--follow-links follows them)"),
        ("open(…, limits={'trace': 20 * 2**30}) reads it.", "--limit trace=20G reads it."),
        ("Choose one: open(…, method='forward').", "Choose one: --method forward."),
        ("Say which: open(…, debug_buffer='a b').", "Say which: give --debug-buffer 'a b'."),
        ("open(…, execution=0) shows them.", "--execution 0 shows them."),
        ("Choose one: open(…, module='first').", "Choose one: open(…, module='first')."),
        ("log.write(path) writes it.", "tvmdbg tuning merge LOG -o FILE writes it."),
        (
            'log.write(path, log.select("not is:duplicate"))',
            "tvmdbg tuning merge LOG --select 'not is:duplicate' -o FILE",
        ),
        ('See log.errors_by("unroll").', "See tvmdbg tuning errors LOG --by unroll."),
    ],
)
def test_api_hints_become_shell_commands(hint: str, said: str) -> None:
    assert for_shell(hint) == said.format("lib.get_graph_json()")


@pytest.mark.parametrize("part", HOW_TO_GET)
def test_shell_hints_do_not_mention_open(part: str) -> None:
    for each in (HOW_TO_GET, OF_EXECUTORCH):
        assert "open(" not in for_shell(each[part])


def test_device_option_selects_a_dump_as_the_message_suggests(tvmdbg: Run, tmp_path: Path) -> None:
    for device in ("CPU_0", "CUDA_0"):
        folder = f"_tvmdbg_device_{device}"
        shutil.copytree(samples.resnet20_cifar / "_tvmdbg_device_CPU_0", tmp_path / folder)
    refused = tvmdbg("summary", tmp_path)
    told = " ".join(refused.stderr.split())
    assert refused.returncode == 2
    assert "or --device CPU_0." in told
    assert "open(" not in told
    assert tvmdbg("summary", tmp_path, "--device", "CPU_0").returncode == 0
