"""What users look at: trials as a table (`frames`), `importance`, figures (`plots`), and a summary in `html`.

`explorer` is a figure that follows controls in a notebook; `profile_explorer` is the one of the performance profile.
pandas, matplotlib and ipywidgets are loaded where they are needed (`btao.optional`), and are no dependencies of `btao`.
"""
