"""The demonstration: publishes real flights through a broker process. The product needs nothing of it.

`flights` reads the data, `patterns` has the subscriptions, `screen` prints, and `command` puts them together.
"""
