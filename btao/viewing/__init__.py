"""What users look at: trials as a table (`frames`), `importance`, figures (`plots`), and a summary in `html`.

pandas and matplotlib are loaded where they are needed (`btao.optional`), and are no dependencies of `btao`.
"""
