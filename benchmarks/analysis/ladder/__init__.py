"""The ladder from the paper's rule to the rate rule: its `steps`, what each changes, its `worth`,
and `rate_steps`, the rate rule less parts of it.
"""
