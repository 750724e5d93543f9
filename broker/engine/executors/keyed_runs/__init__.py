"""Keyed runs: runs in cells by key, which recognise automata over epochs, merged over all subscriptions.

    event --key spaces--> cell --- start arcs    --> new runs, each in the cell where a later event looks for it
                               --- waiting runs  --> arcs out of their states --> runs, results

It keeps a run as an object in the cell of the key that it waits for. An event looks at the cells of its own keys only,
and there an index finds the arcs that hold; it costs the runs that it affects. Here: the merged program (program), runs
in cells and the effect of an event on them (runs, cells), batches by columns (column_runs). Not here: finding what an
event concerns (broker.engine.program.directory).
"""
