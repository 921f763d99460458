"""Image data: where they are looked for, what was published, what stands in for them, and their split.

`datasets.load` finds a data set and `images.split` splits it; `source` names what was used, without NumPy. What was
`published` comes by `download` and is read from an `archive`; a `stand_in` is trained on where it cannot be had.
`carried` has the data sets that scikit-learn carries, and their split.
"""
