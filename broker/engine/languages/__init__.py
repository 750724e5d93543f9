"""The one table of languages: what the engine, the kernel, the shell and Spark know of each.

`language` has the record that a row is, `table` the rows by name, and one file a language assembles its record from
its folders in broker/language and broker/algebra. Nothing outside this package and those folders names a language: a
test reads every product file for that.
"""
