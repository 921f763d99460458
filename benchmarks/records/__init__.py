"""What runs leave on disk, and how it is read again: the log of trials, the description of a run, whole folders.

`load` and `load_curves` give everything below a folder as DataFrames.
"""

from benchmarks.records.frames import load, load_curves

__all__ = ["load", "load_curves"]
