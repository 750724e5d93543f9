"""The one table of languages: all that the engine, the kernel, the shell and Spark know about each.

`language` defines a row, `table` has the rows by name, and each language has one file that assembles its row from its
folders in broker/language and broker/algebra. Nothing outside this package and those folders names a language; a test
checks every product file.
"""
