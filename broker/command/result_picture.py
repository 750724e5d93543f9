"""A picture of what a run has found (`run --plot FILE.svg`): matches over time, a row a key, and forecasts below them.

A match is a bar from its first event to its last, in the colour of its subscription. A forecast is a point at its
probability. Rows are the values of the stream's key, as far as results show it: in their values, or in their events
(`--with-events`); other results have a row for each subscription. Needs matplotlib, the extra `plot`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from datetime import datetime
from pathlib import Path
from typing import Any, Final, final

from ..events.time_unit import as_datetime
from .complaint import BadInput, escaped

ROWS_MAX: Final = 40
"""The keys with the most matches have a row each; the others share the last one."""
BARS_MAX: Final = 20_000
"""So many results are drawn; the title says how many there were."""
OTHERS: Final = "others"


@final
class ResultPicture:
    """A sink of results that keeps what is drawn, and draws it when it is closed.

    `keys`: the attributes that divide streams. Raises BadInput if the picture cannot be written.
    """

    def __init__(self, file: Path, keys: Collection[str]) -> None:
        if file.suffix.lower() not in (".svg", ".png", ".pdf"):
            found = file.suffix or "no suffix"
            raise BadInput(f"{file}: expected a name that ends in .svg, .png or .pdf, found {found}")
        if not file.absolute().parent.is_dir():
            raise BadInput(f"{file}: expected a folder that exists, found none of the name {file.parent}")
        try:
            import matplotlib  # noqa: F401  # whether it is there
        except ImportError:
            raise BadInput(
                f"{file}: drawing needs matplotlib, which is not installed: pip install 'foretell[plot]'"
            ) from None
        self._file = file
        self._keys = tuple(keys)
        self._matches: list[tuple[str, str, int, int]] = []  # row, subscription, start, end
        self._forecasts: list[tuple[str, int, float]] = []  # subscription, time, probability
        self._count = 0

    def write(self, lines: list[dict[str, Any]]) -> None:
        """Take results."""
        for line in lines:
            kind = line["kind"]
            if kind == "match":
                self._count += 1
                if len(self._matches) < BARS_MAX:
                    name = line["subscription"]
                    self._matches.append((self._row(line, name), name, line["start"], line["end"]))
            elif kind == "forecast" and len(self._forecasts) < BARS_MAX:
                self._forecasts.append((line["subscription"], line["time"], line["probability"]))

    def flush(self) -> None:
        """The picture is drawn at the end."""

    def close(self) -> None:
        """Draw the picture. O(results kept)."""
        from matplotlib import rc_context
        from matplotlib.figure import Figure

        counts = Counter(row for row, _, _, _ in self._matches)
        rows = sorted(row for row, _ in counts.most_common(ROWS_MAX))
        if len(counts) > len(rows):
            rows.append(OTHERS)
        place = {row: at for at, row in enumerate(rows)}
        names = sorted({name for _, name, _, _ in self._matches} | {name for name, _, _ in self._forecasts})
        colours = {name: f"C{at % 10}" for at, name in enumerate(names)}
        below = bool(self._forecasts)
        figure = Figure(figsize=(11, 1.6 + 0.24 * max(len(rows), 4) + 1.8 * below), layout="constrained")
        ratios = [max(len(rows), 4), 6] if below else [1]
        axes = figure.subplots(len(ratios), 1, sharex=True, squeeze=False, gridspec_kw={"height_ratios": ratios})[:, 0]
        calendar = self._calendar()
        for name in names:
            own = [match for match in self._matches if match[1] == name]
            levels = [place.get(row, len(rows) - 1) for row, _, _, _ in own]
            begun = [_moment(start, calendar) for _, _, start, _ in own]
            ended = [_moment(end, calendar) for _, _, _, end in own]
            if own:
                axes[0].hlines(levels, begun, ended, colors=colours[name], linewidth=3, alpha=0.6)
                axes[0].plot(ended, levels, "|", color=colours[name], markersize=9, label=escaped(name))
            told = [(_moment(time, calendar), chance) for each, time, chance in self._forecasts if each == name]
            if told:
                axes[1].plot(*zip(*told), ".", color=colours[name], label=escaped(name))
        shown = f"{self._count:,} matches"
        if self._count > len(self._matches):
            shown += f", the first {len(self._matches):,} drawn"
        axes[0].set_title(shown, loc="left", fontsize=10)
        axes[0].set_yticks(range(len(rows)), [escaped(row) for row in rows], fontsize=8)
        axes[0].margins(y=0.05)
        axes[0].grid(axis="x", alpha=0.3)
        if self._matches:
            axes[0].legend(loc="upper left", bbox_to_anchor=(1, 1), fontsize=8, frameon=False)
        if below:
            axes[1].set_ylabel("forecast", fontsize=8)
            axes[1].set_ylim(0, 1)
            axes[1].grid(alpha=0.3)
        axes[-1].tick_params(axis="x", labelsize=8)
        axes[-1].set_xlabel("" if calendar else "microseconds", fontsize=8)
        metadata = {"Date": None} if self._file.suffix.lower() == ".svg" else None  # equal runs draw equal files
        with rc_context({"svg.hashsalt": "foretell"}):
            figure.savefig(self._file, metadata=metadata)

    def _row(self, line: dict[str, Any], name: str) -> str:
        """The value of a key that a match shows, else its subscription."""
        events = [event for event in line.get("events", ()) if event is not None]
        for values in (line["data"], *(event["data"] for event in events[:1])):
            for key in self._keys:
                for each in (key, f"{key}_1"):
                    if values.get(each) is not None:
                        return str(values[each])
        return name

    def _calendar(self) -> bool:
        """Whether times are drawn as dates: those of a clock that starts at zero are numbers."""
        times = [time for _, _, *times in self._matches for time in times] + [time for _, time, _ in self._forecasts]
        return bool(times) and min(times) > 10**14 and as_datetime(max(times)) is not None


def _moment(time: int, calendar: bool) -> datetime | int:
    return (as_datetime(time) or time) if calendar else time
