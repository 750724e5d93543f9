"""Analyses: facts about an automaton, independent of its language; a file for each fact.

Shape: `line`, one operand after another; `orders`, the orders in which operands may come; `whole_rows`, a line whose
registers are its events, and `wide_rows`, one over several streams as over one; `branches`, the lines of an automaton;
`sequences`, contiguous events; `chain`, the distance of states from a match. Events: `keys` and `variables`, the
values that all events of a match share; `agreement`, whether the events of one key decide alone; `chain_keys`, the key
that a forecast counts by; `event_constants`, which events a pattern is about; `window_key`, the only partition that has
windows; `value_regions`, the classes of events that can follow each other.
Time: `window`, the duration of a match and what lies outside it; `window_bounds`, how many windows are open at once;
`window_chain`, the states of a forecast of windows; `kept_times`, how long the times that a run keeps are needed. Runs:
`growth`, how many a key may have; `cycles`, where they stay for ever; `hopeless`, when one can match no more; `memory`,
what is still read of them; `pasts`, whether distinct ones are few; `measures`, whether conditions compare two numbers;
`countable`, how paths can be counted.

What subscriptions that differ in constants have in common: `grouping`, the `template` of an automaton and its
constants, found by `epoch_template`, `arrival_template`, and where an operand repeats by `kleene_template` and
`selection_template`; `mechanism`, how the runs of its members are kept as one; `coordinates`, constants as numbers;
`window_family`, the same for windows.

Here: functions from an automaton to a fact. Not here: what an executor does with it.
"""
