"""The demonstration: real flights through a real broker process, and nothing that the product needs.

`flights` reads the data, `patterns` says what is asked, `screen` shows it, `command` puts them together.
"""
