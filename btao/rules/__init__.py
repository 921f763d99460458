"""The rules that choose the next trial from a `History`: `additive`, for the paper's model, and `rate`."""
