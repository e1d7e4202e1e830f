"""What ExecuTorch's runtime and its backends say of a program that they cannot run.

runtime/executor/method.cpp, runtime/kernel/operator_registry.cpp, runtime/core/error.h and
runtime/core/portable_type/tensor_impl.cpp of ExecuTorch: releases are those whose Python packages
(0.2.1 to 1.5.1) hold the text. Lines of QNN are those of Qualcomm's SDK.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from tvmdbg_widgets.analysis.messages.message import KnownMessage

if TYPE_CHECKING:
    from collections.abc import Mapping

_METHOD = "executorch/runtime/executor/method.cpp @ 0.2.1 to 1.5.1"
_REGISTRY = "executorch/runtime/kernel/operator_registry.cpp @ 0.2.1 to 1.5.1"
_TENSOR = "executorch/runtime/core/portable_type/tensor_impl.cpp @ 0.2.1 to 1.5.1"
_ERRORS = "executorch/runtime/core/error.h @ 0.4.0 to 1.5.1"
_PYBINDINGS = "executorch/extension/pybindings/pybindings.cpp @ 0.2.1 to 1.5.1"
_VERSIONS = "ExecuTorch 0.2 and later"
_SHOW = "tvmdbg summary model.pte  (its operators and backends)"
_OPERATORS = (
    "print(executorch.runtime.Runtime.get().operator_registry.operator_names)  (0.4 and later)"
)
_BACKENDS = (
    "print(executorch.runtime.Runtime.get().backend_registry.registered_backend_names)"
    "  (0.6 and later)"
)
_INPUTS = "print(tensor.shape, tensor.dtype)  (of each input)"
_OPERATOR = r"(?P<operator>\w[\w:.]{0,120}\w)"
#: All have two digits at most; what follows may be the next line.
_STATUS = r"(?P<status>0x:?[0-9a-fA-F]{1,2}|\d{1,3}(?!\d))"
_NUMBER = re.compile(r"(?P<hex>0x(?:\\n|[ :\t])*)?(?P<digits>[0-9a-f]{1,8})", re.IGNORECASE)

#: What failed, before the number of the error.
_STEP = (
    r"(?:(?:[Ll]oading|[Ee]xecution) of method [\w.]{1,80}"
    r"|[Ll]oading (?:method [\w.]{1,80}|program)"
    r"|method->\w{1,40}\(\)(?: for method '[\w.]{1,80}')?"
    r"|execution plan for method '[\w.]{1,80}'|Method execution|ExecuTorch forward\(\)"
    r"|[Ll]oad_?[Bb]undled_?[Ii]nput)"
)

#: What ``Error`` in runtime/core/error.h @ 1.5.1 has under each number.
_STATUSES: Final = {
    0x01: "Internal: a fault within the runtime or a backend; the lines above it say which.",
    0x02: "InvalidState: a call out of order, such as running before the inputs are set.",
    0x03: "EndOfMethod: no step of the method is left to run.",
    0x04: "AlreadyLoaded: what was to be loaded is loaded already.",
    0x10: "NotSupported: often a tensor that is static, or would be larger than its bound.",
    0x11: "NotImplemented: this build lacks the function.",
    0x12: "InvalidArgument: often an input of another dtype, shape or number than at export.",
    0x13: "InvalidType: a value is of another kind than the program expects.",
    0x14: "OperatorMissing: the runtime was built without a kernel that the program calls.",
    0x15: "RegistrationExceedingMaxKernels: more kernels are linked in than the registry holds.",
    0x16: "RegistrationAlreadyRegistered: a kernel is linked in twice.",
    0x20: "NotFound: a backend is not linked in, or there is no such method or data file.",
    0x21: "MemoryAllocationFailed: an arena or the method's allocator is too small.",
    0x22: "AccessFailed: a file could not be read.",
    0x23: "InvalidProgram: the file is damaged, or of another version than the runtime.",
    0x24: "InvalidExternalData: a data file (.ptd) does not fit the program.",
    0x25: "OutOfResources: a resource of the system is used up.",
    0x30: "DelegateInvalidCompatibility: the backend does not take what it was compiled to.",
    0x31: "DelegateMemoryAllocationFailed: the backend is out of memory.",
    0x32: "DelegateInvalidHandle: the backend lost what it had set up.",
}


def which_status(facts: Mapping[str, str]) -> list[str]:
    """Return a sentence on the number of an error, or nothing where it is not known."""
    told = _NUMBER.fullmatch(facts.get("status", ""))
    if told is None or not (told["hex"] or told["digits"].isdecimal()):
        return []
    number = int(told["digits"], 16 if told["hex"] else 10)
    meant = _STATUSES.get(number)
    return [f"{number:#x} is {meant}"] if meant else []


MESSAGES = (
    KnownMessage(
        "executorch-missing-operator",
        "Missing operator: [4] aten::…",
        "Missing operator",
        rf"Missing operator: \[-?\d{{1,9}}\] {_OPERATOR}",
        _VERSIONS,
        "The program calls an operator for which the runtime was built without a kernel: a kernel "
        "library is not linked in, or a selective build left the operator out.",
        "The number is that of the operator in the program. Loading the method then ends with "
        "status 0x14. 'kernel … not found' above it tells dtypes and dim orders.",
        (
            _SHOW,
            "link the library with the kernel as a whole archive, such as portable_ops_lib",
            _OPERATORS,
        ),
        _METHOD,
    ),
    KnownMessage(
        "executorch-missing-operators",
        "There are 6 instructions don't have corresponding operator registered.",
        "instructions don't have corresponding operator",
        r"There are (?P<count>\d{1,9}) instructions don't have corresponding operator",
        _VERSIONS,
        "So many instructions of the method call operators without a kernel.",
        "'Missing operator' above it names each.",
        (_SHOW,),
        _METHOD,
    ),
    KnownMessage(
        "executorch-kernel-not-found",
        "kernel 'executorch_prim::et_view.default' not found.",
        "not found",
        rf"kernel '{_OPERATOR}' not found",
        _VERSIONS,
        "No kernel of this operator is registered for the dtypes and dim orders in the lines below "
        "it, and none that takes all.",
        "Where the operator's name is registered, a dtype-selective build left this dtype out. "
        "executorch_prim operators come with the runtime: it is older than the program.",
        (_SHOW, "build runtime and program with one release of ExecuTorch"),
        _REGISTRY,
    ),
    KnownMessage(
        "executorch-method-status",
        "Execution of method forward failed with status 0x14",
        "failed with",
        rf"{_STEP} failed with (?:status|error(?: code)?):? {_STATUS}",
        _VERSIONS,
        "Loading or running a method ended with an error of the runtime, given as its number.",
        "The number alone tells little: the runtime's log, which release builds leave out, "
        "has the reason in the lines above it.",
        (
            _SHOW,
            "build with -DEXECUTORCH_ENABLE_LOGGING=ON  (on Android: adb logcat | grep ETLOG)",
        ),
        f"{_ERRORS}; {_PYBINDINGS}",
    ),
    KnownMessage(
        "executorch-load-status",
        "Failed to load method forward, error: 0x14",
        "Failed to",
        r"Failed to (?:load|execute) (?:method (?P<method>[\w.]{1,80})|program), error: " + _STATUS,
        "ExecuTorch 1.0 and later",
        "A method could not be loaded or run; the number is the runtime's error.",
        "Python's bindings write 0x:14 for 0x14. Up to 0.7 it reads 'loading method forward failed "
        "with error 0x14'.",
        (_SHOW,),
        _PYBINDINGS,
    ),
    KnownMessage(
        "executorch-kernel-failed",
        "KernelCall failed at instruction 0:16 in operator aten::le.Tensor_out: 0x12",
        "KernelCall failed at instruction",
        rf"KernelCall failed at instruction (?P<instruction>\d{{1,4}}:\d{{1,9}}) in operator "
        rf"{_OPERATOR}: {_STATUS}",
        _VERSIONS,
        "A kernel refused its arguments while the method ran: shapes, dtypes or dim orders that it "
        "does not take, or an output that cannot get its size.",
        "'Check failed (…)' above it says what was refused. The lines below list the arguments by "
        "kind; 1 is a tensor.",
        (_INPUTS, _SHOW),
        _METHOD,
    ),
    KnownMessage(
        "executorch-delegate-failed",
        "CALL_DELEGATE execute failed at instruction 6: 0x10",
        "CALL_DELEGATE execute failed",
        rf"CALL_DELEGATE execute failed at instruction (?P<instruction>\d{{1,9}}): {_STATUS}",
        _VERSIONS,
        "A backend failed while it ran its part of the program.",
        "The backend's own lines above it say why. 'Failed to resize output tensor for "
        "XNNExecutor' is an output whose shape is not the one that was planned.",
        (_INPUTS, _SHOW),
        _METHOD,
    ),
    KnownMessage(
        "executorch-input",
        "Error setting input 0: 0x10",
        "Error setting input",
        rf"Error setting input (?P<index>\d{{1,4}}): {_STATUS}",
        "ExecuTorch 0.2 to 0.7",
        "An input has another shape or dtype than the method was exported for.",
        "The number of the input counts from 0.",
        (_INPUTS, _SHOW),
        _METHOD,
    ),
    KnownMessage(
        "executorch-backend-not-registered",
        "Backend XnnpackBackend is not registered.",
        "is not registered",
        r"\bBackend (?P<backend>[A-Z]\w{0,60}?) is not registered",
        _VERSIONS,
        "A part of the program was lowered to a backend that the runtime was built without, or "
        "whose library the linker dropped, since nothing refers to it.",
        "Loading the method then ends with status 0x20. 'is not available' means instead that the "
        "backend is there and its driver is not.",
        (
            _SHOW,
            "link the backend as a whole archive, such as xnnpack_backend (Apple: -force_load)",
            _BACKENDS,
        ),
        _METHOD,
    ),
    KnownMessage(
        "executorch-backend-not-available",
        "Backend … is not available.",
        "is not available",
        r"\bBackend (?P<backend>[A-Z]\w{0,60}?) is not available",
        _VERSIONS,
        "The backend is linked in and says that it cannot run here: its driver or device is "
        "missing.",
        "'is not registered' means that it is not linked in.",
        (_SHOW,),
        _METHOD,
    ),
    KnownMessage(
        "executorch-backend-init",
        "Init failed for backend QnnBackend: 0x1",
        "Init failed for backend",
        rf"Init failed for backend (?P<backend>\w{{1,60}}): {_STATUS}",
        _VERSIONS,
        "A backend refused its part of the program while the method was loaded.",
        "The backend's own lines above it say why.",
        (_SHOW,),
        _METHOD,
    ),
    KnownMessage(
        "executorch-resize-static",
        "Attempted to resize a static tensor. Expected shape (1, 3), but received (1, 4).",
        "Attempted to resize a static tensor",
        r"Attempted to resize a static tensor(?: to a new shape at dimension (?P<axis>\d{1,3})"
        r" old_size: (?P<old>\d{1,20}) new_size: (?P<new>\d{1,20})"
        r"|\. Expected shape (?P<expected>\([\d, ]{0,200}\)), but received "
        r"(?P<received>\([\d, ]{0,200}\)))?",
        _VERSIONS,
        "The method was exported for one shape and was given another: its memory is planned for "
        "that shape.",
        "It ends with status 0x10. 'a bounded tensor' was exported with dynamic shapes, and the "
        "input is larger than their bound.",
        (
            "torch.export.export(model, inputs, dynamic_shapes=…)",
            "resize or pad the input to the exported shape",
        ),
        _TENSOR,
    ),
    KnownMessage(
        "executorch-resize-bounded",
        "Attempted to resize a bounded tensor with a maximum capacity of 8 elements to 12 …",
        "Attempted to resize a bounded tensor",
        r"Attempted to resize a bounded tensor with (?:a maximum )?capacity of (?P<most>\d{1,20})"
        r" elements to (?P<wanted>\d{1,20}) elements",
        "ExecuTorch 0.4 and later",
        "A tensor with dynamic shape became larger than the bound it was exported with.",
        "The bound is max of torch.export.Dim; without it, the size of the example input.",
        ('torch.export.Dim("n", max=…)',),
        _TENSOR,
    ),
    KnownMessage(
        "executorch-resize-rank",
        "Attempted to change the tensor rank which is immutable: old=4, new=3",
        "Attempted to change the tensor rank",
        r"Attempted to change the tensor rank which is immutable: old=(?P<old>\d{1,4}), "
        r"new=(?P<new>\d{1,4})",
        "ExecuTorch 0.4 and later",
        "An input has another number of dimensions than the method was exported for.",
        "Dynamic shapes change sizes, never the number of dimensions: often the batch is missing.",
        ("print(tensor.dim())",),
        _TENSOR,
    ),
    KnownMessage(
        "qnn-skel",
        "Failed to load skel, error: 4000",
        "kel",
        r"Failed to load skel, error: (?P<error>\d{1,9})|Unable to load Skel Library"
        r"|(?:library|open) \"?libQnnHtpV\d{2,3}Skel\.so\"? not found",
        "ExecuTorch with QNN",
        "Qualcomm's library could not load its part for the DSP, libQnnHtpV…Skel.so: it is not "
        "where ADSP_LIBRARY_PATH points, is of another Hexagon version or another QNN release than "
        "libQnnHtp.so, or an app may not use libcdsprpc.so.",
        "The first line of QNN above it tells more: 'qnn_open failed' is a path, a signature or a "
        "permission, 'Skel lib id mismatch' another release. All lines below it follow from it.",
        (
            "adb shell 'ls $ADSP_LIBRARY_PATH'  (libQnnHtpV75Skel.so for Snapdragon 8 Gen 3)",
            'declare <uses-native-library android:name="libcdsprpc.so"/> in the app\'s manifest',
        ),
        "pytorch/executorch issues 2788, 7492, 9084, 15387",
    ),
    KnownMessage(
        "qnn-open",
        "DspTransport.openSession qnn_open failed, 0x80000406",
        "qnn_open failed",
        r"openSession qnn_open failed, (?P<error>0x[0-9a-fA-F]{1,8})",
        "ExecuTorch with QNN",
        "The DSP refused to open QNN's library: the file is not on the path, is not signed for "
        "this device, or the process may not use the DSP.",
        "'Failed to load skel' follows it.",
        ("adb shell 'ls $ADSP_LIBRARY_PATH'", "adb logcat | grep -i -e adsprpc -e fastrpc"),
        "pytorch/executorch issues 2788, 7492",
    ),
)
