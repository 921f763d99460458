"""The report of recorded runs: its parts are built as data (`page`), and rendered as HTML and as Markdown.

`settings` sorts the records; `coverage`, `notices`, `results`, `targets`, `ranking` and `provenance` each give a part.
`latex` is a table for a paper, `verdicts` are those on the claims.
"""
