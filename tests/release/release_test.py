#!/usr/bin/env python3
"""release_test.py --tenure TENURE [TEST]...: what packaging/ makes of one binary, and of what its build has left."""
import argparse
import hashlib
import importlib.machinery
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest
import unittest.mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
EPOCH = 1700000000
tenure = pathlib.Path()


def run(*command, **settings):
    done = subprocess.run(command, capture_output=True, text=True, **settings)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, command))}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def version():
    [found] = re.findall(r"^project\(tenure VERSION ([0-9.]+) ", (ROOT / "CMakeLists.txt").read_text(), re.M)
    return found


def beginning(folder, machine=None):
    """A file for a machine, as the first bytes say, that takes less time to compress than the whole program."""
    content = bytearray(tenure.read_bytes()[:300_000])
    if machine:
        content[18] = machine
    path = folder / f"program{machine or ''}"
    path.write_bytes(content)
    return path


def saved(into, parts, time, owner, config):
    """An image as `docker save` leaves it, in as many layers as there are `parts` (each path -> mode and content)."""
    files = {}
    for number, part in enumerate(parts):
        layer = io.BytesIO()
        with tarfile.open(fileobj=layer, mode="w") as tar:
            for path, (mode, content) in part.items():
                entry = tarfile.TarInfo(path)
                entry.mode, entry.mtime, entry.uid, entry.uname = mode, time, owner, f"user{owner}"
                if content is None:
                    entry.type = tarfile.DIRTYPE
                else:
                    entry.size = len(content)
                tar.addfile(entry, io.BytesIO(content or b""))
        files[f"{owner}{number}/layer.tar"] = layer.getvalue()
    settings = {"User": "65532:65532", "Entrypoint": ["/tenure"], "Labels": {"a": "b"}, **config}
    layers = list(files)
    files[f"{owner}.json"] = json.dumps({
        "architecture": "amd64", "os": "linux", "created": f"{time}", "docker_version": f"{owner}", "config": settings,
        "history": [{"created": f"{time}"}]}).encode()
    files["manifest.json"] = json.dumps([{"Config": f"{owner}.json", "RepoTags": ["x:y"], "Layers": layers}]).encode()
    with tarfile.open(into, "w") as tar:
        for path, content in files.items():
            entry = tarfile.TarInfo(path)
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))


class Same(unittest.TestCase):
    """The same files make the same archives, whenever, wherever and by whomever."""

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.program = beginning(self.folder)

    def tree(self, name, umask):
        """A copy of what the scripts read, whose files have other times and modes."""
        tree = self.folder / name
        # Git is asked who packs. Copies have no repository of their own.
        git = run("git", "-C", ROOT, "rev-parse", "--absolute-git-dir").strip()
        for path in ("packaging", "helm", "docker", "CMakeLists.txt", "CHANGELOG.md", "README.md", "LICENSE"):
            if (ROOT / path).is_dir():
                shutil.copytree(ROOT / path, tree / path, symlinks=True, copy_function=shutil.copyfile)
            else:
                (tree / path).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(ROOT / path, tree / path)
        for path in tree.rglob("*"):
            if not path.is_symlink():
                path.chmod(0o777 & ~umask)
        return tree, git

    def made(self, name, umask, **environment):
        tree, git = self.tree(name, umask)
        into = self.folder / f"made-{name}" / ("deep" * 10)
        settings = {"env": {**os.environ, "GIT_DIR": git, **environment}, "umask": umask}
        for script in ("build", "tarball"):
            run(tree / "packaging" / script, self.program, into, tenure, **settings)
        run(tree / "packaging/charts", into, **settings)
        return {path.name: path.read_bytes() for path in into.iterdir()}

    def test_packages_and_charts(self):
        first = self.made("first", 0o022, TZ="UTC", LC_ALL="C")
        second = self.made("second", 0o077, TZ="Asia/Tokyo", LC_ALL="C.UTF-8")
        architecture = run("dpkg", "--print-architecture").strip()
        self.assertEqual(sorted(first), sorted([
            f"tenure-{version()}-linux-{architecture}.tar.gz", f"tenure_{version()}_{architecture}.deb",
            f"tenure-{version()}.tgz", f"tenure-injection-{version()}.tgz", f"tenure-library-{version()}.tgz"]))
        self.assertEqual(sorted(second), sorted(first))
        for name, content in first.items():
            self.assertTrue(content == second[name], f"{name} differs")

    def test_every_time_is_that_of_the_commit(self):
        """Or the one that is given: here it has not come yet, so no file has it by itself."""
        future = 4102444800
        for name, content in self.made("future", 0o022, SOURCE_DATE_EPOCH=str(future)).items():
            if name.endswith(".deb"):
                (self.folder / name).write_bytes(content)
                content = subprocess.run(["dpkg-deb", "--fsys-tarfile", self.folder / name], check=True, capture_output=True).stdout
            with tarfile.open(fileobj=io.BytesIO(content)) as tar:
                self.assertEqual({entry.mtime for entry in tar}, {future}, name)

    def test_image(self):
        program, roots = (0o755, b"program"), (0o644, b"roots")
        folders = {path: (0o755, None) for path in ("etc", "etc/ssl")}
        saved(self.folder / "a", [{**folders, "etc/ssl/ca": roots}, {"tenure": program}], 1, 0, {"Hostname": "a"})
        saved(self.folder / "b", [{"tenure": program, **folders, "etc/ssl/ca": roots}], 2, 7, {"Image": "sha256:b"})
        saved(self.folder / "c", [{"tenure": (0o755, b"another"), **folders, "etc/ssl/ca": roots}], 1, 0, {})
        for name in "abc":
            run(ROOT / "packaging/image-archive", self.folder / name, self.folder / f"{name}.tar", "tenure:x", "tenure:y",
                env={**os.environ, "SOURCE_DATE_EPOCH": str(EPOCH)})
        a, b, c = ((self.folder / f"{name}.tar").read_bytes() for name in "abc")
        self.assertTrue(a == b, "it says when, by whom, or in how many layers it was built")
        self.assertFalse(a == c, "it does not know the program")
        with tarfile.open(self.folder / "a.tar") as tar:
            [manifest] = json.load(tar.extractfile("manifest.json"))
            config = json.load(tar.extractfile(manifest["Config"]))
            layer = tar.extractfile(manifest["Layers"][0]).read()
        self.assertEqual(manifest["RepoTags"], ["tenure:x", "tenure:y"])
        self.assertEqual(config["config"], {
            "User": "65532:65532", "Entrypoint": ["/tenure"], "Labels": {"a": "b"}})
        self.assertEqual((config["os"], config["architecture"], config["created"]), ("linux", "amd64", "2023-11-14T22:13:20Z"))
        self.assertEqual(config["rootfs"]["diff_ids"], ["sha256:" + hashlib.sha256(layer).hexdigest()])
        with tarfile.open(fileobj=io.BytesIO(layer)) as tar:
            self.assertEqual([(entry.name, entry.mode, entry.mtime) for entry in tar],
                             [("etc", 0o755, EPOCH), ("etc/ssl", 0o755, EPOCH), ("etc/ssl/ca", 0o644, EPOCH), ("tenure", 0o755, EPOCH)])
            self.assertEqual(tar.extractfile("tenure").read(), b"program")

    def test_an_image_that_takes_files_away_is_refused(self):
        saved(self.folder / "a", [{"tenure": (0o755, b"program")}, {".wh.tenure": (0o644, b"")}], 1, 0, {})
        done = subprocess.run([ROOT / "packaging/image-archive", self.folder / "a", self.folder / "a.tar", "tenure:x"],
                              capture_output=True, text=True, env={**os.environ, "SOURCE_DATE_EPOCH": str(EPOCH)})
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(".wh.tenure", done.stderr)

    def test_the_program_does_not_know_where_it_was_built(self):
        program = tenure.read_bytes()
        for folder in (ROOT, tenure.parent):
            self.assertNotIn(str(folder).encode() + b"/", program)


class Contents(unittest.TestCase):
    """What is in the archives."""

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def test_the_archive_of_files_runs(self):
        archive = run(ROOT / "packaging/tarball", tenure, self.folder).strip()
        with tarfile.open(archive) as tar:
            self.assertTrue(all((entry.uid, entry.gid, entry.uname, entry.gname) == (0, 0, "", "") for entry in tar))
        run("tar", "-C", self.folder, "-xf", archive)
        root = self.folder / pathlib.Path(archive).name.removesuffix(".tar.gz")
        self.assertEqual(sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()), [
            "COPYRIGHT", "LICENSE", "README.md", "completions/_tenure", "completions/tenure.bash", "completions/tenure.fish",
            "kubectl-tenure", "man/man1/tenure.1", "tenure"])
        self.assertEqual(run(root / "tenure", "--version"), run(tenure, "--version"))
        self.assertIn("usage: kubectl tenure", run(root / "kubectl-tenure", "--help"))
        self.assertEqual((root / "man/man1/tenure.1").read_text(), run(tenure, "man"))

    def test_the_package_is_for_the_machine_of_its_program(self):
        own = run("dpkg", "--print-architecture").strip()
        other, machine = {"amd64": ("arm64", 0xB7), "arm64": ("amd64", 0x3E)}[own]
        foreign = beginning(self.folder, machine)
        done = subprocess.run([ROOT / "packaging/build", foreign, self.folder], capture_output=True, text=True)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("cannot run", done.stderr)
        for program, architecture in ((foreign, other), (beginning(self.folder), own)):
            package = run(ROOT / "packaging/build", program, self.folder, tenure).strip()
            self.assertEqual(pathlib.Path(package).name, f"tenure_{version()}_{architecture}.deb")
            self.assertEqual(run("dpkg-deb", "--field", package, "Architecture").strip(), architecture)

    def test_charts_have_the_library(self):
        archives = run(ROOT / "packaging/charts", self.folder).split()
        charts = {}
        for archive in archives:
            with tarfile.open(archive) as tar:
                self.assertTrue(all(entry.isfile() or entry.isdir() for entry in tar), "Helm refuses links")
                charts[pathlib.Path(archive).name] = {entry.name: tar.extractfile(entry).read() for entry in tar if entry.isfile()}
        main, library = charts[f"tenure-{version()}.tgz"], charts[f"tenure-library-{version()}.tgz"]
        self.assertIn("tenure/Chart.yaml", main)
        self.assertIn("tenure-library/Chart.yaml", library)
        self.assertEqual({path: content for path, content in main.items() if "/tenure-library/" in path},
                         {"tenure/charts/" + path: content for path, content in library.items()})


class Version(unittest.TestCase):
    """One number, which CMakeLists.txt says."""

    def test_it_is_the_same_everywhere(self):
        self.assertRegex(run(tenure, "--version"), rf"^tenure {re.escape(version())}( |$)")
        charts = list(ROOT.glob("helm/*/Chart.yaml"))
        self.assertGreaterEqual(len(charts), 3)
        for chart in charts:
            text = chart.read_text()
            numbers = re.findall(r"^(?:version|appVersion|    version): (\S+)$", text, re.M)
            self.assertGreaterEqual(len(numbers), 2, chart)
            self.assertEqual(set(numbers), {version()}, chart)
        pages = [*(ROOT / "docs").glob("*.md"), ROOT / "README.md", *(ROOT / "helm").glob("*/README.md"), *ROOT.glob("k8s/**/*.yaml")]
        tags = [(page.name, tag) for page in pages
                for tag in re.findall(r"\btenure:(\d[\w.]*\w)|tenure-library[^\n]* version: ([\w.]+\w)", page.read_text()) for tag in tag if tag]
        self.assertGreaterEqual(len(tags), 5)
        for page, tag in tags:
            self.assertEqual(tag, version(), page)
        self.assertIn(f'"tenure {version()}"', (ROOT / "docs/tenure.1").read_text())

    def test_a_program_of_another_version_is_refused(self):
        with tempfile.TemporaryDirectory() as place:
            for said, refused in (("9.9.9", True), (version() + "1", True), (version(), False)):
                command = f'. {ROOT}/packaging/common; runs() {{ true; }}; project={ROOT}; of_this_version "$1"'
                program = pathlib.Path(place) / "program"
                program.write_text(f"#!/bin/sh\necho 'tenure {said} (0123456789ab)'\n")
                program.chmod(0o755)
                done = subprocess.run(["bash", "-c", command, "bash", program], capture_output=True, text=True)
                self.assertEqual(done.returncode != 0, refused, said)


class Sbom(unittest.TestCase):
    """The document names what is linked in, and nothing else."""

    @classmethod
    def setUpClass(cls):
        cls.build = tenure.parent
        cls.text = cls.made()
        cls.document = json.loads(cls.text)
        cls.packages = {package["SPDXID"]: package for package in cls.document["packages"]}
        cls.linked = {name for package in cls.packages.values() if package.get("comment", "").startswith("linked: ")
                      for name in package["comment"].removeprefix("linked: ").split()}

    @classmethod
    def made(cls):
        return run(ROOT / "packaging/sbom", cls.build, env={**os.environ, "SOURCE_DATE_EPOCH": str(EPOCH)})

    def opened(self):
        """What the linker itself says that it takes: archives with a member that is needed, and objects."""
        *_, line = run("ninja", "-C", self.build, "-t", "commands", "tenure").splitlines()
        self.assertEqual(line.count(" -o tenure "), 1, line)
        with tempfile.TemporaryDirectory() as folder:
            line = line.replace(" -o tenure ", f" -o {folder}/tenure -Wl,--trace ").replace("-Wl,-Map=tenure.map", "")
            names = {line.split("(")[0] for line in run("sh", "-c", line, cwd=self.build).splitlines()}
            self.assertEqual(pathlib.Path(folder, "tenure").read_bytes(), tenure.read_bytes(), "not how it was linked")
        return names

    def test_it_names_the_libraries_that_the_linker_takes(self):
        opened = self.opened()
        expected = {pathlib.Path(name).resolve().name for name in opened if name.startswith("/")}
        expected |= {pathlib.Path(name).name for name in opened if name.startswith("third_party/")}
        self.assertIn("libcrypto.a", expected)
        self.assertIn("libtenure_prometheus.a", expected)
        self.assertEqual(self.linked, expected)

    def test_packages_are_those_that_are_installed(self):
        ours = {"tenure", "prometheus-cpp"}
        installed = [package for package in self.packages.values() if package["name"] not in ours]
        self.assertGreater(len(installed), 5)
        for package in installed:
            name, found = package["name"], set()
            for line in run("dpkg-query", "-W", "-f", "${Version} ${source:Package} ${source:Version}\n", name).splitlines():
                number, source, of_source = line.split()
                found.add((number, f"built from Debian's source package {source} {of_source}"))
            self.assertIn((package["versionInfo"], package["sourceInfo"]), found)
            [reference] = package["externalRefs"]
            self.assertRegex(reference["referenceLocator"], r"^pkg:deb/debian/[a-z0-9.%B-]+@[^?+:]+\?arch=\w+&distro=debian-\d+$")

    def test_what_is_headers_only_is_there_too(self):
        read = {package["name"] for package in self.packages.values() if package.get("comment", "").startswith("headers only")}
        self.assertIn("nlohmann-json3-dev", read)
        self.assertTrue(any(name.startswith("libboost") for name in read), read)
        # What only tests use is not in the program.
        self.assertFalse([name for name in read if re.search("gtest|gmock|benchmark|cli11", name)])

    def test_it_describes_this_program(self):
        program = self.packages["SPDXRef-tenure"]
        self.assertEqual(program["checksums"], [
            {"algorithm": "SHA256", "checksumValue": hashlib.sha256(tenure.read_bytes()).hexdigest()}])
        said = json.loads(run(tenure, "version", "--output", "json"))
        self.assertEqual((program["versionInfo"], program["sourceInfo"]),
                         (said["version"], "built from commit " + (said["commit"] or "unknown")))
        self.assertIn(self.packages["SPDXRef-prometheus-cpp"]["versionInfo"], (ROOT / "third_party/prometheus-cpp/README.md").read_text())

    def test_a_file_of_two_architectures_is_of_that_of_the_program(self):
        sbom = importlib.machinery.SourceFileLoader("sbom", str(ROOT / "packaging/sbom")).load_module()
        with tempfile.TemporaryDirectory() as folder:
            dpkg = pathlib.Path(folder, "dpkg")
            dpkg.write_text("#!/bin/sh\necho 'linux-libc-dev:amd64, linux-libc-dev:arm64: /a.h'\necho 'nlohmann-json3-dev: /b.h'\n")
            dpkg.chmod(0o755)
            with unittest.mock.patch.dict(os.environ, {"PATH": f"{folder}:{os.environ['PATH']}"}):
                for architecture in ("amd64", "arm64"):
                    found = sbom.packages_of([pathlib.Path("/a.h"), pathlib.Path("/b.h")], architecture)
                    self.assertEqual({str(path): owner for path, owner in found.items()},
                                     {"/a.h": f"linux-libc-dev:{architecture}", "/b.h": "nlohmann-json3-dev"})

    def test_it_is_spdx(self):
        self.assertEqual((self.document["spdxVersion"], self.document["dataLicense"], self.document["SPDXID"]),
                         ("SPDX-2.3", "CC0-1.0", "SPDXRef-DOCUMENT"))
        self.assertEqual(self.document["creationInfo"]["created"], "2023-11-14T22:13:20Z")
        self.assertEqual(len(self.packages), len(self.document["packages"]), "one name for two packages")
        for name, package in self.packages.items():
            self.assertRegex(name, r"^SPDXRef-[A-Za-z0-9.-]+$")
            self.assertRegex(package["licenseDeclared"], r"^(NOASSERTION|[A-Za-z0-9.-]+( WITH [A-Za-z0-9.-]+)?)$")
        related = [(one["spdxElementId"], one["relatedSpdxElement"]) for one in self.document["relationships"]]
        self.assertEqual(sorted(related), sorted(
            [("SPDXRef-DOCUMENT", "SPDXRef-tenure"), *(("SPDXRef-tenure", name) for name in self.packages if name != "SPDXRef-tenure")]))

    def test_it_is_the_same_each_time(self):
        self.assertEqual(self.made(), self.text)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--tenure", required=True)
    parser.add_argument("tests", nargs="*")
    arguments = parser.parse_args()
    tenure = pathlib.Path(arguments.tenure).resolve()
    unittest.main(argv=[sys.argv[0], *arguments.tests], verbosity=2)
