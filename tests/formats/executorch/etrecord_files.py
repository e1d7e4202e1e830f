"""ETRecords made from the members of a real one."""

import zipfile
from functools import cache, partial

from executorch_cases import CASES, case_dir

from tests.make.fuzz import files
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


zipped = partial(files.zipped, method=zipfile.ZIP_STORED)


@cache
def record(case: str) -> ETRecord:
    return read(record_bytes(case))


def read(data: bytes) -> ETRecord:
    return read_etrecord(BytesSource(data, "etrecord.bin"))
