"""What commands do beyond reading their arguments, so that notebooks and other commands can do it too.

`execution` runs plans and reports on them, `model_accuracy` compares models of the heavy response, `reference` holds
the reference results and how they are made.
"""
