r"""Halves of surrogate pairs, which JSON may hold as ``\udcff``, are shown as U+FFFD everywhere."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from formats.executorch.etrecord_files import RECORDS, members, zipped

import tvmdbg_widgets as tvmdbg
from tvmdbg_widgets.formats.executorch.etrecord import read_debug_handles, read_delegate_map
from tvmdbg_widgets.formats.json_fields import decode, read_json
from tvmdbg_widgets.formats.tvm.times_text import read_time_list
from tvmdbg_widgets.model.base.text import FormatError, paired_json
from tvmdbg_widgets.sources.byte_source import BytesSource

HALF = "\\udcff"
RAW = b"\xed\xb3\xbf"


@pytest.mark.parametrize(
    ("text", "told", "count"),
    [
        (r'"a\udcffb"', '"a\\ufffdb"', 1),
        (r'"\ud83d\ude00 \uD83D"', r'"\ud83d\ude00 \ufffd"', 1),
        (r'"\\udcff"', r'"\\udcff"', 0),
        ('"\udcff"', '"�"', 0),
        ('"plain"', '"plain"', 0),
    ],
)
def test_unpaired_surrogate_escapes_are_replaced(text: str, told: str, count: int) -> None:
    found = paired_json(text)
    assert found == (told, count)
    assert len(found[0]) == len(text)
    json.loads(found[0]).encode()


CALL = '{"forward": {"0": {"name": "a", "delegate_map": {"x": [1]}}}}'


@pytest.mark.parametrize("word", ["forward", "0", "name", "a", "x", "delegate_map"])
def test_delegate_map_with_surrogates_can_be_encoded(word: str) -> None:
    for half in (HALF.encode(), RAW):
        text = CALL.encode().replace(b'"%s' % word.encode(), b'"%s%s' % (word.encode(), half), 1)
        found, _ = read_delegate_map(text, "record, delegate_map")
        str(found).encode()
        with pytest.raises(FormatError) as refused:
            read_delegate_map(CALL.encode().replace(b"1", b'"%s"' % half), "record, delegate_map")
        str(refused.value).encode()


def test_surrogates_are_replaced_in_debug_handles_and_lists() -> None:
    text = '{"forward\\udcff": {"1": [2]}}'
    assert read_debug_handles(text.encode(), "record") == {"forward�": {"1": [2]}}
    assert decode(b'["\\ud800"]', list[Any], "record") == ["�"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_broken_json_is_told_at_its_byte(encoding: str) -> None:
    data = '{"größe": "äöü\\udcff", x}'.encode(encoding)
    with pytest.raises(FormatError) as refused:
        decode(data, dict[str, str], "record")
    assert data[refused.value.offset :].startswith("x}".encode(encoding.removesuffix("-sig"))[-4:])


@pytest.mark.parametrize("member", ["delegate_map", "debug_handle_map"])
def test_record_with_surrogates_opens_and_prints(member: str) -> None:
    held = members(RECORDS[0])
    name = next(each for each in held if each.startswith(member))
    changed = re.sub(rb'"(\w)', rb'"\1\\\\udcff', held[name])
    run = tvmdbg.open(zipped({**held, name: changed}))
    assert isinstance(run, tvmdbg.DebugRun)
    for each in (run.summary(), run.table(), run.findings()):
        f"{each!r} {each}".encode()


def test_surrogates_in_time_list_and_recording_fields() -> None:
    with pytest.raises(FormatError) as refused:
        read_time_list(BytesSource(b'[["\\udcff"]]', "times.json"))
    str(refused.value).encode()
    text = BytesSource(b'{"name": "a\\udcff", "names": ["\\udcff"]}', "recording.json")
    assert read_json(text, object) == {"name": "a�", "names": ["�"]}
    assert read_json(text, dict[str, Any], halves=True)["name"] == "a\udcff"


@pytest.mark.parametrize("field", ["version", "stages", "name"])
def test_ir_text_with_a_surrogate_in_a_field_name_is_refused(field: str, tmp_path: Path) -> None:
    stage = {"name": "relax", "text": "def main(x):\n"}
    text = json.dumps({"format": "tvmdbg-ir", "version": 1, "stages": [stage]})
    path = tmp_path / "ir.json"
    path.write_text(text.replace(f'"{field}"', f'"\\ud800": 0, "{field}"'))
    with pytest.raises(FormatError, match=r"names that UTF-8 can hold(?s:.*)'.ud800'"):
        tvmdbg.open(path)
