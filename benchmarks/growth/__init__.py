"""How time and memory grow with the number of events, keys or the size of a window: what must stay flat."""
