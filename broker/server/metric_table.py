"""The table of metrics: for each figure of the statistics its name, kind, unit and help text. No figure without a row.

Names follow Prometheus: `foretell_`, the group, the figure; counters end in `_total`, times are seconds and end in
`_seconds`, sizes in `_bytes`. `make metrics` writes docs/metrics.md from it. Not here: the text format (metrics.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, final

from ..wire import WHEN_SLOW

COUNTER: Final = "counter"
GAUGE: Final = "gauge"
MICROSECOND: Final = 1e-6


@final
@dataclass(frozen=True, slots=True)
class MetricRow:
    """One metric. `name`: without `foretell_GROUP_` and `_total`; `scale`: by which the figure is multiplied.

    `label`: of a group of names, such as by_stream, whose figures are per name.
    """

    group: str
    figure: str
    kind: Literal["counter", "gauge"]
    help: str
    name: str = ""
    scale: float = 1
    label: str = ""

    @property
    def metric(self) -> str:
        """The metric's name as Prometheus has it."""
        place = self.label or self.group
        return f"foretell_{place}_{self.name or self.figure}" + ("_total" if self.kind == COUNTER else "")


def _rows(group: str, kind: Literal["counter", "gauge"], label: str = "", **helps: str) -> tuple[MetricRow, ...]:
    return tuple([MetricRow(group, figure, kind, text, label=label) for figure, text in helps.items()])


ROWS: Final = (
    *_rows(
        "broker", COUNTER,
        events="Events accepted.",
        batches="Batches of events answered.",
        batches_repeated="Batches that were repeated and answered as the first time.",
        batches_expired="Requests refused because their deadline had passed.",
        events_withdrawn="Events withdrawn.",
        punctuations="Punctuations by clients.",
        clock_punctuations="Punctuations by the broker's clock.",
        gaps="Gaps in the numbers of streams, declared.",
        updates="Changes of the arcs of subscriptions.",
        events_refused_late="Events refused because they were late.",
        events_refused_early="Events refused because they were too far ahead of the clock.",
        events_refused_duplicate="Events refused because another one with their id may still be withdrawn.",
        events_refused_misnumbered="Events refused because their times do not grow with their numbers.",
        results="Results found.",
        retractions="Results withdrawn.",
        notifications_sent="Notifications sent to clients.",
        notifications_missed="Results dropped because a client read too slowly.",
        **{f"notifications_missed_{policy}": f"Of these, with when_slow {policy}." for policy in WHEN_SLOW},
        subscriptions_ended_slow="Subscriptions ended because their client read too slowly.",
        notifications_redelivered="Notifications of cursors that were sent again.",
        results_refused="Results that a reader refused: dead letters.",
        results_given_up="Results set aside after too many deliveries: dead letters.",
        garbled="Frames that are no message.",
        denied="Requests refused for lack of permission.",
        sessions_resumed="Sessions resumed over another connection.",
        sessions_displaced="Sessions of absent clients that made room for others.",
    ),
    *_rows(
        "broker", GAUGE,
        sessions="Connected sessions.",
        sessions_away="Sessions whose client may come back.",
        streams="Declared streams.",
        subscriptions="Subscriptions.",
        attachments="Clients of subscriptions, counted for each subscription.",
        notifications_queued="Notifications that wait for their client.",
        notifications_queued_bytes="Their memory in bytes, estimated.",
        publishers="Publishers whose repetitions would be recognised.",
        receipts_bytes="Memory of their receipts in bytes, estimated.",
        unclocked_streams="Streams that keep the broker's clock from punctuating.",
        cursors="Cursors of durable subscriptions.",
        cursors_backlog="Results of cursors that are not acknowledged.",
        cursors_kept="Results that cursors keep.",
        cursors_kept_bytes="Their memory in bytes, estimated.",
        dead_letters="Dead letters of all cursors.",
        dead_letters_bytes="Their memory in bytes, estimated.",
        dead_letters_dropped="Dead letters dropped for lack of room, of the present cursors.",
        users="Users with an account: connected, or with a rate to pay.",
    ),
    *_rows(
        "by_stream", COUNTER, "stream",
        events="Events accepted, by stream.",
        events_refused="Events refused one by one (late, early, duplicate), by stream.",
    ),
    *_rows(
        "by_subscription", COUNTER, "subscription",
        results="Results found, by subscription.",
        notifications_sent="Notifications sent to clients, by subscription.",
        notifications_missed="Results dropped because a client read too slowly, by subscription.",
    ),
    *_rows(
        "by_subscription", GAUGE, "subscription",
        subscribers="Clients, by subscription.",
        notifications_queued="Notifications that wait for their client, by subscription.",
    ),
    *_rows(
        "engine", COUNTER,
        events="Events matched.",
        matches="Matches found. Compressed ones count once, and so do those of equal subscriptions.",
        runs_begun="Partial matches begun by keyed_runs.",
        speculative_repairs="Corrections of what was found before a late or withdrawn event.",
        overtaken_events="Events of engines with disorder that came after one of a later time.",
    ),
    *_rows(
        "engine", GAUGE,
        streams="Declared streams.",
        published_streams="Streams that subscriptions publish.",
        subscriptions="Subscriptions.",
        suspended="Subscriptions suspended by a limit or a mistake.",
        states="States of merged automata.",
        key_spaces="Attributes by which runs are found.",
        cells="Cells of runs, by key.",
        runs="Partial matches of keyed_runs.",
        groups="Groups of subscriptions that differ in constants.",
        group_members="Their members.",
        group_cells="Their cells, by key.",
        group_events="Events that they keep.",
        terms="Conditions of counted subscriptions.",
        machines="Machines of tuple_counts and sequence_trie.",
        bindings="Their keys.",
        nodes="Nodes of counts and of sequence tries.",
        entries="Entries of counts.",
        patterns="Machines of kleene.",
        pattern_keys="Their keys.",
        pattern_runs="Their partial matches.",
        pattern_waiting="Their matches that wait for time to pass.",
        pattern_negated="Events kept for their negations.",
        speculative="Machines of speculative.",
        speculative_keys="Their keys.",
        speculative_events="Events that they keep.",
        speculative_nodes="Their partial matches.",
        windows="Machines of windows.",
        window_keys="Their keys.",
        window_starts="Their open starts.",
        window_groups="Groups of starts with the same future.",
        window_events="Events that they keep.",
        window_families="Machines of families of windows.",
        family_members="Their members.",
        family_keys="Their keys.",
        family_starts="Their open starts.",
        family_rectangles="Rectangles of starts and members.",
        family_events="Events that they keep.",
        references="Machines of the reference executor.",
        reference_keys="Their keys.",
        reference_runs="Their partial matches.",
        reference_waiting="Their matches that wait for time to pass.",
        reference_log="Events that they keep.",
        buffered_events="Events of disordered streams that are not final.",
        numbers_missing="Numbers that streams with a sequence wait for.",
        numbers_lost="Numbers that can only come late, and are not waited for.",
        promised_regions="Kinds of events that punctuations with predicates tell apart.",
        events_ahead="Events that wait because they are ahead of another stream.",
        revising="Subscriptions that are told before events are final.",
    ),
    MetricRow(
        "engine", "finality_behind", GAUGE, "How far finality is behind the newest event.",
        "finality_behind_seconds", MICROSECOND,
    ),
    *_rows(
        "loop", COUNTER,
        keys_denied="Connections refused for their key.",
        connections_postponed="Connections postponed because too many began.",
        silent_connections_ended="Connections ended because they opened no session.",
        questions="Questions of the console that the loop has answered.",
    ),
    MetricRow(
        "loop", "question_microseconds", COUNTER, "How long the loop was at questions of the console.",
        "question_seconds", MICROSECOND,
    ),
    MetricRow(
        "loop", "question_microseconds_max", GAUGE, "The longest time that one of them took the loop.",
        "longest_question_seconds", MICROSECOND,
    ),
    *_rows(
        "loop", GAUGE,
        uptime_seconds="Seconds since the broker started.",
        waiting="Requests that wait behind a batch.",
        waiting_bytes="Their size in bytes.",
    ),
    *_rows(
        "journal", COUNTER,
        syncs="Times that records were synced to the disk.",
        refused_full="Requests refused because the disk was full.",
        checkpoints_made="Checkpoints made.",
        checkpoints_refused="Checkpoints that could not be made.",
    ),
    *_rows(
        "journal", GAUGE,
        position="The number of the newest record.",
        durable="The number of the newest record that is as safe as promised.",
        first="The number of the oldest record kept.",
        segments="Files of the journal.",
        bytes="Their size in bytes.",
        held="Messages that wait for the disk.",
        checkpoints="Checkpoints kept.",
        checkpoint="The number of the last record in the newest checkpoint.",
    ),
    MetricRow(
        "journal", "checkpoint_held_microseconds", GAUGE, "How long the loop stood still for the last checkpoint.",
        "checkpoint_held_seconds", MICROSECOND,
    ),
)  # fmt: skip

LEFT_OUT: Final = frozenset(
    ("loop", figure)
    for figure in (
        "batches", "request_microseconds", "request_microseconds_p50", "request_microseconds_p99",
        "request_microseconds_max",
    )
)  # fmt: skip
"""Figures that the histogram says better."""

HISTOGRAM: Final = "foretell_publish_seconds"
HISTOGRAM_HELP: Final = "From a batch of events to its answer."
BUILD: Final = "foretell_build_info"
BUILD_HELP: Final = "1; the labels are the version, the build (compiled or pure Python) and the version of Python."
PROCESS: Final = (
    ("process_cpu_seconds_total", COUNTER, "Processor time of the broker."),
    ("process_resident_memory_bytes", GAUGE, "Memory of the broker."),
    ("process_virtual_memory_bytes", GAUGE, "Address space of the broker."),
    ("process_start_time_seconds", GAUGE, "When the broker started, in seconds since 1970."),
    ("process_open_fds", GAUGE, "Open files and connections."),
    ("process_max_fds", GAUGE, "The most that the system allows."),
)
"""What prometheus_client says of the process, on Linux."""
