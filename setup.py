"""What is compiled, and how. All else about the package is in pyproject.toml.

A wheel carries the hot modules twice: as Python, which is the reference and what an editable install runs, and compiled
by mypyc, which is what its users run. Compiling is optional, and all modules are compiled or none: without mypy, a C
compiler or Python's headers the wheel is pure, and the build says so in one line.

All modules share one library, so that calls between them are direct, and each has a C file of its own: a compiler needs
little memory, and as many run as there are processors. What was compiled stays in build/native, and a C file is
compiled again when its text or a header of it has changed: one file after a change inside a function, all of them after
a new attribute, function or literal, since the files share their declarations and numbers.

FORETELL_PURE=1 does not try; FORETELL_PURE=0 makes failing an error; unset or empty tries.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import shutil
import sys
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.modified import newer_group

# Hot: the inner loops of matching. Compiled with -O2: all modules of these folders, and others. Plans and explanations
# are made once a subscription, and COLD is seldom called.
HOT_FOLDERS: Final = (
    "broker/engine/dispatch", "broker/engine/executors", "broker/engine/index", "broker/engine/matches",
)  # fmt: skip
HOT_MODULES: Final = (
    "broker/algebra/comparisons.py",
    "broker/algebra/computation.py",
    "broker/algebra/functions.py",
    "broker/algebra/predicate.py",
    "broker/algebra/text_tests.py",
    "broker/engine/disorder/buffer.py",
    "broker/engine/disorder/held_columns.py",
    "broker/engine/engine.py",
    "broker/engine/executors/keyed_runs/column_plan.py",
    "broker/engine/inspection/view.py",
    "broker/engine/parts.py",
    "broker/engine/program/account.py",
    "broker/engine/program/transition.py",
    "broker/events/batch.py",
    "broker/events/column_checks.py",
    "broker/events/event_columns.py",
    "broker/events/joined_columns.py",
    "broker/events/networks.py",
    "broker/events/packed_numbers.py",
    "broker/events/packed_rows.py",
    "broker/events/row_columns.py",
    "broker/events/short_texts.py",
    "broker/events/text_automaton.py",
    "broker/events/text_codes.py",
    "broker/events/text_condition.py",
    "broker/events/text_operators.py",
    "broker/events/validation.py",
    "broker/events/wildcards.py",
    "broker/forecast/model_page.py",
    "broker/forecast/packed_outcomes.py",
)
COLD: Final = (
    "broker/engine/dispatch/punctuation.py",
    "broker/engine/dispatch/symbols.py",
    "broker/engine/dispatch/time_order.py",
    "broker/engine/executors/groups/making.py",
    "broker/engine/executors/keyed_runs/waiting.py",
    "broker/engine/executors/kleene/plan_template.py",
    "broker/engine/executors/sequence_trie/dump.py",
    "broker/engine/executors/speculative/family_automaton.py",
    "broker/engine/executors/speculative/lines.py",
    "broker/engine/executors/speculative/merging.py",
    "broker/engine/executors/speculative/saving.py",
    "broker/engine/executors/speculative/wait_states.py",
)
# Warm: executed for each result, message, forecast or registration, and what hot modules call now and then. Compiled
# with -O1, which takes half the time and costs them a few percent.
WARM: Final = (
    "broker/engine/batches.py",
    "broker/engine/compiler/query_compiler.py",
    "broker/engine/compiler/recently_used.py",
    "broker/engine/compiler/foretold.py",
    "broker/engine/compiler/templates.py",
    "broker/engine/disorder/joined.py",
    "broker/engine/disorder/readers.py",
    "broker/engine/disorder/reordering.py",
    "broker/engine/disorder/revising_groups.py",
    "broker/engine/disorder/watermarks.py",
    "broker/engine/dispatch/derived.py",
    "broker/engine/dispatch/registrations.py",
    "broker/engine/dispatch/registry.py",
    "broker/engine/executors/keyed_runs/dump.py",
    "broker/engine/executors/keyed_runs/program.py",
    "broker/engine/executors/kleene/branches.py",
    "broker/engine/executors/kleene/event_log.py",
    "broker/engine/executors/kleene/negation_index.py",
    "broker/engine/executors/kleene/numbered_matches.py",
    "broker/engine/executors/kleene/pending.py",
    "broker/engine/executors/kleene/runs.py",
    "broker/engine/executors/kleene/shared_pasts.py",
    "broker/engine/executors/kleene/tables.py",
    "broker/engine/executors/reference/arcs.py",
    "broker/engine/executors/reference/interpreter.py",
    "broker/engine/executors/reference/machine.py",
    "broker/engine/executors/reference/run.py",
    "broker/engine/executors/sequence_trie/items.py",
    "broker/engine/executors/sequence_trie/machine.py",
    "broker/engine/executors/speculative/constants.py",
    "broker/engine/executors/speculative/kept.py",
    "broker/engine/executors/speculative/operations.py",
    "broker/engine/executors/tuple_counts/cell_store.py",
    "broker/engine/executors/tuple_counts/kept_times.py",
    "broker/engine/executors/tuple_counts/progress.py",
    "broker/engine/executors/tuple_counts/runner.py",
    "broker/engine/forecasts/listening.py",
    "broker/engine/forecasts/progress.py",
    "broker/engine/forecasts/registry.py",
    "broker/engine/forecasts/subscription.py",
    "broker/engine/index/witness.py",
    "broker/engine/match.py",
    "broker/engine/ordinals.py",
    "broker/engine/program/directory.py",
    "broker/engine/program/program.py",
    "broker/engine/program/recipient.py",
    "broker/engine/program/target.py",
    "broker/engine/program/watcher.py",
    "broker/engine/results.py",
    "broker/engine/shares.py",
    "broker/engine/subscribing/catalog.py",
    "broker/engine/subscribing/holdings.py",
    "broker/engine/subscribing/entering.py",
    "broker/engine/subscribing/leaving.py",
    "broker/engine/subscribing/subscriber.py",
    "broker/engine/subscribing/suspensions.py",
    "broker/events/names.py",
    "broker/forecast/calibration.py",
    "broker/forecast/chain.py",
    "broker/forecast/columns.py",
    "broker/forecast/combination.py",
    "broker/forecast/context_chain.py",
    "broker/forecast/contexts.py",
    "broker/forecast/counts.py",
    "broker/forecast/forecaster.py",
    "broker/forecast/horizon.py",
    "broker/forecast/inter_arrival.py",
    "broker/forecast/isotonic.py",
    "broker/forecast/joint.py",
    "broker/forecast/judging.py",
    "broker/forecast/key_state.py",
    "broker/forecast/keyed_stream.py",
    "broker/forecast/learning_observer.py",
    "broker/forecast/level.py",
    "broker/forecast/model_form.py",
    "broker/forecast/notifying.py",
    "broker/forecast/packing.py",
    "broker/forecast/passage.py",
    "broker/forecast/pending.py",
    "broker/forecast/progress.py",
    "broker/forecast/series.py",
    "broker/forecast/states.py",
    "broker/forecast/subscription.py",
    "broker/forecast/uncertainty.py",
    "broker/forecast/verification.py",
    "broker/kernel/accounts.py",
    "broker/kernel/admission.py",
    "broker/kernel/attachments.py",
    "broker/kernel/clock_guard.py",
    "broker/kernel/clock_punctuation.py",
    "broker/kernel/cursor.py",
    "broker/kernel/cursors.py",
    "broker/kernel/deadlines.py",
    "broker/kernel/deferral.py",
    "broker/kernel/delivery.py",
    "broker/kernel/distribution.py",
    "broker/kernel/inputs_and_effects.py",
    "broker/kernel/intake.py",
    "broker/kernel/kernel.py",
    "broker/kernel/named_counts.py",
    "broker/kernel/publishing.py",
    "broker/kernel/receipts.py",
    "broker/kernel/recent_events.py",
    "broker/kernel/session_requests.py",
    "broker/kernel/sessions.py",
    "broker/language/shapes.py",
    "broker/language/wording.py",
    "broker/server/admission_queue.py",
    "broker/server/coalescing.py",
    "broker/server/durability_gate.py",
    "broker/server/durations.py",
    "broker/server/loop.py",
    "broker/server/output_gate.py",
    "broker/server/receiver.py",
    "broker/server/router.py",
    "broker/server/scheduler.py",
    "broker/server/sender.py",
    "broker/server/slice_sizer.py",
    "broker/wire/change_messages.py",
    "broker/wire/codec.py",
    "broker/wire/session_messages.py",
    "broker/wire/shapes.py",
    "broker/wire/stream_messages.py",
    "broker/wire/subscription_messages.py",
)
ONCE: Final = re.compile(r"(__init__|explanation|.*_plan)\.py")
IN_FOLDERS: Final = sorted(
    path.as_posix() for folder in HOT_FOLDERS for path in Path(folder).rglob("*.py") if not ONCE.fullmatch(path.name)
)
HOT: Final = (*HOT_MODULES, *(path for path in IN_FOLDERS if path not in WARM and path not in COLD))
MODULES: Final = (*HOT, *WARM)
COMPILER: Final = "mypy>=2.4,<2.5"  # its run-time library, librt, is a dependency: raise both together
# A build says whether the modules can be compiled; `make types` whether they are strictly typed, with all stubs there.
MYPY: Final = ("--config-file=", "--ignore-missing-imports", "--follow-imports=silent")
# Only a library's entry point is visible from outside, so that calls inside it are direct.
FLAGS: Final = ("-g0", "-fvisibility=hidden") if os.name == "posix" else ()
LINKING: Final = ("-Wl,-s",) if sys.platform == "linux" else ()
SECONDS: Final = 200  # of a processor, for all
# Included first in each C file. Where containers are nested deeply, the interpreter defers the release of what is
# inside, and links it through the collector's header. mypyc lets it do so with objects of acyclic classes, which have
# no such header: the memory in front of them would be overwritten. From 3.13 on the limit is the C stack's.
RELEASE: Final = """\
#include <Python.h>
#ifdef Py_TRASHCAN_BEGIN_CONDITION
#undef Py_TRASHCAN_BEGIN
#define Py_TRASHCAN_BEGIN(op, dealloc) \\
    Py_TRASHCAN_BEGIN_CONDITION(op, PyType_IS_GC(Py_TYPE(op)) && Py_TYPE(op)->tp_dealloc == (destructor)(dealloc))
#endif
"""

WEAK: Final = re.compile(r"^ *\.tp_weaklistoffset = .*\n", re.MULTILINE)

PURE: Final = os.environ.get("FORETELL_PURE") == "1"
REQUIRED: Final = os.environ.get("FORETELL_PURE") == "0"
# Metadata needs no compiler, and an editable install is pure: what is edited is what runs.
BUILDS: Final = not {"bdist_wheel", "build_ext", "install"}.isdisjoint(sys.argv)
KEPT: Final = Path("build/native")
TARGET: Final = f"{KEPT}/{sys.implementation.cache_tag}"


def given_up(reason: object) -> None:
    """Say why the build is pure, in one line, or fail with it."""
    if REQUIRED:
        sys.exit(f"foretell: not compiled, which FORETELL_PURE=0 asks for: {reason}")
    print(f"foretell: not compiled, the wheel is pure Python: {reason}", file=sys.stderr)


def require_compiler() -> None:
    """Look before the C sources are generated, which takes half a minute. Raises FileNotFoundError for what is missing.

    Microsoft's compiler has no name here; it is looked for when it is used.
    """
    command = shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC") or "")[:1]
    header = Path(sysconfig.get_path("include"), "Python.h")
    if command and shutil.which(command[0]) is None:
        raise FileNotFoundError(f"there is no C compiler {command[0]!r}")
    if not header.exists():
        raise FileNotFoundError(f"there is no {header} (on Debian: apt install python3-dev)")


def announce() -> None:
    """Say what takes so long: on the terminal, since pip shows nothing that a build prints."""
    line = (
        f"foretell: compiling {len(MODULES)} modules, about {SECONDS // workers()} s on {workers()} processors"
        " (FORETELL_PURE=1 skips it: pure Python, some ten times slower)"
    )
    try:
        with open("/dev/tty", "w", encoding="utf-8") as terminal:
            print(f"\n{line}", file=terminal)
    except OSError:  # no terminal, or another system
        print(line, file=sys.stderr, flush=True)


def workers() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def extensions() -> list[Extension]:
    """The generated C sources; none if it cannot or need not be compiled."""
    if PURE or not BUILDS:
        return []
    try:
        from mypyc.build import mypycify

        require_compiler()
        announce()
        found: list[Extension] = mypycify(
            [*MYPY, f"--cache-dir={KEPT / 'mypy'}", *MODULES],
            group_name="broker.native",
            multi_file=True,
            opt_level="2",
            target_dir=TARGET,
        )
    except Exception as error:  # no mypy in the build environment, no compiler, or a fault of its own
        given_up(error)
        return []
    except SystemExit:  # how mypyc ends when mypy finds a mistake, after it has printed which
        given_up("mypy refuses the sources, see above")
        return []
    header = Path(TARGET, "release.h")
    if not header.exists() or header.read_text() != RELEASE:
        header.write_text(RELEASE)
    for extension in found:
        extension.extra_compile_args = [*extension.extra_compile_args, *FLAGS, *including(header)]
        extension.extra_link_args = [*LINKING]
        extension.include_dirs.append(f"{TARGET}/broker")  # the C files include the group's headers by bare names
    return found


class Compilation(build_ext):  # type: ignore[misc]  # setuptools has no types
    """All extensions or none: one without the others fails to import. They are made in a folder that is kept, and
    copied from there into the wheel."""

    build_lib: str
    extensions: list[Extension]

    def run(self) -> None:
        asked = self.build_lib
        kept = KEPT / f"{sys.implementation.cache_tag}-{fingerprint(self.extensions)}"
        self.build_lib, self.build_temp = str(kept / "lib"), str(kept / "objects")
        try:
            super().run()
        except Exception as error:  # whatever a missing or unfit compiler raises: an installation must not fail by it
            given_up(error)
            self.extensions = self.distribution.ext_modules = []
            self.distribution.get_command_obj("bdist_wheel").root_is_pure = True  # what its file name says
        made, self.build_lib = self.get_outputs(), asked
        for source, target in zip(made, self.get_outputs()):
            self.mkpath(str(Path(target).parent))
            shutil.copy2(source, target)

    def build_extensions(self) -> None:
        """Compile what has changed, the largest first, as many at once as there are processors; then link."""
        compiler: Any = self.compiler
        self.parallel = workers()
        tasks: dict[str, tuple[Any, ...]] = {}
        for extension in self.extensions:
            files, include = extension.sources, extension.include_dirs
            _, objects, _, options, sources = compiler._setup_compile(self.build_temp, None, include, files, [], [])
            arguments = compiler._get_cc_args(options, self.debug, None)
            for name in objects:
                if newer_group([sources[name][0], *extension.depends], name):
                    flags = [*extension.extra_compile_args, *level(sources[name][0])]
                    source, suffix = sources[name]
                    tasks[name] = (unreferenced(source), suffix, arguments, flags, options)
        with ThreadPoolExecutor(self.parallel) as pool:
            by_size = sorted(tasks, key=lambda name: -Path(tasks[name][0]).stat().st_size)
            for _ in pool.map(lambda name: compiler._compile(name, *tasks[name]), by_size):
                pass
        compiler.compile = lambda sources, output_dir, **_: compiler.object_filenames(sources, output_dir=output_dir)
        super().build_extensions()


def including(header: Path) -> tuple[str, ...]:
    """How a compiler is told to include a file first."""
    return ("-include", str(header)) if os.name == "posix" else (f"/FI{header}",)


def level(source: str) -> tuple[str, ...]:
    """The level of optimisation of a C file, where it is not the default: a warm module, or what only loads one."""
    path = Path(source)
    module = path.stem.removeprefix("__native_").replace("___", "/")
    if os.name != "posix" or (path.parent == Path(TARGET) and f"{module}.py" not in WARM):
        return ()
    return ("-O0",) if path.stem == module else ("-O1",)


def unreferenced(source: str) -> str:
    """The C file, or one beside it whose objects take no weak references. mypyc lets those of a class with a base in
    Python take some, but releases them as if they were its own, and does not tell them when an object has gone."""
    text = Path(source).read_text(encoding="utf-8")
    if WEAK.search(text) is None:
        return source
    made = Path(source).with_suffix(".unreferenced.c")
    made.write_text(WEAK.sub("", text), encoding="utf-8")
    return str(made)


def fingerprint(built: list[Extension]) -> str:
    """Differs where objects of another compiler or other flags must not be used again."""
    compiler = [os.environ.get(name) for name in ("CC", "CFLAGS", "LDFLAGS")]
    settings = (HOT, compiler, sysconfig.get_config_vars("CC", "CFLAGS"), [e.extra_compile_args for e in built[:1]])
    return hashlib.sha256(repr(settings).encode()).hexdigest()[:8]


if BUILDS:
    for leftover in (*Path("build").glob("lib*"), *Path("build").glob("bdist*")):
        shutil.rmtree(leftover)  # setuptools ships all that it finds there, also of other days
setup(
    ext_modules=extensions(),
    cmdclass={"build_ext": Compilation},
    setup_requires=[] if PURE else [COMPILER],  # asked for by the front end; pyproject.toml could not leave it out
)
