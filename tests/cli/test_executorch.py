"""ExecuTorch's files on the command line: which files, which method, the Inspector's table."""

import json
import shutil
from pathlib import Path

import pytest
from cli.start import Run, refused

from tests.executorch_cases import answers, case_dir
from tests.formats.executorch.vulkan_files import program_bytes
from tvmdbg_widgets import samples

XNNPACK = samples.executorch_xnnpack
FILES = sorted(XNNPACK.iterdir())


@pytest.mark.parametrize("verb", ["findings", "check", "table"])
def test_a_folder_and_its_files_are_the_same_run(tvmdbg: Run, verb: str) -> None:
    names = [path.name for path in FILES]
    told = [
        json.loads(tvmdbg(verb, *given, "--json", cwd=XNNPACK).stdout)
        for given in ([XNNPACK], names, reversed(names))
    ]
    for each in told:
        del each["run"]
    assert told[0] == told[1] == told[2]


def test_html_trace_and_graph_files_are_written(tvmdbg: Run, tmp_path: Path) -> None:
    for verb, name in (("html", "a.html"), ("trace", "a.json"), ("graph", "a.svg")):
        done = tvmdbg(verb, *FILES, "-o", tmp_path / name)
        assert done.returncode == 0, done.stderr
        assert (tmp_path / name).stat().st_size > 1_000


def test_the_inspectors_table_is_printed(tvmdbg: Run) -> None:
    """The same bytes as ExecuTorch's Inspector gave for these files."""
    case = case_dir("06b_demo_manual_ids")
    done = tvmdbg("table", case / "etdump.etdp", case / "etrecord.bin", "--inspector")
    assert done.returncode == 0, done.stderr
    assert done.stdout == answers(case.name)["inspector"]["print_data_tabular"]


@pytest.mark.parametrize("option", ["--json", "--csv", "--top=3", "--sort=node", "--by=kind"])
def test_inspector_table_refuses_other_options(tvmdbg: Run, option: str) -> None:
    assert "--inspector prints every event" in refused(
        tvmdbg("table", XNNPACK, "--inspector", option)
    )


def test_the_inspectors_table_needs_a_dump(tvmdbg: Run) -> None:
    assert "no ETDump" in refused(tvmdbg("table", XNNPACK / "model.pte", "--inspector"))


def test_method_option_selects_a_method_as_the_message_suggests(tvmdbg: Run) -> None:
    program = case_dir("pte") / "zoo_multim.pte"
    assert tvmdbg("memory", program, "--method", "second").returncode == 0
    assert "--method forward" in refused(tvmdbg("summary", program, "--method", "backward"))


def test_an_execution_is_chosen(tvmdbg: Run) -> None:
    case = case_dir("05c_multirun_debug_different_inputs")
    assert tvmdbg("summary", case, "--execution", "1").returncode == 0
    assert "--execution 0" in refused(tvmdbg("summary", case, "--execution", "2"))


def test_debug_buffer_is_suggested_and_not_overwritten(tvmdbg: Run, tmp_path: Path) -> None:
    for path in FILES:
        shutil.copy(path, tmp_path)
    buffer = tmp_path / "debug_buffer.bin"
    shutil.copy(buffer, tmp_path / "other.bin")
    unsure = tvmdbg("summary", tmp_path)
    assert "--debug-buffer debug_buffer.bin" in " ".join((unsure.stdout + unsure.stderr).split())
    done = tvmdbg("summary", tmp_path, "--debug-buffer", buffer)
    assert done.returncode == 0
    assert "3 of 3 nodes" in done.stdout
    assert "is an input file" in refused(
        tvmdbg("html", tmp_path, "--debug-buffer", buffer, "-o", buffer)
    )


def test_program_alone_suggests_adding_an_etdump(tvmdbg: Run) -> None:
    done = tvmdbg("summary", XNNPACK / "model.pte")
    assert done.returncode == 0
    said = " ".join(done.stderr.split())
    assert "add etdump.etdp" in said
    assert "GraphModuleDebug" not in said


def test_the_demo_of_a_delegate(tvmdbg: Run) -> None:
    done = tvmdbg("demo", "--executorch", "--path")
    assert done.stdout.strip() == str(samples.executorch_demo_delegate)
    assert tvmdbg("demo", "--executorch", "--fault").returncode == 2


@pytest.mark.spec_only
def test_summary_describes_delegate_payloads(tvmdbg: Run, tmp_path: Path) -> None:
    (tmp_path / "model.pte").write_bytes(program_bytes(*[("QnnBackend", b"\xcd\xab\x78\x56")] * 10))
    told = tvmdbg("summary", tmp_path / "model.pte").stdout
    payload = "Qualcomm QNN context binary (closed), 4 bytes"
    assert f"delegate QNN call 1 of 10: {payload}" in " ".join(told.split())
    assert "2 more calls of delegates" in told


def test_summary_reads_tables_saved_by_the_inspector(tvmdbg: Run, tmp_path: Path) -> None:
    table = tmp_path / "events.tsv"
    table.write_text(answers("03b_mixed_xnnpack")["inspector"]["save_data_to_tsv"])
    counts = "Total delegated subgraphs: 2\nNumber of delegated nodes: 4\n"
    info = tmp_path / "info.txt"
    info.write_text(counts + "Number of non-delegated nodes: 1\n")
    told = tvmdbg("summary", table, info).stdout
    assert "67.13 µs in Method::execute" in " ".join(told.split())
    assert "4 of 5 nodes delegated (80.0 %) in 2 subgraphs" in told
