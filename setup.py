"""Puts conf/, which lies beside the packages in the checkout, into `benchmarks` where they are installed."""

from setuptools import setup
from setuptools.command.build_py import build_py


class BuildWithConf(build_py):
    """Build the packages, and put conf/ into `benchmarks` unless the install is editable."""

    def run(self) -> None:
        """Build."""
        super().run()
        if not self.editable_mode:
            self.copy_tree("conf", f"{self.build_lib}/benchmarks/conf")


setup(cmdclass={"build_py": BuildWithConf})
