"""ETRecords made from the members of a real one."""

import io
import zipfile
from collections.abc import Mapping
from functools import cache

from executorch_cases import CASES, case_dir

from tvmdbg_widgets.formats.executorch.etrecord import read_etrecord
from tvmdbg_widgets.model.executorch.etrecord import ETRecord
from tvmdbg_widgets.sources.byte_source import BytesSource

#: Cases with an ETRecord that ExecuTorch reads.
RECORDS = tuple(
    case
    for case in CASES
    if (case_dir(case) / "etrecord.bin").exists() and case != "09n_no_identifier"
)


def record_bytes(case: str) -> bytes:
    return (case_dir(case) / "etrecord.bin").read_bytes()


@cache
def members(case: str) -> dict[str, bytes]:
    with zipfile.ZipFile(case_dir(case) / "etrecord.bin") as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zipped(content: Mapping[str, bytes], method: int = zipfile.ZIP_STORED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, data in content.items():
            archive.writestr(name, data)
    return file.getvalue()


@cache
def record(case: str) -> ETRecord:
    return read(record_bytes(case))


def read(data: bytes) -> ETRecord:
    return read_etrecord(BytesSource(data, "etrecord.bin"))
