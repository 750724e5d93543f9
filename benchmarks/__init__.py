"""What Foretell costs, measured: questions, workloads, results. Nothing that is delivered imports from here."""
