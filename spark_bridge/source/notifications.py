"""A Spark stream that follows a subscription of a running broker; it delivers each result at least once.

One process beside Spark's driver has the connection to the broker. Whenever Spark asks for the latest offset, the
process receives all results that the broker has, writes them to the spool, and answers with the number of the last.
Partitions carry the rows to the workers, which access neither the broker nor the spool. Between two triggers results
wait in the broker, within its limits; a row of the kind `incomplete` reports where these were exceeded.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, final

from pyspark.sql.datasource import DataSourceStreamReader, InputPartition

from broker.events import DefinitionError, shown, suggestion
from broker.language.names import DEFAULT_LANGUAGE

from .spool import Spool

try:
    from pyspark.sql.streaming.datasource import SupportsTriggerAvailableNow
except ImportError:  # before Spark 4.2

    class SupportsTriggerAvailableNow:  # type: ignore[no-redef]
        """Spark 4.2 calls it before a query that ends with the available data."""


if TYPE_CHECKING:
    import pyarrow

    from client import Client, Subscription

SCHEMA: Final = (
    "subscription string, kind string, id string, start bigint, end bigint, lineage array<bigint>, line string, "
    "time bigint, state bigint, probability double, within string, forecast string, outcome string"
)
"""The columns of results, as in a backtest; `line` is the whole result in JSON."""
_COLUMNS: Final = tuple((name, kind) for name, _, kind in (column.partition(" ") for column in SCHEMA.split(", ")))

OPTIONS: Final = ("path", "address", "subscription", "spool", "query", "language", "keys", "rows")
TRIGGER_ROWS_MAX: Final = 100_000
"""The default of the option `rows`: the most rows of a trigger, which the driver holds in memory."""
PARTITION_ROWS: Final = 10_000


@final
class RowsPartition(InputPartition):
    """Notifications as lines of JSON."""

    def __init__(self, lines: Sequence[str]) -> None:
        super().__init__(list(lines))
        self.lines = list(lines)


@final
class NotificationsReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Follows one subscription. Options: see `check_options`. An offset is the number of earlier notifications."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self._options = check_options(options)
        self._spool: Spool | None = None
        self._client: Client | None = None
        self._subscription: Subscription | None = None
        self._target: int | None = None  # the last offset of a query that ends with the available data

    # --- Spark's interface --------------------------------------------------------------------------------------

    def initialOffset(self) -> dict[str, int]:
        self._subscribed()  # from here on nothing is missed
        # Spark calls this also after it knows of the first rows, and again if its first batch has failed.
        return {"notifications": self._opened().begun}

    def latestOffset(self, start: dict[str, int] | None = None, limit: object = None) -> dict[str, int]:
        """The offset of the newest notification. Spark before 4.2 passes no start, so it covers all there are."""
        spool = self._opened()
        if start is None:
            self._take_in_all()
            return {"notifications": spool.last}
        begun = int(start["notifications"])
        spool.begin_after(begun)
        if self._target is None:
            self._take_in()
        end = spool.last if self._target is None else max(self._target, begun)
        return {"notifications": min(end, begun + self._rows)}

    def prepareForTriggerAvailableNow(self) -> None:
        """Receive what the broker has now, and nothing later."""
        self._take_in_all()
        self._target = self._opened().last

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[InputPartition]:
        lines = self._opened().between(int(start["notifications"]), int(end["notifications"]))
        return [RowsPartition(lines[at : at + PARTITION_ROWS]) for at in range(0, len(lines), PARTITION_ROWS)]

    def read(self, partition: InputPartition) -> Iterator[pyarrow.RecordBatch]:
        if isinstance(partition, RowsPartition) and partition.lines:
            yield rows_of(partition.lines)

    def commit(self, end: dict[str, int]) -> None:
        self._opened().forget(int(end["notifications"]))

    def stop(self) -> None:
        if self._client is not None:
            self._client.close()
        if self._spool is not None:
            self._spool.close()
        self._client = self._subscription = self._spool = None

    # --- the broker ---------------------------------------------------------------------------------------------

    @property
    def _rows(self) -> int:
        return int(self._options.get("rows", TRIGGER_ROWS_MAX))

    def _opened(self) -> Spool:
        if self._spool is None:
            self._spool = Spool(self._options["spool"])
        return self._spool

    def _take_in_all(self) -> None:
        while self._take_in() == self._rows:
            pass

    def _take_in(self) -> int:
        """Write notifications from the broker to the spool, up to `rows`; their number."""
        spool, subscription = self._opened(), self._subscribed()
        assert self._client is not None
        lines: list[str] = []
        before = -1
        while before < len(lines) < self._rows:
            before = len(lines)
            self._client.ping()  # the broker sends notifications, as far as credits allow, before it answers
            while len(lines) < self._rows:
                notification = subscription.poll()
                if notification is None:
                    break
                lines.append(json.dumps(notification.line(), ensure_ascii=False))
        spool.add(lines)
        return len(lines)

    def _subscribed(self) -> Subscription:
        if self._subscription is None:
            from client import DEFAULT_ADDRESS, Client, Reconnect

            options = self._options
            address, keys = options.get("address", DEFAULT_ADDRESS), options.get("keys")
            self._client = Client(address, keys=keys, reconnect=Reconnect())
            language: Any = options.get("language", DEFAULT_LANGUAGE)  # the client judges it
            query = options.get("query")
            self._subscription = self._client.subscribe(options["subscription"], language, query)
        return self._subscription


def check_options(options: Mapping[str, str]) -> dict[str, str]:
    """The options of a stream. Raises DefinitionError.

    `subscription` (its name) and `spool` (a folder of the driver for this query alone) are required. `address`: that of
    the broker; `keys`: the file of the client's keys; `query`, `language`: the text, if the subscription may not exist
    yet; `rows`: the most rows of a trigger.
    """
    found = {name.lower(): value for name, value in options.items()}
    for name in found:
        if name not in OPTIONS:
            hint = suggestion(name, OPTIONS) or f"; expected {', '.join(OPTIONS[1:])}"
            raise DefinitionError(f"unknown option {shown(name)} of a stream of notifications{hint}")
    for name, what in (("subscription", "the name of one"), ("spool", "a folder to keep what Spark has not done with")):
        if not found.get(name):
            raise DefinitionError(f"option {name!r}: expected {what}, found nothing")
    rows = found.get("rows", "1")
    if not rows.isdecimal() or not 1 <= int(rows) < 2**31:
        raise DefinitionError(f"option 'rows': expected 1 or more, found {shown(rows)}")
    return found


def rows_of(lines: Sequence[str]) -> pyarrow.RecordBatch:
    """Notifications as rows of the schema."""
    import pyarrow as pa

    types = {"string": pa.string(), "bigint": pa.int64(), "double": pa.float64(), "array<bigint>": pa.list_(pa.int64())}
    schema = pa.schema([(name, types[kind]) for name, kind in _COLUMNS])
    columns = zip(*(_row(json.loads(line), line) for line in lines))
    return pa.RecordBatch.from_arrays(
        [pa.array(column, field.type) for column, field in zip(columns, schema)], schema=schema
    )


def _row(line: Mapping[str, Any], text: str) -> tuple[Any, ...]:
    values = {name: line.get(name) for name, _ in _COLUMNS}
    values["line"] = text
    if values["within"] is not None:
        values["within"] = str(values["within"])
    outcome = values["outcome"]
    if outcome is not None:
        values["outcome"] = outcome if isinstance(outcome, str) else json.dumps(outcome)
    if values["end"] is None:
        values["end"] = values["time"]
    return tuple(values[name] for name, _ in _COLUMNS)
