"""Gives compiled classes of the public interface the docstrings and annotations of their source.

A compiled method has a C wrapper that knows the names of its parameters, but neither its text nor its types. The source
lies beside it; its methods are put into Python functions that call the compiled ones. Pure classes have all that.
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

_Class = TypeVar("_Class", bound=type[Any])


def documented(compiled: _Class) -> _Class:
    """The same class, with docstrings, names and annotations for `help` and `inspect`. O(source).

    Does nothing to a class that is not compiled, or whose source is missing.
    """
    module = sys.modules[compiled.__module__]
    place = getattr(module, "__file__", None)
    if place is None or place.endswith(".py"):
        return compiled
    source = Path(place).with_name(f"{compiled.__module__.rpartition('.')[2]}.py")
    try:
        tree = ast.parse(source.read_text(encoding="utf-8"))
    except (OSError, SyntaxError):
        return compiled
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name == compiled.__name__:
            compiled.__doc__ = ast.get_docstring(node)
            for member in node.body:
                if isinstance(member, ast.FunctionDef) and not member.name.startswith("_"):
                    _document(compiled, member)
                elif isinstance(member, ast.FunctionDef) and member.name == "__init__":
                    parameters = list(_signature(member).parameters.values())
                    compiled.__signature__ = inspect.Signature(parameters[1:])
    return compiled


def _document(compiled: type[Any], member: ast.FunctionDef) -> None:
    decorators = {ast.unparse(each) for each in member.decorator_list}
    if any(each.endswith((".setter", ".deleter")) for each in decorators):
        return
    text = ast.get_docstring(member)
    if "property" in decorators:
        getter = compiled.__dict__[member.name].__get__

        def of_object(self: Any) -> Any:
            return getter(self)

        named = _named(of_object, compiled, member)
        setattr(compiled, member.name, property(named, doc=text))
    elif "classmethod" in decorators:
        known = compiled.__dict__[member.name]

        def of_class(cls: type[Any], *arguments: Any, **options: Any) -> Any:
            return known.__get__(None, cls)(*arguments, **options)

        setattr(compiled, member.name, classmethod(_named(of_class, compiled, member)))
    elif not decorators:
        setattr(compiled, member.name, _named(_calling(getattr(compiled, member.name)), compiled, member))


def _calling(method: Callable[..., Any]) -> Callable[..., Any]:
    def call(self: Any, *arguments: Any, **options: Any) -> Any:
        return method(self, *arguments, **options)

    return call


def _named(function: Callable[..., Any], compiled: type[Any], member: ast.FunctionDef) -> Callable[..., Any]:
    signature = _signature(member)
    function.__name__ = member.name
    function.__qualname__ = f"{compiled.__name__}.{member.name}"
    function.__module__ = compiled.__module__
    function.__doc__ = ast.get_docstring(member)
    function.__signature__ = signature  # type: ignore[attr-defined]  # what inspect reads
    named = {name: each.annotation for name, each in signature.parameters.items() if each.annotation is not each.empty}
    function.__annotations__ = named | {"return": signature.return_annotation}
    return function


def _signature(member: ast.FunctionDef) -> inspect.Signature:
    """The signature as the source has it: annotations are text, and defaults that are names are their text, too."""
    arguments = member.args
    given = [*arguments.posonlyargs, *arguments.args]
    defaults: list[ast.expr | None] = [None] * (len(given) - len(arguments.defaults))
    parameters = []
    for each, default in zip(given, [*defaults, *arguments.defaults]):
        parameters.append(_parameter(each, default, inspect.Parameter.POSITIONAL_OR_KEYWORD))
    if arguments.vararg is not None:
        parameters.append(_parameter(arguments.vararg, None, inspect.Parameter.VAR_POSITIONAL))
    for each, default in zip(arguments.kwonlyargs, arguments.kw_defaults):
        parameters.append(_parameter(each, default, inspect.Parameter.KEYWORD_ONLY))
    returned = inspect.Signature.empty if member.returns is None else ast.unparse(member.returns)
    return inspect.Signature(parameters, return_annotation=returned)


def _parameter(each: ast.arg, default: ast.expr | None, kind: Any) -> inspect.Parameter:
    empty = inspect.Parameter.empty
    annotation = empty if each.annotation is None else ast.unparse(each.annotation)
    value = empty if default is None else _value(default)
    return inspect.Parameter(each.arg, kind, default=value, annotation=annotation)


def _value(default: ast.expr) -> Any:
    try:
        return ast.literal_eval(default)
    except ValueError:
        return _Named(ast.unparse(default))


class _Named(str):
    """A default that the source names."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)
