"""What register automata over disordered streams cost: the workloads of AFA's section 7, run in the executor itself."""
