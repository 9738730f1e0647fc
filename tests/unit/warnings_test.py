#!/usr/bin/env python3
"""warnings_test.py ROOT: no warning ends a user's build, however ./dev starts it, and in CI each of ours does.

Each preset is configured with the words that ./dev gives to cmake; how it would compile its sources is looked at."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(sys.argv.pop(1)).resolve()
sys.path.insert(0, str(ROOT / "tests/support"))
from compile_commands import commands  # noqa: E402

# A function that does not return what it says is broken.
ALWAYS = "-Werror=return-type"
TAKES_NOTES = '#!/bin/sh\nprintf "%s\\n" "$@" >"$NOTES"\nexit 1\n'


class AWarning(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.at = pathlib.Path(folder.name)

    def words_of(self, verb: list[str], setting: str | None) -> list[str]:
        """What ./dev gives to cmake, in a clone that nothing was built in."""
        clone, programs, notes = (self.at / name for name in ("clone", "programs", "notes"))
        (clone / "packaging").mkdir(parents=True)
        programs.mkdir()
        for name in ("dev", "packaging/apt", "CMakePresets.json"):
            shutil.copy(ROOT / name, clone / name)
        (programs / "cmake").write_text(TAKES_NOTES)
        (programs / "cmake").chmod(0o755)
        settings = {name: value for name, value in os.environ.items() if name != "DEV_WERROR"}
        settings |= {"PATH": f"{programs}:{os.environ['PATH']}", "NOTES": str(notes)}
        if setting:
            settings["DEV_WERROR"] = setting
        said = subprocess.run([clone / "dev", *verb], env=settings, capture_output=True, text=True, timeout=60)
        self.assertTrue(notes.exists(), said)
        return notes.read_text().splitlines()

    def errors_of(self, words: list[str]) -> dict[pathlib.Path, set[str]]:
        """By source, what would be an error if it were compiled so."""
        build = self.at / "build"
        subprocess.run(["cmake", "-S", ROOT, "-B", build, *words], cwd=ROOT, check=True, capture_output=True, text=True)
        found = {source: {word for word in how.words if word.startswith("-Werror")} - {ALWAYS}
                 for source, how in commands(build).items()}
        self.assertGreater(len(found), 50)
        return found

    def ends_no_build(self, words: list[str]) -> None:
        self.assertEqual({source: errors for source, errors in self.errors_of(words).items() if errors}, {})

    def test_ends_no_build_of_a_user(self):
        words = self.words_of(["build"], None)
        self.assertIn("release", words)
        self.ends_no_build(words)

    def test_ends_no_build_of_a_users_tests(self):
        words = self.words_of(["sim"], None)
        self.assertIn("dev", words)
        self.ends_no_build(words)

    def test_ends_no_build_without_dev(self):
        self.ends_no_build(["--preset", "release"])

    def test_is_an_error_in_ci(self):
        self.assertIn("export DEV_WERROR=ON", (ROOT / ".ci/run").read_text().splitlines())
        errors = self.errors_of(self.words_of(["build"], "ON"))
        self.assertEqual([source for source, found in errors.items()
                          if found != {"-Werror"} and "third_party" not in source.parts], [])


unittest.main(verbosity=2)
