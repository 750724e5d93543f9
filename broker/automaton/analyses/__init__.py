"""What can be said of an automaton, for those who must not know the language it comes from: a fact a file.

`line`: whether it is one operand after another. `keys`: what all events of a match agree on. `window`: how long a match
may take, and what of it lies outside. `ignoring`: what events a run passes by. `memory`: what is still read of a run;
`pasts`: whether equal runs are few. `measures`: whether its conditions compare two numbers.

Here: functions from an automaton to a fact. Not here: what an executor makes of it.
"""
