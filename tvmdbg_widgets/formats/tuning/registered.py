"""Functions that ``register_workload`` registers, from the source of their module.

A user's module is read as data: parsed, never imported and never executed. What is understood of
it is in `te/`.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tvmdbg_widgets.formats.tuning.te.interpreter import Interpreter
from tvmdbg_widgets.formats.tuning.te.library import Library
from tvmdbg_widgets.formats.tuning.te.names import Dotted, Function, Names, imported
from tvmdbg_widgets.formats.tuning.te.scalars import NotUnderstoodError
from tvmdbg_widgets.formats.tuning.te.tensors import Program, Tensor
from tvmdbg_widgets.formats.tuning.te.topi import Topi
from tvmdbg_widgets.model.base.errors import FormatError
from tvmdbg_widgets.model.base.text import one_line
from tvmdbg_widgets.model.tuning.dag import ComputeDag, DagSource

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_LONGEST = 1 << 20
_REGISTER = "register_workload"
_FOUND = 200


@dataclass(frozen=True)
class RegisteredWorkload:
    """A registered function."""

    name: str
    file: str
    line: int
    _module: ast.Module
    _function: ast.FunctionDef

    def dag(
        self,
        args: Sequence[Any],
        source: DagSource = DagSource.REGISTERED,
        release: tuple[int, int] = (0, 8),
    ) -> ComputeDag:
        """Return the DAG that the function describes for the arguments of a key."""
        program = Program()
        topi = Topi(program, release)
        interpreter = Interpreter(Library(program, topi).find, topi.broadcast)
        try:
            names = _module_names(self._module, interpreter)
            values = [_argument(each, program) for each in args]
            returned = interpreter.call(Function(self._function, names), values)
            return program.dag(_tensors(returned), source)
        except NotUnderstoodError as problem:
            raise self._error(f"{self.name} is not understood", interpreter.line, problem) from None
        except RecursionError:
            raise self._error("nested too deep", self.line, "") from None

    def _error(self, problem: str, line: int, found: object) -> FormatError:
        return FormatError(
            problem,
            file=f"{self.file}, line {line}",
            found=one_line(str(found))[:_FOUND] or None,
            hint="Give the DAG's text, repr(task.compute_dag), instead.",
        )


def read_registered(
    source: str, file: str = "the module of registered workloads"
) -> Mapping[str, RegisteredWorkload]:
    """Find the functions that a module registers, by decorator or call."""
    if len(source) > _LONGEST:
        raise FormatError(
            "too long for a module of workloads",
            file=file,
            expected=f"at most {_LONGEST:,} characters",
            found=f"{len(source):,}",
        )
    try:
        module = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as problem:
        line = getattr(problem, "lineno", None)
        where = file if line is None else f"{file}, line {line}"
        raise FormatError(
            "this is no Python that can be read", file=where, found=_why(problem)
        ) from None
    functions = {each.name: each for each in module.body if isinstance(each, ast.FunctionDef)}
    found = {}
    for name, function in _registered(module, functions):
        found[name] = RegisteredWorkload(name, file, function.lineno, module, function)
    return found


def _registered(
    module: ast.Module, functions: Mapping[str, ast.FunctionDef]
) -> list[tuple[str, ast.FunctionDef]]:
    found = []
    for function in functions.values():
        for decorator in function.decorator_list:
            call = decorator if isinstance(decorator, ast.Call) else None
            if _is_register(decorator if call is None else call.func):
                found.append((_given_name(call) or function.name, function))
    for statement in module.body:
        match statement:
            case ast.Expr(ast.Call() as call) if _is_register(call.func):
                named = functions.get(_function_name(call))
                if named is not None:
                    found.append((_given_name(call) or named.name, named))
    return found


def _is_register(node: ast.expr) -> bool:
    return (isinstance(node, ast.Name) and node.id == _REGISTER) or (
        isinstance(node, ast.Attribute) and node.attr == _REGISTER
    )


def _given_name(call: ast.Call | None) -> str:
    """Return the name that a call registers under, empty for the function's own."""
    named = {each.arg: each.value for each in call.keywords} if call is not None else {}
    first = call.args[0] if call is not None and call.args else named.get("func_name")
    return str(first.value) if isinstance(first, ast.Constant) else ""


def _function_name(call: ast.Call) -> str:
    named = {each.arg: each.value for each in call.keywords}
    for each in (*call.args, named.get("f"), named.get("func_name")):
        if isinstance(each, ast.Name):
            return each.id
    return ""


def _module_names(module: ast.Module, interpreter: Interpreter) -> Names:
    """Return what a module's names mean; what is not understood there is left out."""
    common = {name: Dotted(f"tvm.{name}") for name in ("te", "topi", "tir", "auto_scheduler")}
    names = Names(dict(common))
    for statement in module.body:
        match statement:
            case ast.Import() | ast.ImportFrom():
                names.own.update(imported(statement))
            case ast.FunctionDef():
                names.own[statement.name] = Function(statement, names)
            case ast.Assign() | ast.AnnAssign():
                try:
                    interpreter.run([statement], names)
                except NotUnderstoodError:
                    continue
    return names


def _argument(value: Any, program: Program) -> Any:
    if isinstance(value, list | tuple):
        if len(value) == 3 and value[0] == "TENSOR":
            return program.placeholder(value[1], "placeholder", value[2])
        return tuple(_argument(each, program) for each in value)
    return value


def _tensors(returned: Any) -> list[Tensor]:
    found = list(returned) if isinstance(returned, tuple) else [returned]
    if not found or not all(isinstance(each, Tensor) for each in found):
        raise NotUnderstoodError("the function returns what are no tensors")
    return found


def _why(problem: Exception) -> str:
    if isinstance(problem, RecursionError | MemoryError):
        return "code that is nested too deep"
    return one_line(getattr(problem, "msg", None) or str(problem))[:_FOUND]
