"""Subscriptions and streams by name, and all that changes them: entering, leaving, replacing, updating, suspending.

Here: the catalog, and one operation a file. Not here: compiling a text (compiler), what events follow (program).
"""
