"""Law: what is compiled, and when. All else about the package is in pyproject.toml.

A wheel carries the hot modules twice: as Python, which is the reference and what an editable install runs, and compiled
by mypyc, which is what its users run. Compiling is optional, and all modules are compiled or none: without mypy, a C
compiler or Python's headers the wheel is pure, and the build says so in one line.

FORETELL_PURE=1 does not try; FORETELL_PURE=0 makes failing an error; unset or empty tries.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Final

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

# Hot: executed for each event, run, result or message; and what those call, so that the calls are compiled too.
HOT: Final = (
    "broker/algebra/computation.py",
    "broker/algebra/functions.py",
    "broker/algebra/predicate.py",
    "broker/engine/batches.py",
    "broker/engine/boxes.py",
    "broker/engine/bulk.py",
    "broker/engine/cells.py",
    "broker/engine/composites/composed.py",
    "broker/engine/composites/feeding.py",
    "broker/engine/composites/lanes.py",
    "broker/engine/directory.py",
    "broker/engine/engine.py",
    "broker/engine/family.py",
    "broker/engine/forecasts/combination.py",
    "broker/engine/forecasts/joint.py",
    "broker/engine/forecasts/judging.py",
    "broker/engine/forecasts/outlook.py",
    "broker/engine/forecasts/pace.py",
    "broker/engine/forecasts/progress.py",
    "broker/engine/forecasts/registry.py",
    "broker/engine/forecasts/scope.py",
    "broker/engine/forecasts/serial.py",
    "broker/engine/forecasts/states.py",
    "broker/engine/forecasts/track.py",
    "broker/engine/index/arcs.py",
    "broker/engine/index/axis.py",
    "broker/engine/index/columns.py",
    "broker/engine/index/intervals.py",
    "broker/engine/index/ranges.py",
    "broker/engine/index/scaled.py",
    "broker/engine/index/spaces.py",
    "broker/engine/index/substrings.py",
    "broker/engine/kleene/buffer.py",
    "broker/engine/kleene/cell.py",
    "broker/engine/kleene/columns.py",
    "broker/engine/kleene/completions.py",
    "broker/engine/kleene/family.py",
    "broker/engine/kleene/found.py",
    "broker/engine/kleene/gathered.py",
    "broker/engine/kleene/gauges.py",
    "broker/engine/kleene/groups.py",
    "broker/engine/kleene/lanes.py",
    "broker/engine/kleene/machine.py",
    "broker/engine/kleene/numbers.py",
    "broker/engine/kleene/packed.py",
    "broker/engine/kleene/pending.py",
    "broker/engine/kleene/registers.py",
    "broker/engine/kleene/replay.py",
    "broker/engine/kleene/route.py",
    "broker/engine/kleene/run.py",
    "broker/engine/kleene/runs.py",
    "broker/engine/kleene/shadows.py",
    "broker/engine/kleene/stacks.py",
    "broker/engine/kleene/tables.py",
    "broker/engine/kleene/telling.py",
    "broker/engine/kleene/track.py",
    "broker/engine/match.py",
    "broker/engine/ordered.py",
    "broker/engine/program.py",
    "broker/engine/recipes.py",
    "broker/engine/results.py",
    "broker/engine/shares.py",
    "broker/engine/subscriber.py",
    "broker/engine/target.py",
    "broker/engine/trace.py",
    "broker/engine/transition.py",
    "broker/engine/tuples/archive.py",
    "broker/engine/tuples/cell_tables.py",
    "broker/engine/tuples/cells.py",
    "broker/engine/tuples/completion.py",
    "broker/engine/tuples/machine.py",
    "broker/engine/tuples/runner.py",
    "broker/engine/tuples/slots.py",
    "broker/engine/tuples/stores.py",
    "broker/engine/tuples/window_stacks.py",
    "broker/engine/tuples/window_sums.py",
    "broker/engine/tuples/window_tables.py",
    "broker/engine/tuples/windows.py",
    "broker/engine/watcher.py",
    "broker/engine/words/items.py",
    "broker/engine/words/terms.py",
    "broker/engine/words/words.py",
    "broker/events/validation.py",
    "broker/forecast/calibration.py",
    "broker/forecast/chain.py",
    "broker/forecast/choice.py",
    "broker/forecast/contexts.py",
    "broker/forecast/counts.py",
    "broker/forecast/forecaster.py",
    "broker/forecast/horizon.py",
    "broker/forecast/isotonic.py",
    "broker/forecast/level.py",
    "broker/forecast/notifying.py",
    "broker/forecast/passage.py",
    "broker/forecast/pending.py",
    "broker/forecast/uncertainty.py",
    "broker/kernel/accounts.py",
    "broker/kernel/admission.py",
    "broker/kernel/attachments.py",
    "broker/kernel/boundary.py",
    "broker/kernel/cursor.py",
    "broker/kernel/cursors.py",
    "broker/kernel/deadlines.py",
    "broker/kernel/delivery.py",
    "broker/kernel/distribution.py",
    "broker/kernel/intake.py",
    "broker/kernel/kernel.py",
    "broker/kernel/publishing.py",
    "broker/kernel/sessions.py",
    "broker/kernel/taken.py",
    "broker/kernel/waiting.py",
    "broker/server/durations.py",
    "broker/server/joining.py",
    "broker/server/kept_kernel.py",
    "broker/server/line.py",
    "broker/server/loop.py",
    "broker/server/pace.py",
    "broker/server/requests.py",
    "broker/server/router.py",
    "broker/wire/codec.py",
    "broker/wire/messages.py",
    "broker/wire/shapes.py",
)
# A build says whether the modules can be compiled; `make types` whether they are strictly typed, with all stubs there.
MYPY: Final = ("--config-file=", "--ignore-missing-imports", "--follow-imports=silent", "--cache-dir=build/mypy")

PURE: Final = os.environ.get("FORETELL_PURE") == "1"
REQUIRED: Final = os.environ.get("FORETELL_PURE") == "0"
# Metadata needs no compiler, and an editable install is pure: what is edited is what runs.
BUILDS: Final = not {"bdist_wheel", "build_ext", "install"}.isdisjoint(sys.argv)


def given_up(reason: object) -> None:
    """Say why the build is pure, in one line, or fail with it."""
    if REQUIRED:
        sys.exit(f"foretell: not compiled, which FORETELL_PURE=0 asks for: {reason}")
    print(f"foretell: not compiled, the wheel is pure Python: {reason}", file=sys.stderr)


def extensions() -> list[Extension]:
    """The generated C sources; none if it cannot or need not be compiled. To compile them takes minutes."""
    if PURE or not BUILDS:
        return []
    try:
        from mypyc.build import mypycify

        return list(mypycify([*MYPY, *HOT], group_name="broker.native", opt_level="3"))
    except Exception as error:  # no mypy in the build environment, or a fault of its own
        given_up(error)
    except SystemExit:  # how mypyc ends when mypy finds a mistake, after it has printed which
        given_up("mypy refuses the sources, see above")
    return []


class Compilation(build_ext):  # type: ignore[misc]  # setuptools has no types
    """All extensions or none: each is a stub of the first, the library, and fails to import without it."""

    def run(self) -> None:
        try:
            super().run()
        except Exception as error:  # whatever a missing or unfit compiler raises: an installation must not fail by it
            given_up(error)
            for path in self.get_outputs():
                Path(path).unlink(missing_ok=True)
            self.extensions = self.distribution.ext_modules = []
            self.distribution.get_command_obj("bdist_wheel").root_is_pure = True  # what its file name says


if BUILDS:
    shutil.rmtree("build", ignore_errors=True)  # setuptools ships all that it finds there, also of other days
setup(ext_modules=extensions(), cmdclass={"build_ext": Compilation})
