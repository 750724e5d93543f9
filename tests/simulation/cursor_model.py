"""What a cursor is, said slowly: ids in order, what is done, what was set aside; from the records alone."""

from __future__ import annotations

from typing import Any, Final

from broker.kernel.records import CursorAdded, CursorMoved, CursorPlaced, CursorSetAside, DeadLettersSettled

CursorRecord = CursorAdded | CursorMoved | CursorPlaced | CursorSetAside | DeadLettersSettled


class CursorModel:
    """One incarnation. Positions are those of `ids`, from 1 on. `reached`: up to where it was ever acknowledged;
    `set_aside`: what was ever a dead letter."""

    def __init__(self, added: CursorAdded) -> None:
        self.added: Final = added
        self.forgotten = False
        self.ids: list[str] = []
        self.done: set[int] = set()
        self.first = 1
        self.letters: dict[int, str] = {}
        self.set_aside: set[int] = set()
        self.reached = 0

    @property
    def acknowledged(self) -> int:
        position = 0
        while position + 1 in self.done:
            position += 1
        return position

    def find(self, ids: list[str]) -> None:
        for each in ids:
            self.ids.append(each)
            self.fit()

    def fit(self) -> None:
        while len(self.ids) - max(self.acknowledged, self.first - 1) > self.added.notifications:
            self.first += 1
        while self.acknowledged - self.first + 1 > self.added.retain:
            self.first += 1

    def take(self, record: CursorRecord) -> None:
        match record:
            case CursorMoved(position=None):
                self.forgotten = True
            case CursorMoved(position=int(position)):
                self.done.update(range(1, position + 1))
            case CursorPlaced(position=position):
                aside = {*self.letters, *(each for each in self.done if each > self.acknowledged)}
                self.done = {each for each in aside & self.done if each > position} | set(range(1, position + 1))
            case CursorSetAside(position=position, reason=reason):
                assert position not in self.done, "acknowledged, and set aside"
                self.set_aside.add(position)
                self.done.add(position)
                self.letters[position] = reason
                while len(self.letters) > self.added.letters:
                    del self.letters[next(iter(self.letters))]
            case DeadLettersSettled(positions=positions, again=again):
                for position in positions:
                    del self.letters[position]
                    if again:
                        self.find([self.ids[position - 1]])
        self.reached = max(self.reached, self.acknowledged)
        self.fit()


class CursorModels:
    """All cursors of one name that there were, by incarnation; `others` of another name have incarnations, too."""

    def __init__(self, others: str) -> None:
        self.all: dict[int, CursorModel] = {}
        self.others = others
        self.made = 0

    @property
    def living(self) -> CursorModel | None:
        newest = next(reversed(self.all.values()), None)
        return None if newest is None or newest.forgotten else newest

    def take(self, record: CursorRecord) -> None:
        if isinstance(record, CursorAdded):
            self.made += 1
        if record.cursor.rpartition("/")[2] == self.others:
            return
        if isinstance(record, CursorAdded):
            assert self.living is None
            self.all[self.made] = CursorModel(record)
        else:
            assert self.living is not None
            self.living.take(record)

    def find(self, lines: list[dict[str, Any]]) -> None:
        if self.living is not None:
            self.living.find([line["id"] for line in lines])
