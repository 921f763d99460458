"""The report of recorded runs: its parts are built as data (`page`), and rendered as `html` and as `markdown`.

`settings` sorts the records; `coverage`, `notices`, `results`, `targets`, `ranking` and `provenance` each give a part.
`latex` is a table for a paper, `verdicts` are those on the claims.
"""
