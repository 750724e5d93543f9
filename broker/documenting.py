"""Gives compiled classes of the public interface the docstrings and annotations of their source.

A compiled method knows the names of its parameters, but neither its text nor its types, and does not say which argument
has a wrong one. The source lies beside it; of each public method this makes a Python function with the same signature
that calls the compiled one. Pure classes have all that. Not here: whether this installation is compiled (build).
"""

from __future__ import annotations

import ast
import inspect
import sys
from abc import ABCMeta, _abc_init  # type: ignore[attr-defined]  # what a class statement calls
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from types import CodeType, FunctionType, MappingProxyType, NoneType
from typing import Any, Final, TypeVar

from .events.errors import DefinitionError, shown

_Class = TypeVar("_Class", bound=type[Any])
_ROOT: Final = Path(__file__).parents[1]  # the folder with the package `broker`
_COMPILED: Final = "_compiled"  # what a made function calls
_REFUSAL: Final = "_refusal"  # and what it raises where that refuses an argument
_KINDS: Final[Mapping[str, type]] = MappingProxyType(
    {"str": str, "int": int, "float": float, "bool": bool, "None": NoneType}
)


def documented(compiled: _Class) -> _Class:
    """The same class, with docstrings, names and annotations for `help` and `inspect`. O(source).

    Does nothing to a class that is not compiled, or whose source is missing.
    """
    module = sys.modules[compiled.__module__]
    place = getattr(module, "__file__", None)
    if place is None or place.endswith(".py"):
        return compiled
    # Not beside `place`: a compiled module that another one has imported may name a folder that there is not.
    source = _ROOT.joinpath(*compiled.__module__.split(".")).with_suffix(".py")
    try:
        tree = ast.parse(source.read_text(encoding="utf-8"))
    except (OSError, SyntaxError):
        return compiled
    _own_instances(compiled)
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name == compiled.__name__:
            compiled.__doc__ = ast.get_docstring(node)
            for member in node.body:
                if isinstance(member, ast.FunctionDef):
                    _document(compiled, member, vars(module))
    return compiled


def _own_instances(compiled: type[Any]) -> None:
    """Have `isinstance` tell its instances from others of its abstract bases, whose answers it would share."""
    if type(compiled) is ABCMeta and "_abc_impl" not in vars(compiled):
        _abc_init(compiled)


def _document(compiled: type[Any], member: ast.FunctionDef, known: dict[str, Any]) -> None:
    decorators = {ast.unparse(each) for each in member.decorator_list}
    if member.name == "__init__":
        parameters = list(inspect.signature(_calling(None, member, compiled, known)).parameters.values())
        compiled.__signature__ = inspect.Signature(parameters[1:])
    elif member.name.startswith("_") or any(each.endswith((".setter", ".deleter")) for each in decorators):
        return
    elif "property" in decorators:
        getter = _calling(compiled.__dict__[member.name].__get__, member, compiled, known)
        setattr(compiled, member.name, property(getter, doc=ast.get_docstring(member)))
    elif "classmethod" in decorators:
        # The compiled method takes the class as a Python one does, once it is taken out of its descriptor.
        bound = compiled.__dict__[member.name].__get__
        called = _calling(lambda cls, *given, **named: bound(None, cls)(*given, **named), member, compiled, known)
        setattr(compiled, member.name, classmethod(called))
    elif not decorators:
        setattr(compiled, member.name, _calling(getattr(compiled, member.name), member, compiled, known))


def _calling(method: Any, member: ast.FunctionDef, compiled: type[Any], known: dict[str, Any]) -> Any:
    """A function with the signature and text of `member` that calls a compiled method.

    It names each parameter: to pass on `*arguments` and `**options` made a publish of one event 15 % slower.
    """
    arguments = member.args
    given: list[ast.expr] = [_name(each) for each in [*arguments.posonlyargs, *arguments.args]]
    if arguments.vararg is not None:
        given.append(ast.Starred(_name(arguments.vararg), ast.Load()))
    named = [ast.keyword(each.arg, _name(each)) for each in arguments.kwonlyargs]
    call = ast.Call(ast.Name(_COMPILED, ast.Load()), given, named)
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    all_given = ast.Dict([ast.Constant(each.arg) for each in every], [_name(each) for each in every])
    refused = ast.Call(ast.Name(_REFUSAL, ast.Load()), [ast.Name("error", ast.Load()), all_given], [])
    handler = ast.ExceptHandler(ast.Name("TypeError", ast.Load()), "error", [ast.Raise(refused, ast.Constant(None))])
    body: list[ast.stmt] = [ast.Try([ast.Return(call)], [handler], [], [])]
    made = ast.FunctionDef(member.name, arguments, body, [], member.returns)
    future = ast.ImportFrom("__future__", [ast.alias("annotations")], 0)
    whole = compile(ast.fix_missing_locations(ast.Module([future, made], [])), f"<{compiled.__qualname__}>", "exec")
    code = next(each for each in whole.co_consts if isinstance(each, CodeType) and each.co_name == member.name)
    texts = {each.arg: ast.unparse(each.annotation) for each in every if each.annotation is not None}
    names = {**known, _COMPILED: method, _REFUSAL: partial(_refusal, dict(texts))}
    function = FunctionType(code, names, member.name)
    function.__defaults__ = tuple([_value(each, known) for each in arguments.defaults])
    only = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    function.__kwdefaults__ = {each.arg: _value(default, known) for each, default in only if default is not None}
    if member.returns is not None:
        texts["return"] = ast.unparse(member.returns)
    function.__annotations__ = texts
    function.__qualname__ = f"{compiled.__qualname__}.{member.name}"
    function.__module__ = compiled.__module__
    function.__doc__ = ast.get_docstring(member)
    return function


def _refusal(expected: Mapping[str, str], error: TypeError, given: Mapping[str, object]) -> Exception:
    """A DefinitionError that names the argument that a compiled method does not take; otherwise the same error."""
    for name, value in given.items():
        kinds = expected.get(name, "Any").split(" | ")
        if all(kind in _KINDS for kind in kinds) and not isinstance(value, tuple(_KINDS[kind] for kind in kinds)):
            return DefinitionError(f"{name}: expected {' or '.join(kinds)}, found {shown(value)}")
    return error


def _value(default: ast.expr, known: dict[str, Any]) -> Any:
    """A default: a literal, or what its module calls by that name."""
    return known[default.id] if isinstance(default, ast.Name) else ast.literal_eval(default)


def _name(parameter: ast.arg) -> ast.Name:
    return ast.Name(parameter.arg, ast.Load())
