"""What is asked, one module a question; here the list of them and what a question is.

A question says what it asks and how it is biased, answers with cases (JSON) and makes a table of them.
"""

from __future__ import annotations

from . import (
    ablations,
    afa,
    afa_figures,
    buffer,
    composites,
    console,
    durability,
    forecast_costs,
    forecast_flights,
    forecast_stocks,
    forecast_synthetic,
    forecast_temperatures,
    kleene,
    kleene_temperatures,
    latency,
    rivals,
    scaling,
    shapes,
    spellings,
    subscriptions,
    table,
    windows,
)
from .question import Question

MODULES = (
    table,
    subscriptions,
    ablations,
    scaling,
    shapes,
    spellings,
    composites,
    kleene,
    kleene_temperatures,
    afa,
    afa_figures,
    buffer,
    windows,
    forecast_synthetic,
    forecast_temperatures,
    forecast_flights,
    forecast_stocks,
    forecast_costs,
    latency,
    console,
    durability,
    rivals,
)
QUESTIONS: dict[str, Question] = {module.QUESTION.name: module.QUESTION for module in MODULES}

__all__ = ["QUESTIONS", "Question"]
