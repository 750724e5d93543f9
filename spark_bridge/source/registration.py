"""The data source as Spark knows it: its name, its schemas and its readers."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader
from pyspark.sql.types import StructType

from .histories import JournalReader, reader_of
from .notifications import SCHEMA, NotificationsReader, check_options

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NAME = "foretell"


def register(spark: SparkSession, journals: JournalReader | None = None) -> None:
    """Register `format("foretell")` in a session; a second call replaces the first.

    `journals`: opens the journal of a broker, if folders of journals are to be read, too.
    """

    @final
    class Foretell(DataSource):
        """Reads prepared histories and journals by `read`, the notifications of a broker by `readStream`."""

        @classmethod
        def name(cls) -> str:
            return NAME

        def schema(self) -> StructType | str:
            if "path" in self.options:
                return reader_of(self.options["path"], journals)[1]
            check_options(self.options)
            return SCHEMA

        def reader(self, schema: StructType) -> DataSourceReader:
            return reader_of(self.options.get("path"), journals)[0]

        def streamReader(self, schema: StructType) -> DataSourceStreamReader:
            return NotificationsReader(self.options)

    spark.dataSource.register(Foretell)
