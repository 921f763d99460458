"""The build of the wheel: conf/, which lies beside the packages in the checkout, goes into `benchmarks` there.

pyproject.toml names `BuildWithConf` as setuptools' `build_py`. A mapping of package folders would do it as well,
but makes of an editable install an import hook instead of one line in a .pth file.
"""

from __future__ import annotations

from pathlib import Path

from setuptools.command.build_py import build_py


class BuildWithConf(build_py):
    """Build the packages, and put conf/ into `benchmarks` unless the install is editable."""

    def run(self) -> None:
        """Build."""
        super().run()
        if not self.editable_mode:
            self.copy_tree("conf", f"{self.build_lib}/benchmarks/conf")

    def get_source_files(self) -> list[str]:
        """What a source distribution has: conf/, too."""
        return [*super().get_source_files(), *map(str, sorted(Path("conf").rglob("*.yaml")))]
