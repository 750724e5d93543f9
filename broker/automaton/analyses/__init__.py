"""What can be said of an automaton, for those who must not know the language it comes from: a fact a file.

Of its shape: `line`, one operand after another; `sequences`, contiguous events; `chain`, how far states are from a
match. Of its events: `keys` and `variables`, what all of a match agree on; `agreement`, whether those of one key alone
decide; `chain_keys`, whose a forecast counts; `ignoring`, which a run passes by. Of time: `window`, how long a match
may take, and what of it lies outside; `horizon` and `kept_times`, how long the times that a run keeps are of use. Of
its runs: `memory`, what is still read of them; `pasts`, whether equal ones are few; `measures`, whether conditions
compare two numbers; `countable`, how paths can be counted.

Here: functions from an automaton to a fact. Not here: what an executor makes of it.
"""
