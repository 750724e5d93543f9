"""The speculative executor: register automata over events that come late, are withdrawn, or change their arcs (AFA).

    events    1 ------ 2 ------ 4            3 comes late, and is put between 2 and 4:
    runs      -        r1       r1 r2        those beside 4 are made again, and those behind, until nothing differs

It keeps runs in blocks beside the events, in the order of event times. An event in order costs the runs of its key; a
late one, a withdrawal and a changed arc each cause one repair. Automata that begin alike run as one. Here: events,
runs, and the repair of both.
"""
