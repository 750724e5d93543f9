"""Law: how a client's batch is admitted, recognised, recorded and answered; how it becomes events is publishing's."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import final

from ..wire import Expired, Publish, Published, Refusal
from .accounts import Account
from .admission import Admission
from .deadlines import check_deadline
from .matcher import Matcher, Result
from .publishing import take
from .records import Record
from .taken import Taken


@final
class Intake:
    """What is told to `record` has been taken, and is answered with a receipt that promises `durability`."""

    __slots__ = ("_admission", "_counts", "_durability", "_matcher", "_record", "taken")

    def __init__(
        self, matcher: Matcher, admission: Admission, taken: Taken, durability: str, record: Callable[[Record], None]
    ) -> None:
        self._matcher = matcher
        self._admission = admission
        self._durability = durability
        self._record = record
        self._counts = {"batches": 0, "batches_repeated": 0, "batches_expired": 0, "events_refused_late": 0}
        self.taken = taken

    def publish(self, account: Account, batch: Publish, now: int) -> tuple[Published, Iterable[Result]]:
        """The answer, and the results. Raises ForetellErrors, having changed nothing."""
        account.user.check("publish", batch.stream)
        self._admission.check_known(account.user, batch.stream, self._matcher.streams)
        # Whatever somebody calls itself: nobody can use up the numbers of another user.
        publisher = None if batch.publisher is None else f"{account.user.name}/{batch.publisher}"
        if publisher is not None and batch.number is not None:
            known = self.taken.receipt(publisher, batch.number)
            if known is not None:
                self._counts["batches_repeated"] += 1
                return self._answer(batch, known), ()
        try:
            check_deadline(batch.deadline, now)
        except Expired:
            self._counts["batches_expired"] += 1
            raise
        account.check_rate(now)
        record, results = take(self._matcher, batch, publisher, self.taken.events + 1, now)
        account.spend(len(batch.rows), now)
        if record.rows:
            self._record(record)
            published = self.taken.note(record, self._matcher.now)
        else:  # nothing has changed: a repetition finds the same
            refused = tuple([Refusal(*each) for each in record.refused])
            published = Published(0, 0, self._matcher.now, None, refused)
        self._counts["batches"] += 1
        self._counts["events_refused_late"] += len(published.refused)
        return self._answer(batch, published), results

    def _answer(self, batch: Publish, published: Published) -> Published:
        return replace(published, correlation=batch.correlation, durability=self._durability)

    def statistics(self) -> dict[str, int]:
        """Of all batches."""
        return {**self.taken.statistics(), **self._counts}
