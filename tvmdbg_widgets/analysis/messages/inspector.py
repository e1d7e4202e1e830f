"""What ExecuTorch's Inspector says, up to 1.5.1; run against recorded files."""

from __future__ import annotations

from tvmdbg_widgets.analysis.messages.message import KnownMessage

_INSPECTOR = "executorch/devtools/inspector/_inspector.py @ 1.5.1"
_UTILS = "executorch/devtools/inspector/_inspector_utils.py @ 1.5.1"
_ETRECORD = "executorch/devtools/etrecord/_etrecord.py @ 1.5.1"
_OPEN = "tvmdbg.open(etdump, etrecord, debug_buffer)  (reads what can be read)"

MESSAGES = (
    KnownMessage(
        "inspector-one-source",
        "Expecting exactly one of etdump_path or etdump_data to be specified.",
        "Expecting exactly one of etdump_path",
        r"Expecting exactly one of etdump_path or etdump_data",
        "ExecuTorch 0.5 and later",
        "Both etdump_path and etdump_data were given, or neither.",
        "",
        ("Inspector(etdump_path=…)",),
        _INSPECTOR,
    ),
    KnownMessage(
        "inspector-cycles",
        "For TimeScale in cycles both the source and target time scale have to be in cycles.",
        "For TimeScale in cycles",
        r"For TimeScale in cycles both the source and target",
        "ExecuTorch 0.2 and later",
        "CYCLES was given for one of source_time_scale and target_time_scale alone.",
        "",
        ("Inspector(…, source_time_scale=TimeScale.CYCLES, target_time_scale=TimeScale.CYCLES)",),
        _INSPECTOR,
    ),
    KnownMessage(
        "inspector-etrecord-identifier",
        "ETRecord identifier missing …",
        "ETRecord identifier missing",
        r"ETRecord identifier missing",
        "ExecuTorch 0.2 and later",
        "The archive has no member ETRECORD_V0: it is another zip file.",
        "'Invalid etrecord file passed in' means that it is no zip file at all.",
        (_OPEN,),
        _ETRECORD,
    ),
    KnownMessage(
        "inspector-etrecord-file",
        "Invalid etrecord file passed in.",
        "Invalid etrecord file passed in",
        r"Invalid etrecord file passed in",
        "ExecuTorch 0.2 and later",
        "The file is no zip archive, or is cut off.",
        "'ETRecord identifier missing' is a zip archive of something else.",
        (_OPEN,),
        _ETRECORD,
    ),
    KnownMessage(
        "inspector-etrecord-type",
        "Unsupported ETRecord type",
        "Unsupported ETRecord type",
        r"Unsupported ETRecord type",
        "ExecuTorch 0.2 and later",
        "etrecord= was given something else than a text or an ETRecord, such as a pathlib.Path.",
        "",
        ("Inspector(…, etrecord=str(path))",),
        _UTILS,
    ),
    KnownMessage(
        "inspector-different-runs",
        "Tensors Debug Data is different. Expected to be equal.",
        "Debug Data is different",
        r"(?:Tensors|Scalar) Debug Data is different",
        "ExecuTorch 0.2 and later",
        "The ETDump holds several runs with different inputs and debug values: the Inspector opens "
        "only runs whose values are all equal. NaN counts as different from NaN.",
        "Runs with different bundled_input_index are kept apart and open.",
        (_OPEN, "tvmdbg.open(…, execution=1)"),
        _INSPECTOR,
    ),
    KnownMessage(
        "inspector-debug-entries",
        "Corresponding debug events in multiple iterations of the model must have the same debug "
        "entry values…",
        "must have the same debug entry values",
        r"must have the same debug entry values",
        "ExecuTorch 0.2 and later",
        "An operator has different values in several runs of one ETDump.",
        "'Tensors Debug Data is different' is about the outputs of the whole run.",
        (_OPEN,),
        _INSPECTOR,
    ),
    KnownMessage(
        "inspector-clock",
        "Expected start_time (…) and end_time (…) to be less than 4294967295 …",
        "to be less than 4294967295",
        r"to be less than 4294967295",
        "ExecuTorch 0.3 and later",
        "An event ends before it starts, and its times do not fit 32 bits, so that no counter that "
        "wrapped around explains it. Delegates with a clock of their own do that.",
        "Below 2**32 the Inspector takes the difference for a wrapped counter, off by one.",
        (_OPEN,),
        _INSPECTOR,
    ),
    KnownMessage(
        "inspector-scalar-type",
        "Unsupported scalar type in get_scalar_type_size : 15",
        "Unsupported scalar type in get_scalar_type_size",
        r"Unsupported scalar type in get_scalar_type_size ?: ?(?P<type>\d{1,4})",
        "ExecuTorch 0.2 and later",
        "A logged tensor has a type that the Inspector has no entry for; 15 is bfloat16.",
        "It stops the whole file, though all other tensors could be read.",
        (_OPEN,),
        _UTILS,
    ),
    KnownMessage(
        "inspector-buffer-short",
        "shape '[4, 4]' is invalid for input of size 8",
        "is invalid for input of size",
        r"shape '\[[\d, -]{0,200}\]' is invalid for input of size \d{1,20}",
        "ExecuTorch 0.2 and later",
        "The debug buffer is shorter than the ETDump says: it was made too small before the run, "
        "or belongs to another run.",
        "A file of 0 bytes says 'both buffer length (0)…'.",
        (_OPEN, "make the debug buffer larger, and write the whole of it"),
        _UTILS,
    ),
    KnownMessage(
        "inspector-no-events",
        "No objects to concatenate",
        "No objects to concatenate",
        r"No objects to concatenate",
        "ExecuTorch 0.2 and later",
        "The ETDump has no run with events: the runtime was built without event tracing, or the "
        "dump was written before the model ran.",
        "pandas says this of any empty list.",
        ("build with EXECUTORCH_ENABLE_EVENT_TRACER", _OPEN),
        _INSPECTOR,
    ),
    KnownMessage(
        "inspector-metric",
        "Unsupported distance metric '…'",
        "Unsupported distance metric",
        r"Unsupported distance metric '(?P<metric>[\w ]{1,40})'",
        "ExecuTorch 0.7 and later",
        "calculate_numeric_gap knows MSE, L1 and SNR.",
        "",
        ('inspector.calculate_numeric_gap("MSE")',),
        _INSPECTOR,
    ),
    KnownMessage(
        "mapping-no-handles",
        "No valid debug handles found. Failed to add entry.",
        "No valid debug handles found",
        r"No valid debug handles found",
        "ExecuTorch 0.2 and later",
        "None of the nodes given to insert_delegate_mapping_entry has a debug_handle, or an empty "
        "list was given. A generated identifier is used up all the same.",
        "Handle 0 counts.",
        ("tvmdbg_widgets.executorch.DelegateMappingBuilder  (answers the same)",),
        "executorch/exir/backend/utils.py @ 1.5.1",
    ),
)
