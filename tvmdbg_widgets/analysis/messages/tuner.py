"""What Ansor, AutoTVM and MetaSchedule print of trials that failed, each in its own words.

``MeasureErrorNO`` of Ansor: python/tvm/auto_scheduler/measure.py @ v0.7 to v0.19. Why a whole
log fails is said by ``open_tuning(…).findings()``, which sees how the errors are spread.
"""

from __future__ import annotations

from tvmdbg_widgets.analysis.messages.message import KnownMessage
from tvmdbg_widgets.model.tuning.measure_errors import MeasureError

_SOURCE = "python/tvm/auto_scheduler/measure.py @ v0.8"
_AUTOTVM = "python/tvm/autotvm/measure/measure_methods.py @ v0.7"
_METASCHEDULE = "python/tvm/meta_schedule/{builder/local_builder,runner/local_runner}.py @ v0.9"
_FINDINGS = "tvmdbg tuning summary ansor.json  (why trials failed, by how the errors are spread)"


_OF_AUTOTVM = "tvmdbg tuning summary autotvm.log  (why trials failed, by how the errors are spread)"
_OF_METASCHEDULE = (
    "tvmdbg tuning summary work_dir  (its database: how many trials of each task failed)"
)

#: Begins "Skipped because of …", also where a terminal cut its first word.
_SKIPPED = r"S(?:k(?:ip?[\s]|ip)|k?[\s])"


def _error(error: MeasureError, cause: str, tell: str) -> KnownMessage:
    return KnownMessage(
        f"tuner-{error.name.lower().replace('_', '-')}",
        f"error_type:{error.label}",
        error.label,
        rf"\b{error.label}\b(?![(:])",
        "v0.7 to v0.19",
        f"Ansor: {cause[0].lower()}{cause[1:]}",
        tell,
        (_FINDINGS, f"tvmdbg tuning errors ansor.json  (error {int(error)} by task)"),
        _SOURCE,
    )


def _autotvm(error: MeasureError, cause: str, tell: str) -> KnownMessage:
    number = int(error)
    return KnownMessage(
        f"autotvm-{error.name.lower().replace('_', '-')}",
        f"MeasureResult(costs=(…), error_no={number}, all_cost=…, timestamp=…)",
        "error_no=",
        rf"\berror_no=(?:<?MeasureErrorNo\.{error.name}\b|{number}\b)",
        "v0.6 to v0.19",
        cause,
        tell,
        (_OF_AUTOTVM, f"tvmdbg tuning errors autotvm.log  (error {number} by task)"),
        _AUTOTVM,
    )


MESSAGES = (
    _error(
        MeasureError.INSTANTIATION_ERROR,
        "The steps of a schedule could not be applied to the compute DAG.",
        "It comes from the builder, before anything is compiled.",
    ),
    _error(
        MeasureError.COMPILE_HOST,
        "Lowering or compiling failed, or the process that built died.",
        "Where all_cost is exactly the build timeout, the process died; elsewhere the compiler "
        "refused the program.",
    ),
    _error(
        MeasureError.COMPILE_DEVICE,
        "The program could not be loaded: uploading failed, the remote session ended, or the "
        "device does not take the kernel.",
        "It comes before the first run.",
    ),
    _error(
        MeasureError.RUNTIME_DEVICE,
        "Running failed. With the RPC runner of v0.8 and later this is also a run timeout: the "
        "session is ended, and the log cannot tell it from a crash.",
        "all_cost at or above the run timeout (10 s by default) means a timeout, far below it a "
        "crash.",
    ),
    _error(
        MeasureError.BUILD_TIMEOUT,
        "A build took longer than the builder's timeout (15 s by default). Several tunings on one "
        "host, or fewer usable cores than n_parallel, slow all builds down until none is in time.",
        "Spread over all tasks: too many builds at once. In one task alone: its programs are slow "
        "to compile. At large auto_unroll_max_step alone: unrolled code.",
    ),
    _error(
        MeasureError.RUN_TIMEOUT,
        "A run took longer than the runner's timeout (10 s by default).",
        "LocalRunner writes it; the RPC runner of v0.8 and later writes RuntimeDeviceError "
        "instead.",
    ),
    KnownMessage(
        "tuner-no-valid-schedule",
        "Cannot find any valid schedule for … in file …",
        "Cannot find any valid schedule",
        r"Cannot find any valid schedule",
        "v0.7 to v0.19",
        "Ansor: every trial of the task failed, or the log has none of this task: the key, the "
        "target or the hardware parameters differ.",
        "",
        ("tvmdbg tuning tasks ansor.json", _FINDINGS),
        "python/tvm/auto_scheduler/search_task.py @ v0.8",
    ),
    KnownMessage(
        "autotvm-invalid-gpu-kernel",
        "Skipped because of invalid gpu kernel",
        "Skipped because of invalid gpu kernel",
        r"Skipped because of invalid gpu kernel",
        "v0.6 to v0.19",
        "AutoTVM refused the program before it was compiled: it takes more threads a block or more "
        "shared memory than the device has.",
        "A usual share of the configs of a GPU template. Where all trials of a task say it, no "
        "config of the template fits the device, or the limits were asked of another device.",
        (_OF_AUTOTVM, "tvmdbg tuning errors autotvm.log  (error 1 by task)"),
        "python/tvm/autotvm/measure/measure_methods.py (gpu_verify_pass) @ v0.7",
    ),
    KnownMessage(
        "autotvm-instantiation-error",
        "InstantiationError(…)",
        "InstantiationError",
        rf"\bInstantiationError(?:\((?![\"\'\\\\]{{0,2}}{_SKIPPED})|: (?!{_SKIPPED}))",
        "v0.6 to v0.19",
        "AutoTVM: the template refused the config.",
        "The text behind it is what the template says. It comes from the builder, before anything "
        "is compiled.",
        (_OF_AUTOTVM, "tvmdbg tuning errors autotvm.log  (error 1 by task)"),
        _AUTOTVM,
    ),
    _autotvm(
        MeasureError.COMPILE_HOST,
        "AutoTVM: lowering or compiling failed; the text of the exception is among the costs.",
        "The builder's own timeout is error 6.",
    ),
    _autotvm(
        MeasureError.RUNTIME_DEVICE,
        "AutoTVM: running failed, the RPC session ended, or the process that built died.",
        "all_cost of exactly the builder's timeout (10 s by default) means that the process died; "
        "one above the runner's timeout, a run that took too long.",
    ),
    _autotvm(
        MeasureError.BUILD_TIMEOUT,
        "AutoTVM: a build took longer than the builder's timeout (10 s by default).",
        "Spread over all tasks: too many builds at once. In one task alone: its programs are slow "
        "to compile.",
    ),
    _autotvm(
        MeasureError.RUN_TIMEOUT,
        "AutoTVM: a run took longer than the runner's timeout (10 s by default), or its process "
        "died.",
        "A timeout of the RPC session alone is error 4.",
    ),
    KnownMessage(
        "metaschedule-build-timeout",
        "LocalBuilder: Timeout, killed after …",
        "LocalBuilder: Timeout",
        r"\bLocalBuilder: Timeout, killed after",
        "v0.9 and later",
        "MetaSchedule: a build took longer than ms.builder.LocalBuilder(timeout_sec=30) allows.",
        "In most tasks: too many builds at once (max_workers). In one: its programs are slow to "
        "compile.",
        ("ms.builder.LocalBuilder(max_workers=…, timeout_sec=…)", _OF_METASCHEDULE),
        _METASCHEDULE,
    ),
    KnownMessage(
        "metaschedule-run-timeout",
        "LocalRunner: Timeout, killed after …",
        "Runner: Timeout",
        r"\b(?:Local|RPC)Runner: Timeout, killed after",
        "v0.9 and later",
        "MetaSchedule: a run took longer than the runner allows.",
        "The database records it as any other failure, without a reason.",
        ("ms.runner.LocalRunner(timeout_sec=…)", _OF_METASCHEDULE),
        _METASCHEDULE,
    ),
    KnownMessage(
        "metaschedule-trial-error",
        "[Task #…] Trial #…: Error in building:",
        ": Error in ",
        r"\] Trial #[0-9]{1,9}: Error in (?P<step>building|running):",
        "v0.9 and later",
        "MetaSchedule: a trial failed, in building or in running. Older releases print both as an "
        "error in building; v0.25 tells them apart.",
        "The next line says which: it begins with LocalBuilder, LocalRunner or RPCRunner.",
        ("work_dir/logs has such texts for each task", _OF_METASCHEDULE),
        _METASCHEDULE,
    ),
    KnownMessage(
        "tuner-no-devices",
        "Cannot get remote devices from the tracker. Please check the status of tracker by …",
        "Cannot get remote devices from the tracker",
        r"Cannot get remote devices from the tracker",
        "v0.5 to v0.19",
        "The tracker gave no device within the time allowed: none is registered under this key, "
        "all are taken, or the tracker cannot be reached.",
        "Look at the tracker's table: no row for the key is a device that is not registered, or "
        "under another name; a row with free 0 one that another process holds. It comes before "
        "anything is measured.",
        (
            "python -m tvm.exec.query_rpc_tracker --host HOST --port 9190",
            "python -m tvm.exec.rpc_server --tracker=HOST:9190 --key=KEY  (on the device)",
        ),
        "python/tvm/autotvm/measure/measure_methods.py, auto_scheduler/measure.py @ v0.8",
    ),
    KnownMessage(
        "tracker-no-device",
        "Cannot request … after 5 retry, last_error:…",
        " retry, last_error",
        r"(?:Cannot request|Failed to run on) (?P<key>[\w./:-]{1,80}) after (?P<times>\d{1,6}) "
        r"retry, last_error",
        "v0.5 and later",
        "A device that the tracker named could not be connected to, or a function failed on it, so "
        "many times.",
        "'Cannot get remote devices' means that the tracker named none. What stands behind "
        "last_error is the reason.",
        ("python -m tvm.exec.query_rpc_tracker --host HOST --port 9190",),
        "python/tvm/rpc/client.py @ v0.8",
    ),
    KnownMessage(
        "tuner-fallback",
        "Cannot find config for target=…, workload=(…). A fallback configuration is used, which …",
        "Cannot find config for target",
        r"Cannot find config for target="
        r"(?:(?P<target>[^\n]{1,300}?), workload=(?:\('(?P<workload>[\w.]{1,80})')?)?",
        "v0.5 to v0.19",
        "AutoTVM's log has no record for this workload and target: the operator is compiled with a "
        "default schedule. It is right and may be slow.",
        "A warning where 'A fallback configuration is used' follows, an error where not. The log "
        "was not applied (autotvm.apply_history_best), or its target differs in -model or -keys, "
        "or dtype, layout or shape differ: compare the workload with those of the log.",
        ("tvmdbg tuning tasks autotvm.log", "with tvm.autotvm.apply_history_best(log): …"),
        "python/tvm/autotvm/task/dispatcher.py @ v0.8",
    ),
    KnownMessage(
        "tuner-no-records",
        "Cannot find tuning records for: target=… key=… TVM will apply a default schedule which …",
        "Cannot find tuning records for",
        r"Cannot find tuning records for:(?:\s{1,20}target=(?P<target>[^\n]{1,300}))?",
        "v0.8 to v0.19",
        "AutoTVM's log has no record for this workload and target: the operator is compiled with a "
        "default schedule. It is right and may be slow.",
        "The log was not applied (autotvm.apply_history_best), or its target differs in -model or "
        "-keys, or dtype, layout or shape differ: compare the key with those of the log.",
        ("tvmdbg tuning tasks autotvm.log", "with tvm.autotvm.apply_history_best(log): …"),
        "python/tvm/autotvm/task/dispatcher.py @ v0.8",
    ),
)
