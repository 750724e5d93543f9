"""The host of executors: which events a machine gets, with which numbers, and what becomes of one that fails."""

from __future__ import annotations

from typing import Any

from broker.engine.account import UNLIMITED, Account
from broker.engine.dispatch.lanes import SWEEP_MIN, Lane
from broker.engine.dispatch.matchers import Clock, Matcher
from broker.engine.executors.completions import Completions
from broker.engine.executors.contract import Input
from broker.engine.executors.tuple_counts import Machine, TupleCounts
from broker.engine.target import Outcome, Target
from broker.events.schema import Row
from strategies.composites import lowered_text

TRUE = ((),)
