"""The methods behind one interface of ask and tell.

`protocol` defines it; each module is a method, or the methods of a library; `libraries` holds what wrapping one takes.
"""
