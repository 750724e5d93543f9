"""What windows cost: the workloads, one process each, and the loops that tell how many windows there must be."""
