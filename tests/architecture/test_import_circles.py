"""No module imports another that needs it, however indirectly; imports for types count, since readers follow them, too.

Layers (test_import_contracts) are about packages; circles of modules inside one layer are found here.
"""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Final

import grimp

ROOT: Final = Path(__file__).parents[2]
PACKAGES: Final = ("broker", "client", "spark_bridge")
KNOWN: Final[tuple[frozenset[str], ...]] = (
    frozenset({
        "broker.forecast.judging",
        "broker.forecast.key_state",
        "broker.forecast.keyed_stream",
        "broker.forecast.learning_observer",
        "broker.forecast.model_page",
        "broker.forecast.packing",
        "broker.forecast.progress",
    }),
)  # fmt: skip
"""Circles that are still to be broken: they may shrink and go, and no module may enter one."""


def circle(imports: dict[str, set[str]], known: tuple[frozenset[str], ...] = ()) -> list[str] | None:
    """One circle of modules other than the known ones, in the order of its imports; None if there is none."""
    place = {module: min(members) for members in known for module in members}
    graph: dict[str, set[str]] = {}
    for module, imported in imports.items():
        at = place.get(module, module)
        graph.setdefault(at, set()).update(place.get(other, other) for other in imported)
        graph[at].discard(at)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(reversed(error.args[1]))
    return None


def imports_of(packages: tuple[str, ...]) -> dict[str, set[str]]:
    """What each module imports; a package's own `__init__` is what its modules make up, not one of them."""
    graph = grimp.build_graph(*packages, cache_dir=None)
    parents = {module.rpartition(".")[0] for module in graph.modules}
    found = {module: graph.find_modules_directly_imported_by(module) for module in sorted(graph.modules)}
    return {
        module: {other for other in imported if not (other in parents and module.startswith(f"{other}."))}
        for module, imported in found.items()
    }


def test_no_modules_import_each_other() -> None:
    assert circle(imports_of(PACKAGES), KNOWN) is None


def test_a_circle_is_named() -> None:
    imports = {"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}}
    found = circle(imports)
    assert found is not None
    assert set(found) == {"b", "c"}
    assert circle(imports, (frozenset({"b", "c"}),)) is None
    assert circle({**imports, "c": {"b", "a"}}, (frozenset({"b", "c"}),)) is not None
