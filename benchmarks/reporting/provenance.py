"""The part of a report that says where its numbers come from: software, commits, machines, commands, checksums."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from benchmarks.records.run_info import Start
from benchmarks.reporting.page import Block, Code, Paragraph, Section, Table
from benchmarks.reporting.settings import Setting, checksums


def provenance(settings: Sequence[Setting], out: Path, listing: str) -> Section:
    """Of the runs that results were drawn from; `listing` is the file with the checksums, as seen from `out`."""
    made = starts(settings)
    blocks: list[Block] = [
        Paragraph(
            "Of the runs that are done, from which all results are drawn. A run that was continued was started more "
            "than once, and each start counts."
        )
    ]
    if made:
        blocks += [_software(made), _commits(made), _machines(made)]
        commands = dict.fromkeys(str(start.command) for start, _ in made if start.command.module)
        blocks += [Paragraph("Commands that made them:"), Code(tuple(commands))]
    blocks += [
        _digests(settings, out),
        Paragraph(f"The checksum of every single file is in {listing}. In the folder of the records:"),
    ]
    blocks.append(Code((f"sha256sum --check {listing}",)))
    return Section("Where it comes from", "provenance", tuple(blocks))


def starts(settings: Sequence[Setting]) -> list[tuple[Start, int]]:
    """Every start of the runs that are done, with the threads of the run."""
    runs = [setting.grid.runs[cell][0] for setting in settings for cell in setting.done]
    return [(start, run.identity["threads"]) for run in runs for start in run.starts]


def versions(made: Sequence[tuple[Start, int]]) -> dict[str, Counter[str]]:
    """By distribution: how many starts used which version."""
    counts: dict[str, Counter[str]] = {}
    for start, _ in made:
        for name, version in start.versions.items():
            counts.setdefault(name, Counter())[version] += 1
    return counts


def commit_of(start: Start) -> str:
    """The commit of a start in words."""
    if not start.git:
        return "no checkout"
    return f"{start.git['commit']}" + ("" if start.git["clean"] else ", with changes that were not committed")


def machine_of(start: Start) -> tuple[str, str, str]:
    """Platform, processor and cores of a start."""
    platform, cpu, cores = (str(start.machine.get(name, "–")) for name in ("platform", "cpu", "cores"))
    return platform, cpu, cores


def arithmetic_of(start: Start) -> str:
    """What chose the code of OpenBLAS, numpy and oneDNN at a start; a dash where that was not recorded."""
    used = start.machine.get("arithmetic")
    if used is None:
        return "–"
    core, networks = used["OPENBLAS_CORETYPE"], used.get("ONEDNN_MAX_CPU_ISA")
    said = f"OpenBLAS for {core or 'the processor'}, numpy with {' '.join(used['simd']) or 'no extensions'}"
    return f"{said}, oneDNN up to {networks}" if networks else said


def _software(made: Sequence[tuple[Start, int]]) -> Table:
    rows = []
    for name, counts in versions(made).items():
        several = len(counts) > 1
        rows.append((name, ", ".join(f"{v} ({_starts(n)})" if several else v for v, n in sorted(counts.items()))))
    return Table("Software", ("distribution", "version"), tuple(rows), "ll")


def _commits(made: Sequence[tuple[Start, int]]) -> Table:
    times: dict[str, list[str]] = {}
    for start, _ in made:
        times.setdefault(commit_of(start), []).append(str(start.started)[:19].replace("T", " "))
    rows = tuple((commit, str(len(at)), min(at), max(at)) for commit, at in sorted(times.items()))
    return Table("Commits", ("commit", "starts", "first (UTC)", "last (UTC)"), rows, "lrrr")


def _machines(made: Sequence[tuple[Start, int]]) -> Table:
    counts = Counter((*machine_of(start), str(threads), arithmetic_of(start)) for start, threads in made)
    rows = tuple((*machine, str(n)) for machine, n in sorted(counts.items()))
    head = ("platform", "processor", "cores", "threads a run", "arithmetic", "starts")
    return Table("Machines", head, rows, "llrrlr")


def _digests(settings: Sequence[Setting], out: Path) -> Table:
    """A checksum of the checksums of each setting and of all."""
    rows, listings = [], [checksums([setting], out) for setting in settings]
    for setting, listing in zip(settings, listings, strict=True):
        rows.append((setting.name, len(setting.done), len(setting.results), _sha256(listing)))
    total = ("all", sum(row[1] for row in rows), sum(row[2] for row in rows), _sha256("".join(listings)))
    cells = tuple(tuple(map(str, row)) for row in (*rows, total))
    head = ("setting", "runs", "trials", "SHA-256 of the list of the checksums of its files")
    return Table("Records that were drawn", head, cells, "lrrl")


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _starts(n: int) -> str:
    return "1 start" if n == 1 else f"{n} starts"
