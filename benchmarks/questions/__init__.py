"""Law: what is asked, one module a question; here the list of them and what a question is.

A question says what it asks and how it is biased, answers with cases (JSON) and makes a table of them.
"""

from __future__ import annotations

from . import subscriptions
from .question import Question

QUESTIONS: dict[str, Question] = {question.name: question for question in (subscriptions.QUESTION,)}

__all__ = ["QUESTIONS", "Question"]
