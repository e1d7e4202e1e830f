"""explain: console output in, what is known out."""

import json
from pathlib import Path

from cli.start import Run

LOG = "[12:00:00] start\nTVMError: Check failed: ret: Invalid DLTensor file format\n\x1b[31mend\n"


def test_log_is_read_from_a_pipe_or_a_file(tvmdbg: Run, tmp_path: Path) -> None:
    (tmp_path / "log").write_text(LOG)
    for done in (
        tvmdbg("explain", input=LOG.encode(), text=False),
        tvmdbg("explain", tmp_path / "log"),
    ):
        assert done.returncode == 0
        text = done.stdout if isinstance(done.stdout, str) else done.stdout.decode()
        assert "1 known message in 3 lines" in text
        assert "line 2: params-array (TVM all)" in text
        assert "message: TVMError" in text
        assert "tvmdbg convert in.params" in text
        assert "serializer.h" not in text
        assert text.count("explain --places") == 1
        assert "\x1b" not in text


def test_json_has_every_fact(tvmdbg: Run, tmp_path: Path) -> None:
    (tmp_path / "log").write_text(LOG)
    told = json.loads(tvmdbg("explain", tmp_path / "log", "--json").stdout)
    assert told["lines"] == 3
    (message,) = told["messages"]
    assert message["id"] == "params-array"
    assert message["line"] == 2
    assert message["next"]


def test_places_option_lists_the_files_to_change(tvmdbg: Run) -> None:
    told = tvmdbg("explain", "--places", input=b"")
    assert told.returncode == 0
    assert "serializer.h" in told.stdout
