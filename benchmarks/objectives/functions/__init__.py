"""Functions of two levels beyond the paper's, one a file, on the base that `objectives.synthetic` gives.

All are minimized. The light levels are published ones, but for those of `misleading`, which punish trust in them.
"""
