"""What Spark costs and buys: `python -m benchmarks.spark [QUESTION ...]`, sized by arguments.

history      the market of benchmarks.ticks as a prepared history
embedded     the rival: the embedded engine in two processes, on the same files
training     counts on Spark beside these
memory       a worker's memory with one key of more and more events
broadcast    a hundred thousand subscriptions, packed and sent
patterns     one pattern beside window functions of Spark SQL and MATCH_RECOGNIZE of Flink, in batch mode
"""
