"""The question whether P-ToPSS's figure 10 is reproduced: precision of forecasts on its synthetic streams.

Not here: the load (composite_workload), chains and notices (forecasts.synthetic), what the paper says
(forecasts.statements).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Final

from rich.table import Table

from ..composite_workload import Chain, Settings, stream, subscriptions
from ..forecasts.notices import Told
from ..forecasts.showing import whole
from ..forecasts.statements import figure_10
from ..forecasts.synthetic import STEPS, Entries, Occurrences, added, entries, told, trained
from ..measuring import FULL, Effort, Say
from .question import Question

SAMPLED: Final = 100  # of the subscriptions: whose forecasts are looked at
PARTIALS: Final = (
    20,
    40,
    60,
    80,
)  # partial matches a subscription in the test streams; the first is what is trained on
GAUSSIAN: Final = "trained on Gaussian"
TRAINING_SEED, TEST_SEED = 1, 2  # added to the seed of the subscriptions
DECIDING: Final = (1, 3, 10)  # lookaheads in the table


def part(partial: int) -> str:
    return f"{partial} partial matches"


def ask(effort: Effort, say: Say) -> dict[str, Any]:
    """Train on two streams, test on four; all of one seed."""
    quick = effort.subscriptions < FULL.subscriptions
    load = Settings(count=50) if quick else Settings()
    chains = subscriptions(load)
    sampled = chains[:: max(1, len(chains) // SAMPLED)]

    def walked(name: str, settings: Settings) -> tuple[list[Entries], int]:
        say(name)
        occurrences = Occurrences(stream(settings, chains), settings.pool)
        return [entries(chain, occurrences) for chain in sampled], occurrences.length

    training = replace(load, seed=load.seed + TRAINING_SEED)
    uniform, events = walked("training, uniform", training)
    models = [trained(load.length, each, events, max(STEPS)) for each in uniform]
    gaussian, gaussian_events = walked("training, Gaussian", replace(training, partials="gaussian"))
    others = [trained(load.length, each, gaussian_events, max(STEPS)) for each in gaussian]
    tests: dict[str, list[Told]] = {}
    lengths: dict[str, int] = {}
    divergent: list[Told] = []
    for partial in PARTIALS:
        test = replace(load, seed=load.seed + TEST_SEED, partial=partial)
        found, length = walked(f"testing, {part(partial)}", test)
        lengths[part(partial)] = length
        tests[part(partial)] = added([told(load.length, m, each, length) for m, each in zip(models, found)])
        if partial == PARTIALS[0]:
            divergent = added([told(load.length, m, each, length) for m, each in zip(others, found)])
    said = figure_10(part(PARTIALS[0]), tests, divergent)
    cells = [{"part": name, **cell.told()} for name, each in [*tests.items(), (GAUSSIAN, divergent)] for cell in each]
    return {
        "compiled": False,
        "workload": {**asdict(load), "events": {"training": events, **lengths}, "sampled": _sampled(sampled)},
        "cases": [],
        "statements": [asdict(each) for each in said],
        "notices": cells,
    }


def _sampled(chains: Sequence[Chain]) -> dict[str, int]:
    """How many subscriptions were looked at, by the length of the last term, which is what forecasts tell apart."""
    lengths = sorted(len(chain.terms[-1]) for chain in chains)
    return {str(length): lengths.count(length) for length in dict.fromkeys(lengths)}


def table(answer: dict[str, Any]) -> Table:
    shown = Table(caption_justify="left")
    shown.add_column("test stream")
    shown.add_column("N", justify="right")
    thresholds = list(dict.fromkeys(cell["threshold"] for cell in answer["notices"]))
    for threshold in thresholds:
        shown.add_column(f"{threshold:g}", justify="right")
    for name in dict.fromkeys(cell["part"] for cell in answer["notices"]):
        for steps in DECIDING:
            cells = [c for c in answer["notices"] if c["part"] == name and c["steps"] == steps]
            shown.add_row(
                name, str(steps), *("-" if c["precision"] is None else f"{c['precision']:.2f}" for c in cells)
            )
    both = Table.grid(padding=(0, 0, 1, 0))
    both.add_row(shown)
    both.add_row(whole(answer))
    return both


def plot(answer: dict[str, Any], folder: Path) -> list[Path]:
    """Figure 10: precision by threshold, a line a lookahead."""
    from ..forecasts.pictures import rows  # matplotlib is the extra `plot`

    folder.mkdir(parents=True, exist_ok=True)
    parts = [(part(partial), f"10a: {part(partial)}") for partial in PARTIALS]
    parts[0] = (part(PARTIALS[0]), "10b: distributed as in training")
    return [rows(answer, [*parts, (GAUSSIAN, "10c: trained on Gaussian")], folder / "forecast-10.svg")]


QUESTION: Final = Question(
    name="forecast_synthetic",
    text="Is P-ToPSS's figure 10 reproduced: precision of forecasts by threshold and lookahead?",
    bias=(
        "The paper's generator and defaults, 1,000 subscriptions; the forecasts of every tenth one are counted, on one"
        " training and one test seed. The generator's Gaussians are ours.",
        "The state is the most advanced live one, and what has reached a `;` waits for ever: soon only the last term is"
        " told apart. The paper forecasts each partial match by itself.",
        "Corrected chains: departures, first passage. The paper's printed sums are not probabilities.",
        "A notice is an upward crossing, once until it is resolved; N counts events of the whole stream.",
        "The paper's figures have no numbers in their text: what is judged are its sentences, as written in"
        " forecasts/statements.py.",
    ),
    ask=ask,
    table=table,
    plot=plot,
)
