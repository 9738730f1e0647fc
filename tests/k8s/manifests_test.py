#!/usr/bin/env python3
"""manifests_test.py --tenure TENURE --pause PAUSE --worker WORKER [TEST]...: what `kubectl apply -k` makes of k8s/, without a
pod being run."""
import json

from scene import MANIFESTS, Scene, main

KNOWN = MANIFESTS.parent / "tests/unit/manifest/known"
# By which each traffic component lets the agent write.
TRAFFIC_RULES = {
    "label": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list", "patch"]}],
    "gate": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list"]},
             {"apiGroups": [""], "resources": ["pods/status"], "verbs": ["patch"]}],
    "endpoints": [{"apiGroups": ["discovery.k8s.io"], "resources": ["endpointslices"], "resourceNames": ["db"],
                   "verbs": ["get", "patch"]},
                  {"apiGroups": ["discovery.k8s.io"], "resources": ["endpointslices"], "verbs": ["list"]}],
    "probe": None,
}


class Manifests(Scene):
    overlays = sorted(one.name for one in (MANIFESTS / "overlays").iterdir())

    def rendered(self, overlay):
        """The objects of an overlay as it is."""
        text = self.cluster.kubectl("kustomize", str(MANIFESTS / "overlays" / overlay))
        listed = self.cluster.kubectl("create", "--dry-run=client", "--validate=false", "-o", "json", "-f", "-", given=text)
        decoder, out, at = json.JSONDecoder(), [], 0
        while at < len(listed):
            one, end = decoder.raw_decode(listed, at)
            out += one["items"] if one["kind"] == "List" else [one]
            at = end + len(listed[end:]) - len(listed[end:].lstrip())
        return out

    def template(self, objects):
        [one] = [one for one in objects if one["kind"] in ("Deployment", "StatefulSet")]
        return one["spec"]["template"]

    def test_each_overlay_renders_and_is_accepted_as_it_is(self):
        for overlay in self.overlays:
            with self.subTest(overlay):
                text = self.cluster.kubectl("kustomize", str(MANIFESTS / "overlays" / overlay))
                done = self.cluster.kubectl("apply", "--dry-run=server", "-n", self.space, "-f", "-", given=text, check=False)
                self.assertEqual((done.returncode, done.stderr), (0, ""), overlay)

    def test_pods_of_each_overlay_are_admitted_where_restricted_is_enforced(self):
        self.cluster.kubectl("label", "namespace", self.space, "pod-security.kubernetes.io/enforce=restricted")
        path = self.path("pods") + "?dryRun=All"
        for overlay in self.overlays:
            with self.subTest(overlay):
                template = self.template(self.rendered(overlay))
                pod = {"apiVersion": "v1", "kind": "Pod", **template,
                       "metadata": {**template["metadata"], "name": "db"}}
                pod["spec"]["serviceAccountName"] = "default"
                status, said = self.cluster.api("POST", path, pod)
                self.assertEqual(status, 201, said)
        pod["spec"]["securityContext"] = {}
        self.assertEqual(self.cluster.api("POST", path, pod)[0], 403, "nothing is enforced")

    def test_each_overlay_may_do_what_it_needs_and_nothing_else(self):
        for overlay in self.overlays:
            with self.subTest(overlay):
                roles = {one["metadata"]["name"]: one["rules"] for one in self.rendered(overlay) if one["kind"] == "Role"}
                expected = {"tenure-events"}
                if "etcd" not in overlay:
                    expected.add("tenure")
                way = next((way for way in TRAFFIC_RULES if way in overlay.split("-")), "probe")
                if TRAFFIC_RULES[way]:
                    expected.add("tenure-traffic")
                    self.assertEqual(roles.get("tenure-traffic"), TRAFFIC_RULES[way])
                self.assertEqual(set(roles), expected)

    def test_a_slice_that_was_written_outlives_another_apply(self):
        text = self.cluster.kubectl("kustomize", str(MANIFESTS / "components/traffic-endpoints"), check=False)
        self.assertNotEqual(text.returncode, 0, "a component is not for itself")
        for words in (["apply", "-f", "-"], ["apply", "--server-side", "-f", "-"]):
            with self.subTest(words):
                given = (MANIFESTS / "components/traffic-endpoints/service.yaml").read_text()
                self.cluster.kubectl(*words, "-n", self.space, given=given)
                written = {"endpoints": [{"addresses": ["10.0.0.1"]}]}
                path = self.path("endpointslices", "db")
                self.assertEqual(self.cluster.api("PATCH", path, written, "application/merge-patch+json")[0], 200)
                self.cluster.kubectl(*words, "-n", self.space, given=given)
                self.assertEqual(self.cluster.get(path)["endpoints"][0]["addresses"], ["10.0.0.1"])
                self.cluster.kubectl("delete", "endpointslice,service", "db", "-n", self.space)


class Injected(Scene):
    """What `tenure inject` prints, before the API server."""

    CONTAINERS = """
containers:
- name: main
  image: busybox
  command: ["sleep", "1000"]
  securityContext:
    runAsUser: 1000
    runAsNonRoot: true
    allowPrivilegeEscalation: false
    capabilities: {drop: [ALL]}
    seccompProfile: {type: RuntimeDefault}
"""
    MORE = """
initContainers:
  # before all
  - name: first
    image: busybox
    securityContext:
      runAsNonRoot: true
      allowPrivilegeEscalation: false
      capabilities: {drop: [ALL]}
      seccompProfile: {type: RuntimeDefault}
volumes: []
terminationGracePeriodSeconds: 60
"""

    @staticmethod
    def indented(text, by):
        return "".join(" " * by + line + "\n" for line in text.strip().splitlines())

    def manifests(self):
        """By name."""
        labels = "metadata: {name: web, labels: {app: web}}\n"
        pod = {more: self.indented(self.CONTAINERS + more, 6) for more in ("", self.MORE)}
        template = "  selector: {matchLabels: {app: web}}\n  template:\n    metadata: {labels: {app: web}}\n    spec:\n"
        out = {}
        for more, spec in pod.items():
            name = "more" if more else "plain"
            for kind in ("Deployment", "DaemonSet", "ReplicaSet", "StatefulSet"):
                out[f"{kind} {name}"] = f"apiVersion: apps/v1\nkind: {kind}\n{labels}spec:\n{template}{spec}"
            out[f"Pod {name}"] = f"apiVersion: v1\nkind: Pod\n{labels}spec:\n{spec}"
            out[f"PodTemplate {name}"] = (f"apiVersion: v1\nkind: PodTemplate\n{labels}template:\n"
                                          f"  metadata: {{labels: {{app: web}}}}\n  spec:\n{spec}")
        item = self.indented(out["Deployment more"], 2)
        out["List"] = "apiVersion: v1\nkind: List\nitems:\n- " + item[2:]
        out["two documents"] = "# a comment\n---\n" + out["Deployment plain"] + (
            "---\napiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {ports: [{port: 80}]}\n")
        return out

    def dry_run(self, text):
        """The objects that the API server would have, by kind."""
        done = self.cluster.kubectl("apply", "--dry-run=server", "-n", self.space, "-o", "json", "-f", "-", given=text,
                                    check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""), text)
        found = json.loads(done.stdout)
        return {one["kind"]: one for one in (found["items"] if found["kind"] == "List" else [found])}

    @staticmethod
    def pod(one):
        """The specification of its pods."""
        if one["kind"] == "Pod":
            return one["spec"]
        return (one if one["kind"] == "PodTemplate" else one["spec"])["template"]["spec"]

    def test_each_kind_is_accepted_and_gains_the_sidecar_alone(self):
        # Warnings of Pod Security would be on stderr.
        for way in ("warn", "enforce"):
            self.cluster.kubectl("label", "namespace", self.space, f"pod-security.kubernetes.io/{way}=restricted")
        for name, text in self.manifests().items():
            with self.subTest(name):
                for more in ([], ["--rbac"]):
                    injected = self.inject(text, "--election", "web", *more)
                    before, after = self.dry_run(text), self.dry_run(injected)
                    self.assertEqual(set(after) - set(before), {"Role", "RoleBinding"} if more else set())
                    kind = next(one for one in before if one != "Service")
                    self.check_pods(self.pod(before[kind]), self.pod(after[kind]))
                    self.assertEqual(self.inject(injected, "--uninject"), text)

    def test_manifests_as_known_projects_have_them_are_accepted(self):
        """tests/unit/manifest/known_test.cpp tries the text; each file says in its first line which flag it needs."""
        files = sorted(KNOWN.iterdir())
        self.assertGreaterEqual(len(files), 17)
        for file in files:
            with self.subTest(file.name):
                text = file.read_text().replace("  namespace: kube-system\n", "")
                flags = [text.partition("\n")[0].removeprefix("# flag: ")] if text.startswith("# flag: ") else []
                before, after = self.dry_run(text), self.dry_run(self.inject(text, "--election", "web", *flags))
                [kind] = set(before) - {"ServiceAccount"}
                names = [one["name"] for one in self.pod(after[kind])["initContainers"]]
                self.assertEqual(names[:2], ["tenure-install", "tenure"])

    def check_pods(self, before, after):
        containers = [one["name"] for one in after["initContainers"]]
        self.assertEqual(containers, ["tenure-install", "tenure", *[one["name"] for one in before.get("initContainers", [])]])
        self.assertEqual(after["initContainers"][1]["restartPolicy"], "Always")
        [was], [main] = before["containers"], after["containers"]
        command = main["command"]
        self.assertEqual(command[command.index("--") + 1:], was["command"])
        self.assertEqual(command[:3], ["/tenure-bin/tenure", "guard", "--dir=/run/tenure"])
        self.assertEqual("--drain=50s" in command, after["terminationGracePeriodSeconds"] == 60)
        for one in (before, after):
            for key in ("initContainers", "volumes", "containers"):
                one.pop(key, None)
        self.assertEqual(before, after)


if __name__ == "__main__":
    main(__file__)
