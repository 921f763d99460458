"""Image data: where they are looked for, what was published, what stands in for them, and their split.

`datasets.load` finds a data set and `images.split` splits it; `source` names what was used, without NumPy.
`carried` has the data sets that scikit-learn carries, and their split.
"""
