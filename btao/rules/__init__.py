"""The rules that choose the next trial from a `History`: `additive`, for the paper's model, and `rate`.

`history` holds all trials and `places` where they are; `rule` is what both have in common, and `recommendation` the
choice of the configuration that a model trusts.
"""
