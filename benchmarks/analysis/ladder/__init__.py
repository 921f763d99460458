"""The ladder from the paper's rule to the rate rule: its `steps`, and what each changes, its `worth`."""
