"""What Ansor and AutoTVM print of trials that failed.

``MeasureErrorNO``: python/tvm/auto_scheduler/measure.py @ v0.7 to v0.19. Why a whole log fails is
said by ``open_tuning(…).findings()``, which sees how the errors are spread.
"""

from __future__ import annotations

from tvmdbg_widgets.analysis.messages.message import KnownMessage
from tvmdbg_widgets.model.tuning.measure_errors import MeasureError

_SOURCE = "python/tvm/auto_scheduler/measure.py @ v0.8"
_FINDINGS = "tvmdbg tuning summary ansor.json  (why trials failed, by how the errors are spread)"


def _error(error: MeasureError, cause: str, tell: str) -> KnownMessage:
    return KnownMessage(
        f"tuner-{error.name.lower().replace('_', '-')}",
        f"error_type:{error.label}",
        error.label,
        rf"\b{error.label}\b",
        "v0.7 to v0.19",
        cause,
        tell,
        (_FINDINGS, f"tvmdbg tuning errors ansor.json  (error {int(error)} by task)"),
        _SOURCE,
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
        "Every trial of the task failed, or the log has none of this task: the key, the target or "
        "the hardware parameters differ.",
        "",
        ("tvmdbg tuning tasks ansor.json", _FINDINGS),
        "python/tvm/auto_scheduler/search_task.py @ v0.8",
    ),
)
