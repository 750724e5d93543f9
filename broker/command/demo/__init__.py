"""The demonstration: publishes real flights through a broker process. The product needs nothing of it.

`flights` reads the data, `patterns` has the subscriptions, `screen` prints, and `command` puts them together. With late
flights as late events, `disorder` publishes, `standing` counts and `disorder_screen` prints.
"""
