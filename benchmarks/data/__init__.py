"""Image data: where it is looked for, what was published, what stands in for it, and its split.

`datasets.load` finds a data set and `images.split` splits it; `source` names what was used, without numpy.
"""
