"""Files of DAG texts by workload key.

``extract_tasks(…, dump_workload_to_dag_log=file)`` writes one JSON object
(python/tvm/auto_scheduler/relay_integration.py).
"""

from __future__ import annotations

import re

from tvmdbg_widgets.formats.json_fields import read_json
from tvmdbg_widgets.sources.byte_source import ByteSource

_START = re.compile(
    rb'(?:\xef\xbb\xbf)?\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*"[^\s(="]+(?: = PLACEHOLDER|\()'
)


def sniff(head: bytes) -> bool:
    """Whether a file that starts with these bytes is such an object."""
    return _START.match(head) is not None and b" = PLACEHOLDER" in head


def read_dag_dump(source: ByteSource) -> dict[str, str]:
    """Return the DAG texts by workload key."""
    return read_json(source, dict[str, str])
