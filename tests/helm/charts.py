"""The charts of helm/, rendered by a real Helm (tests/servers/provide helm-today)."""
import os
import pathlib
import re
import subprocess

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
HELM = ROOT / "build/servers/helm-today/helm"
MONITORS = ROOT / "build/servers/monitors"
KUBECTL = ROOT / "build/servers/kubernetes-today/kubectl"
CHART, LIBRARY, INJECTION = ROOT / "helm/tenure", ROOT / "helm/tenure-library", ROOT / "helm/tenure-injection"

MODES = ("guard", "guard-plain", "exec", "signal", "exit-code")
WAYS = ("endpoints", "label", "gate", "probe", "none")
# A store each: what has to be given for it, at least and at most.
STORES = {
    "kubernetes": {},
    "kubernetes-named": {"rbac": {"leases": "named"}},
    "etcd": {"store": {"kind": "etcd", "endpoints": ["http://etcd:2379"]}},
    "etcd-secure": {"store": {
        "kind": "etcd", "endpoints": ["https://etcd-0:2379", "https://etcd-1:2379"], "user": "tenure",
        "passwordSecret": {"name": "etcd"},
        "tls": {"secretName": "etcd-tls", "certificateKey": "tls.crt", "privateKeyKey": "tls.key", "serverName": "etcd"}}},
    "consul": {"store": {"kind": "consul", "endpoints": ["http://consul:8500"]}},
    "consul-secure": {"store": {"kind": "consul", "endpoints": ["https://consul:8501"], "tokenSecret": {"name": "consul"},
                                "tls": {"secretName": "consul-tls"}}},
}


def missing():
    """What is not there, and how to get it; empty if nothing is missing."""
    for one in (HELM, KUBECTL):
        if not one.exists():
            return f"{one} is not there: `./dev test` without --quick builds it"
    return ""


def merged(*all_values):
    """Values on values, as Helm does it."""
    out = {}
    for values in all_values:
        for key, value in values.items():
            both = isinstance(value, dict) and isinstance(out.get(key), dict)
            out[key] = merged(out[key], value) if both else value
    return out


def only_active_is_ready(mode, way):
    """docs/traffic.md says why."""
    return mode == "exit-code" or way in ("gate", "probe")


def values_of(mode="guard", way="endpoints", kind="Deployment", store="kubernetes"):
    """A workload of a port in that way, and as little else as there may be."""
    words = {"args": ["/bin/work"]} if mode in ("signal", "exit-code") else {"command": ["/bin/work"]}
    out = merged({"image": {"repository": "workload"}, "kind": kind, "ports": [{"name": "main", "containerPort": 5432}], **words,
                  "tenure": {"stop": {"mode": mode}, "traffic": {"way": way}}}, {"tenure": STORES[store]})
    if kind == "StatefulSet" and only_active_is_ready(mode, way):
        out["updateStrategy"] = {"type": "OnDelete"}
    return out


def matrix():
    """(what it is, values) of each mode with each way, and of each store."""
    for mode in MODES:
        for way in WAYS:
            for kind in ("Deployment", "StatefulSet"):
                yield f"{mode} {way} {kind}", values_of(mode, way, kind)
        for store in STORES:
            yield f"{mode} {store}", values_of(mode, store=store)
    yield "everything", merged(values_of(), {
        "networkPolicy": {"enabled": True, "from": [{"podSelector": {}}], "egress": [{}]}, "dashboard": {"enabled": True},
        "podLabels": {"a": "b"}, "podAnnotations": {"c": "d"}, "resources": {"limits": {"memory": "64Mi"}},
        "env": [{"name": "A", "value": "b"}], "volumes": [{"name": "v", "emptyDir": {}}],
        "volumeMounts": [{"name": "v", "mountPath": "/v"}], "extraContainers": [{"name": "other", "image": "other"}],
        "podSpec": {"initContainers": [{"name": "before", "image": "before"}], "priorityClassName": "system-node-critical"},
        "containerSpec": {"workingDir": "/v"}, "imagePullSecrets": [{"name": "registry"}],
        "tenure": {"traffic": {"addressTypes": ["IPv4", "IPv6"], "service": {"type": "LoadBalancer", "annotations": {"e": "f"}}},
                   "ttl": "6s", "drain": "1m30s", "stopSignal": "INT", "log": {"level": "debug"}, "probePort": 9000,
                   "settings": {"health_http": "http://127.0.0.1:5432/healthz", "health_failures": 2,
                                "priority": -1000000, "prefer_newer": True, "preempt": True}}})
    yield "slots", merged(values_of(way="none"), {"replicas": 3, "tenure": {"slots": 2, "rbac": {"leases": "named"}}})


def of_somebody(folder, text, line='{{ include "tenure.workload" (list . "orders.deployment") }}'):
    """A chart `orders` that writes `text` by the library; where it is."""
    place = pathlib.Path(folder, "orders")
    (place / "templates").mkdir(parents=True)
    (place / "charts").mkdir()
    (place / "charts/tenure-library").symlink_to(LIBRARY)
    version = yaml.safe_load((LIBRARY / "Chart.yaml").read_text())["version"]
    (place / "Chart.yaml").write_text(yaml.safe_dump({
        "apiVersion": "v2", "name": "orders", "version": "1.0.0", "dependencies": [
            {"name": "tenure-library", "alias": "tenure", "version": version, "repository": "file://../tenure-library"}]}))
    (place / "values.yaml").write_text("flag: --fast\ntenure: {container: orders}\n")
    (place / "templates/deployment.yaml").write_text(
        '{{- define "orders.deployment" -}}\n' + text + '{{- end -}}\n' + line + "\n")
    return place


def readme_commands():
    """What README says to do with a cluster, one command after the other."""
    page = (ROOT / "README.md").read_text().partition("\n## In Kubernetes\n")[2]
    block = re.search(r"(?m)(?:^    .*\n)+", page)[0].replace("\\\n", "")
    return [line.split("#")[0].strip() for line in block.splitlines()]


def helm(*words, given=None, variables=None):
    """The ended process. What Helm says of links in the chart is left out."""
    done = subprocess.run([HELM, *map(str, words)], input=given, capture_output=True, text=True,
                          env={**os.environ, **(variables or {})})
    done.stderr = re.sub(r"^level=INFO msg=\"found symbolic link.*\n", "", done.stderr, flags=re.M)
    return done


def template(values, *words, chart=CHART, name="db", space="team"):
    """What `helm template` makes of the values; its ended process."""
    return helm("template", name, chart, "--namespace", space, "--values", "-", *words, given=yaml.safe_dump(values))


def rendered(values, *words, **how):
    """The objects, without the hooks of `helm test`."""
    done = template(values, "--no-hooks", *words, **how)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return [one for one in yaml.safe_load_all(done.stdout) if one]


def workload(objects):
    [one] = [one for one in objects if one["kind"] in ("Deployment", "StatefulSet")]
    return one


def containers(pod):
    """All of a pod's, by name."""
    return {one["name"]: one for one in pod.get("initContainers", []) + pod["containers"]}


def agent(pod):
    """The container that has the agent."""
    all_of_it = containers(pod)
    return all_of_it.get("tenure") or all_of_it["main"]


def settings(container):
    """The settings of the agent in a container, by its variables."""
    return {one["name"].removeprefix("TENURE_").lower(): one["value"] for one in container.get("env", [])
            if one["name"].startswith("TENURE_") and "value" in one}
