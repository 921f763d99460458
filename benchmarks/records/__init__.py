"""What runs leave on disk, and how it is read again: the log of trials, the description of a run, whole folders.

`run_folder` owns the folder of a run: the log of its `trials` with their `curves`, in `fields` that are checked, and
its `run_info`, with the `command`, the `provenance` and the `source_code` that it was made by. `frames` reads all below
a folder, `selection` takes a part, `grid` sorts it by method and seed, `labels` names methods, `code_versions` tells
runs of unlike code apart, and `legacy` reads runs of before schema 2. `unfinished` keeps runs of a long result in files
that can be committed. `load` and `load_curves` give everything below a folder as DataFrames.
"""

from benchmarks.records.frames import load, load_curves

__all__ = ["load", "load_curves"]
