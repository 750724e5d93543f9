"""`foretell playground`: a page on which a person writes subscriptions and sees at once what they find in some events.

`command` starts it, `application` answers the page, `worker` is a process that may be stopped at any time and does what
takes time: `trial` runs the subscriptions, `answering` names its answers. `examples` are in the folder `assets`.
"""
