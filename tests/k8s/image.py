"""Container images, made by hand: `ctr images import` takes a tar of a manifest, a configuration and one layer."""
import hashlib
import io
import json
import pathlib
import tarfile

USER = "65532:65532"


def archive(into, name, files, entrypoint, links=(), user=USER):
    """Writes the image `name` of this user, whose root has `files` (path inside -> path here) and nothing else but symbolic `links`
    (path inside -> what it leads to) and empty folders that every root has."""
    layer = io.BytesIO()
    with tarfile.open(fileobj=layer, mode="w") as tar:
        folders = {"dev", "etc", "proc", "sys", "tmp"}
        for inside in [*files, *(link for link, _ in links)]:
            folders.update(str(parent) for parent in pathlib.PurePath(inside).parents if str(parent) != ".")
        for folder in sorted(folders):
            entry = tarfile.TarInfo(folder)
            entry.type, entry.mode = tarfile.DIRTYPE, 0o1777 if folder == "tmp" else 0o755
            tar.addfile(entry)
        for inside, here in sorted(files.items()):
            content = pathlib.Path(here).read_bytes()
            entry = tarfile.TarInfo(inside)
            entry.size, entry.mode = len(content), 0o755
            tar.addfile(entry, io.BytesIO(content))
        for link, target in links:
            entry = tarfile.TarInfo(link)
            entry.type, entry.linkname = tarfile.SYMTYPE, target
            tar.addfile(entry)
    layer = layer.getvalue()
    config = json.dumps({
        "architecture": "amd64", "os": "linux",
        "config": {"Entrypoint": entrypoint, "User": user, "Env": ["PATH=/bin:/usr/bin"]},
        "rootfs": {"type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(layer).hexdigest()]}}).encode()
    manifest = json.dumps([{"Config": "config.json", "RepoTags": [name], "Layers": ["layer.tar"]}]).encode()
    with tarfile.open(into, "w") as tar:
        for part, content in (("manifest.json", manifest), ("config.json", config), ("layer.tar", layer)):
            entry = tarfile.TarInfo(part)
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
