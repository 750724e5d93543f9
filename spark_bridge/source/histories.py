"""Spark's readers of a prepared history, slice by slice in its workers, and of a broker's journal, in one worker.

The bridge does not know the format of a journal: the caller passes a `JournalReader`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeAlias, final

from pyspark.sql.datasource import DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from broker.events import DefinitionError, StreamDefinition

from ..history.form import spark_schema
from ..history.prepared import History

if TYPE_CHECKING:
    import pyarrow


class Journal(Protocol):
    """The events in a broker's journal."""

    @property
    def streams(self) -> Mapping[str, StreamDefinition]:
        """The streams of the events, by name."""
        ...

    def batches(self) -> Iterable[pyarrow.RecordBatch]:
        """The events in the form of a history, in the order of their arrival."""
        ...


JournalReader: TypeAlias = Callable[[str], Journal]
"""Opens the journal in a folder. It must be importable, because a worker calls it. Raises ForetellErrors."""


@final
class SlicePartition(InputPartition):
    """One slice."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


@final
@dataclass(frozen=True, slots=True)
class HistoryReader(DataSourceReader):
    """Reads the slices of a history; a row has the columns of its form."""

    history: History

    def partitions(self) -> list[InputPartition]:
        return [SlicePartition(number) for number in range(len(self.history.slices))]

    def read(self, partition: InputPartition) -> Iterator[pyarrow.RecordBatch]:
        if isinstance(partition, SlicePartition):  # for an empty history Spark makes a partition of its own
            yield from self.history.read(partition.number)


@final
@dataclass(frozen=True, slots=True)
class JournalPartsReader(DataSourceReader):
    """Reads a journal from beginning to end, as one sequence."""

    folder: str
    open: JournalReader

    def partitions(self) -> list[InputPartition]:
        return [InputPartition(0)]

    def read(self, partition: InputPartition) -> Iterator[pyarrow.RecordBatch]:
        yield from self.open(self.folder).batches()


def reader_of(path: str | None, journals: JournalReader | None) -> tuple[DataSourceReader, StructType]:
    """The reader of a folder, and its schema. Raises DefinitionError with the folder if it has neither format."""
    if path is None:
        raise DefinitionError("expected the folder of a prepared history: load(PATH)")
    folder = path.removeprefix("file://")
    try:
        history = History.open(folder)
    except DefinitionError:
        if journals is None or not any(Path(folder).glob("*.journal")):
            raise
        return JournalPartsReader(folder, journals), spark_schema(journals(folder).streams)
    return HistoryReader(history), spark_schema(history.streams)
