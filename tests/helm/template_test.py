#!/usr/bin/env python3
"""template_test.py TENURE [TEST]...: what Helm makes of the charts, without a cluster."""
import functools
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

import yaml

import charts
from charts import CHART, INJECTION, LIBRARY, ROOT, merged, rendered, template, values_of, workload

OVERLAYS = ROOT / "k8s/overlays"
PROMTOOL = ROOT / "build/servers/prometheus/promtool"
TENURE = ""


class Charts(unittest.TestCase):
    """What is true of the files of the charts."""

    def test_helm_finds_nothing_to_complain_about(self):
        given = yaml.safe_dump(values_of())
        for words in ((CHART,), (CHART, "--values", "-"), (LIBRARY,), (INJECTION,)):
            done = charts.helm("lint", "--strict", *words, given=given)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_the_image_is_of_the_version_of_the_chart(self):
        # That all charts have the version of the program is tested by tests/release.
        version = str(yaml.safe_load((CHART / "Chart.yaml").read_text())["appVersion"])
        self.assertIn(f"name: tenure-library, alias: tenure, version: {version},", (ROOT / "docs/helm.md").read_text())
        image = charts.agent(workload(rendered(values_of()))["spec"]["template"]["spec"])["image"]
        self.assertEqual(image, "tenure:" + version)

    def test_what_is_made_of_other_files_is_up_to_date(self):
        done = subprocess.run([sys.executable, "-B", ROOT / "helm/reference.py", "--check", TENURE], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_each_value_is_told_and_in_the_schema(self):
        for chart in (CHART, LIBRARY, INJECTION):
            schema = json.loads((chart / "values.schema.json").read_text())
            told = set(re.findall(r"^\| `([\w.]+)` ", (chart / "README.md").read_text(), re.M))
            for path in self.leaves(schema):
                is_told = any(path == one or path.startswith(one + ".") for one in told)
                in_library = chart == CHART and path.startswith("tenure.")
                is_setting = path.startswith("settings.")
                self.assertTrue(is_told or in_library or is_setting or path == "global", f"{chart.name}: {path}")
            values = yaml.safe_load((chart / "values.yaml").read_text())
            for path in told:
                for key in path.split("."):
                    self.assertIn(key, values if path.startswith(key) else value, path)
                    value = (values if path.startswith(key) else value)[key]

    def leaves(self, schema, path=""):
        for key, one in schema.get("properties", {}).items():
            inside = list(self.leaves(one, f"{path}{key}.")) if "properties" in one else []
            yield from inside or [path + key]

    def test_alerts_and_dashboard_are_those_that_are_tested(self):
        """One source: links here, their content in a package."""
        objects = rendered(merged(values_of(), {"prometheusRule": {"enabled": True}, "dashboard": {"enabled": True}}))
        [rule] = [one for one in objects if one["kind"] == "PrometheusRule"]
        text = (ROOT / "docker/prometheus/tenure.rules.yml").read_text()
        self.assertIn('job="tenure"', text)
        self.assertEqual(rule["spec"], yaml.safe_load(text.replace('job="tenure"', 'job=~"tenure(/.+)?"')))
        [board] = [one for one in objects if one["kind"] == "ConfigMap"]
        self.assertEqual(json.loads(board["data"]["tenure.json"]), json.loads((ROOT / "docker/grafana/tenure.json").read_text()))
        self.assertTrue(all(one.is_symlink() for one in (CHART / "files").iterdir()), "a copy would be a second source")
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(charts.helm("package", CHART, "--destination", folder).returncode, 0)
            [package] = pathlib.Path(folder).iterdir()
            again = rendered(merged(values_of(), {"prometheusRule": {"enabled": True}, "dashboard": {"enabled": True}}),
                             chart=package)
            self.assertEqual(again, objects)

    @unittest.skipUnless(PROMTOOL.exists(), "there is no promtool: `tests/servers/provide prometheus`")
    def test_prometheus_takes_the_alerts(self):
        objects = rendered(merged(values_of(), {"prometheusRule": {"enabled": True}}))
        with tempfile.NamedTemporaryFile("w", suffix=".yml") as file:
            yaml.safe_dump([one for one in objects if one["kind"] == "PrometheusRule"][0]["spec"], file)
            done = subprocess.run([PROMTOOL, "check", "rules", file.name], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    @unittest.skipUnless(charts.MONITORS.exists(), "`tests/servers/provide helm-today` builds it")
    def test_prometheus_operator_knows_all_fields(self):
        on = {"enabled": True, "labels": {"release": "prometheus"}}
        objects = rendered(merged(values_of(), {"podMonitor": on, "prometheusRule": on}))
        objects += rendered(merged(values_of(), {"serviceMonitor": on}))
        objects = [one for one in objects if one["apiVersion"].startswith("monitoring.coreos.com/")]
        self.assertEqual([one["kind"] for one in objects], ["PodMonitor", "PrometheusRule", "ServiceMonitor"])
        for change, fine in ((lambda one: None, True), (lambda one: one["spec"].update(odd=1), False)):
            for one in objects:
                change(one)
                done = subprocess.run([charts.MONITORS], input=json.dumps(one), capture_output=True, text=True)
                self.assertEqual(done.returncode == 0, fine, done.stderr)

    def test_a_release_is_a_job_that_the_alerts_know(self):
        for kind in ("podMonitor", "serviceMonitor"):
            objects = rendered(merged(values_of(), {kind: {"enabled": True}}))
            [monitor] = [one for one in objects if one["kind"].lower() == kind.lower()]
            [endpoint] = monitor["spec"].get("podMetricsEndpoints") or monitor["spec"]["endpoints"]
            self.assertEqual(endpoint["relabelings"], [{"targetLabel": "job", "replacement": "tenure/team/db"}])
            self.assertRegex("tenure/team/db", r"^tenure(/.+)?$")
            self.assertEqual(endpoint["port"], charts.agent(workload(objects)["spec"]["template"]["spec"])["ports"][-1]["name"])


class Values(unittest.TestCase):
    """What values make of the workload."""

    def pod(self, values):
        return workload(rendered(values))["spec"]["template"]["spec"]

    def test_each_renders_and_its_agent_accepts_the_settings(self):
        for what, values in charts.matrix():
            with self.subTest(what), tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
                agent = charts.agent(self.pod(values))
                flags = dict(one.removeprefix("--").split("=", 1) for one in agent["args"]
                             if one.startswith("--") and "=" in one) if agent["name"] == "tenure" else {}
                given = {**charts.settings(agent), **{key.replace("-", "_"): value for key, value in flags.items()}}
                given |= {"pod_address": "10.0.0.1", "pod_name": "db-0", "pod_namespace": "team"}
                if given["store"] == "kubernetes":
                    given["endpoint"] = "https://kubernetes.default.svc"  # as in a pod
                text = "".join(f"{key}: {'[' + value + ']' if ',' in value else value}\n" for key, value in given.items())
                file.write(text)
                file.flush()
                done = subprocess.run([TENURE, "check", file.name], capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, text + done.stdout + done.stderr)

    def test_secrets_are_mounted_for_the_agent_alone_and_named_nowhere_else(self):
        for mode in charts.MODES:
            with self.subTest(mode):
                pod = self.pod(values_of(mode, store="etcd-secure"))
                [volume] = [one for one in pod["volumes"] if one["name"] == "tenure-store"]
                self.assertEqual(volume["projected"]["defaultMode"], 0o440)
                have = {name for name, one in charts.containers(pod).items()
                        if any(mount["name"] == "tenure-store" for mount in one.get("volumeMounts", []))}
                self.assertEqual(have, {"main" if mode == "exec" else "tenure"})
                files = {item["path"] for source in volume["projected"]["sources"] for item in source["secret"]["items"]}
                named = {value.removeprefix("/etc/tenure/store/") for key, value in
                         charts.settings(charts.agent(pod)).items() if key.endswith("_file")}
                self.assertEqual((files, named), ({"ca.crt", "tls.crt", "tls.key", "password"},) * 2)
        pod = self.pod(values_of(store="consul-secure"))
        self.assertEqual(charts.settings(charts.agent(pod))["token_file"], "/etc/tenure/store/token")

    def test_an_own_store_needs_no_right_to_leases_and_named_ones_are_all_that_is_written(self):
        def rules(values):
            return [rule for one in rendered(values) if one["kind"] == "Role" for rule in one["rules"]]
        self.assertNotIn("leases", str(rules(values_of(store="etcd"))))
        leases = [rule for rule in rules(merged(values_of(way="none", store="kubernetes-named"), {"tenure": {"slots": 2}}))
                  if rule["resources"] == ["leases"]]
        self.assertEqual(leases, [
            {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "resourceNames": ["db", "db.slot-1"],
             "verbs": ["get", "patch"]},
            {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["list", "watch"]}])
        none = merged(values_of(way="none", store="etcd"), {"tenure": {"events": False}})
        self.assertFalse([one for one in rendered(none) if one["kind"] in ("Role", "RoleBinding")])

    def test_pods_tell_each_other_the_end_of_a_term_with_etcd_alone(self):
        for mode in charts.MODES:
            for store, port, is_told in (("etcd", 4041, True), ("etcd", 7000, True), ("etcd", 0, False),
                                         ("consul", 4041, False), ("kubernetes", 4041, False)):
                with self.subTest(mode=mode, store=store, port=port):
                    values = merged(values_of(mode, store=store), {
                        "tenure": {"peerPort": port}, "networkPolicy": {"enabled": True}})
                    objects = rendered(values)
                    agent = charts.agent(workload(objects)["spec"]["template"]["spec"])
                    self.assertEqual(charts.settings(agent).get("peer_listen"), f"0.0.0.0:{port}" if is_told else None)
                    ports = [one for one in agent["ports"] if one["name"] == "tenure-peer"]
                    self.assertEqual(ports, [{"name": "tenure-peer", "containerPort": port, "protocol": "UDP"}] if is_told else [])
                    [policy] = [one for one in objects if one["kind"] == "NetworkPolicy"]
                    open_to_pods = [one for one in policy["spec"]["ingress"] if "podSelector" in str(one.get("from"))]
                    self.assertEqual([one["ports"] for one in open_to_pods],
                                     [[{"port": port, "protocol": "UDP"}]] if is_told else [])
                    for one in objects:
                        if one["kind"] == "Service":
                            self.assertNotIn("tenure-peer", str(one))

    def test_the_guard_is_told_what_the_agent_is_told(self):
        values = merged(values_of(), {"tenure": {"drain": "45s", "stopSignal": "INT"}})
        pod = self.pod(values)
        self.assertEqual(charts.containers(pod)["main"]["command"],
                         ["/tenure-bin/tenure", "guard", "--dir=/run/tenure", "--drain=45s", "--stop-signal=INT", "--"])
        self.assertEqual(pod["terminationGracePeriodSeconds"], 55)
        settings = charts.settings(charts.agent(pod))
        self.assertEqual((settings["drain"], settings["stop_signal"]), ("45s", "INT"))

    def test_the_agent_has_a_place_for_its_socket_and_its_values_name_another(self):
        for mode in charts.MODES:
            with self.subTest(mode):
                pod = self.pod(values_of(mode))
                [volume] = [one for one in pod["volumes"] if one["name"] == "tenure-run"]
                self.assertEqual(volume["emptyDir"], {"medium": "Memory"})
                have = {name for name, one in charts.containers(pod).items()
                        if {"name": "tenure-run", "mountPath": "/run/tenure"} in one.get("volumeMounts", [])}
                guarded = {"main", "tenure"} if mode.startswith("guard") else {charts.agent(pod)["name"]}
                self.assertEqual(have, guarded)
                self.assertEqual(charts.settings(charts.agent(pod))["runtime_dir"], "/run/tenure/agent")
        # Helm reads `off` as false.
        for given, wanted in (("/run/other", "/run/other"), ("off", "off"), (False, "off")):
            pod = self.pod(merged(values_of(), {"tenure": {"settings": {"runtime_dir": given}}}))
            self.assertEqual(charts.settings(charts.agent(pod))["runtime_dir"], wanted)

    def test_a_budget_is_made_where_a_standby_is_ready(self):
        for mode in charts.MODES:
            for way in charts.WAYS:
                with self.subTest(f"{mode} {way}"):
                    found = [one for one in rendered(values_of(mode, way)) if one["kind"] == "PodDisruptionBudget"]
                    self.assertEqual(len(found), 0 if charts.only_active_is_ready(mode, way) else 1)

    def test_a_text_may_look_like_a_number(self):
        for words, tag in ((("--set", "image.tag=7"), "7"), (("--set", "image.tag=20260131"), "20260131"),
                           (("--set-string", "image.tag=1.10"), "1.10"), (("--set", "image.digest=sha256:" + "a" * 64), None)):
            for path, name in (("", "main"), ("tenure.", "tenure")):
                words = [one.replace("image.", path + "image.") for one in words]
                pod = workload(rendered(values_of(), *words))["spec"]["template"]["spec"]
                image = charts.containers(pod)[name]["image"]
                self.assertTrue(image.endswith(f":{tag}" if tag else "@sha256:" + "a" * 64), image)
        pod = workload(rendered(values_of(), "--set", "command={/bin/sleep,20000000}", "--set", "tenure.settings.priority=1000000"))
        main, agent = (charts.containers(pod["spec"]["template"]["spec"])[name] for name in ("main", "tenure"))
        self.assertEqual((main["args"], charts.settings(agent)["priority"]), (["/bin/sleep", "20000000"], "1000000"))
        objects = rendered(merged(values_of(way="label", store="kubernetes-named"), {"tenure": {"election": "123"}}))
        self.assertEqual([one["metadata"]["name"] for one in objects if one["kind"] == "Lease"], ["123"])
        [service] = [one for one in objects if one["kind"] == "Service"]
        self.assertEqual(service["spec"]["selector"]["tenure.dev/election"], "123")
        self.assertIn("at '/image/tag'", template(values_of(), "--set-json", "image.tag=1.10").stderr)

    def test_null_is_what_is_not_said(self):
        """A key without a value, as it is left when all lines under it are comments, and as GitOps tools write it."""
        usual = rendered(values_of())
        schema = json.loads((CHART / "values.schema.json").read_text())
        needed = {"image", "image.repository", "command", "ports", "podSecurityContext"}
        for path, one in self.nullable(schema):
            if path in needed:
                continue
            value = None
            for key in reversed(path.split(".")):
                value = {key: value}
            with self.subTest(path):
                objects = rendered(merged(values_of(way="auto"), value))
                if path not in ("securityContext", "dashboard.labels", "tenure.resources", "tenure.traffic", "tenure.traffic.way",
                                "tenure"):
                    self.assertEqual(objects, usual)
        self.assertIn("image.repository: give the image", template(merged(values_of(), {"image": None})).stderr)
        self.assertIn("give it the `command`", template(merged(values_of(), {"command": None})).stderr)

    def nullable(self, schema, path=""):
        for key, one in schema["properties"].items():
            if key == "settings" or path + key == "global":
                continue
            yield path + key, one
            if one.get("additionalProperties") is False:
                yield from self.nullable(one, f"{path}{key}.")

    def test_a_number_or_a_boolean_may_be_a_text(self):
        """As `--set-string` and the parameters of GitOps tools give them."""
        for path, text, value in (("replicas", "3", 3), ("tenure.slots", "1", 1), ("tenure.probePort", "9000", 9000),
                                  ("tenure.events", "false", False), ("tenure.rbac.create", "false", False),
                                  ("topologySpread.enabled", "false", False), ("podDisruptionBudget.enabled", "false", False),
                                  ("podDisruptionBudget.enabled", "true", True), ("dashboard.enabled", "true", True),
                                  ("tenure.settings.priority", "7", 7), ("tenure.settings.prefer_newer", "true", True)):
            with self.subTest(path):
                self.assertEqual(rendered(values_of(), "--set-string", f"{path}={text}"),
                                 rendered(values_of(), "--set-json", f"{path}={json.dumps(value)}"))
        self.assertIn("at '/tenure/slots'", template(values_of(), "--set-string", "tenure.slots=1001").stderr)
        self.assertIn("at '/tenure/probePort'", template(values_of(), "--set-string", "tenure.probePort=65536").stderr)
        labelled = merged(values_of(), {"podLabels": {"a": 1, "b": True}, "podAnnotations": {"c": 20000000}})
        metadata = workload(rendered(labelled))["spec"]["template"]["metadata"]
        self.assertEqual((metadata["labels"]["a"], metadata["labels"]["b"], metadata["annotations"]), ("1", "true", {"c": "20000000"}))

    def test_an_image_may_be_written_whole(self):
        digest = "sha256:" + "ab" * 32
        for given, wanted in (({"repository": "r:5000/w:7"}, "r:5000/w:7"), ({"repository": "r/w@" + digest}, "r/w@" + digest),
                              ({"repository": "r:5000/w", "tag": "7@" + digest}, "r:5000/w:7@" + digest),
                              ({"repository": "r:5000/w", "tag": "7", "digest": digest}, "r:5000/w@" + digest),
                              ({"repository": "r:5000/w", "tag": None}, "r:5000/w")):
            with self.subTest(given):
                pod = workload(rendered(merged(values_of(), {"image": given})))["spec"]["template"]["spec"]
                self.assertEqual(charts.containers(pod)["main"]["image"], wanted)
        whole = {"image": {"repository": "r/t@" + digest}}
        for path, values in (("image", whole), ("tenure.image", {"tenure": whole})):
            said = template(merged(values_of(), values), "--set", path + ".tag=7").stderr
            self.assertIn(f"{path}: the repository \"r/t@{digest}\" has a tag or a digest already", said)
        self.assertEqual(charts.agent(workload(rendered(merged(values_of(), {"tenure": whole})))["spec"]["template"]["spec"])["image"],
                         "r/t@" + digest)
        self.assertIn("at '/image/tag'", template(values_of(), "--set", "image.tag=" + digest).stderr)

    def test_the_notes_say_so_of_an_image_that_is_latest(self):
        for given, is_latest in (({"repository": "r:5000/w"}, True), ({"repository": "r:5000/w", "tag": "7"}, False),
                                 ({"repository": "r:5000/w:7"}, False)):
            with self.subTest(given):
                values = yaml.safe_dump(merged(values_of(), {"image": given}))
                done = charts.helm("install", "db", CHART, "--dry-run=client", "--values", "-", given=values)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual("has no tag, so it is `latest`" in done.stdout, is_latest, done.stdout)

    def test_pods_of_one_roll_out_are_spread(self):
        for kind, key in (("Deployment", "pod-template-hash"), ("StatefulSet", "controller-revision-hash")):
            [spread] = self.pod(values_of(kind=kind))["topologySpreadConstraints"]
            self.assertEqual(spread["matchLabelKeys"], [key])
        done = template(values_of("exec"), "--kube-version", "1.26.0")
        self.assertNotIn("matchLabelKeys", done.stdout)

    def test_fields_that_many_charts_have(self):
        where = {"nodeSelector": {"disk": "ssd"}, "tolerations": [{"key": "a", "operator": "Exists"}],
                 "affinity": {"nodeAffinity": {}}}
        objects = rendered(merged(values_of(), {**where, "nameOverride": "orders", "commonLabels": {"team": 7}}))
        pod = workload(objects)["spec"]["template"]
        self.assertEqual({key: pod["spec"][key] for key in where}, where)
        self.assertEqual(pod["metadata"]["labels"]["team"], "7")
        self.assertEqual(workload(objects)["spec"]["selector"]["matchLabels"],
                         {"app.kubernetes.io/name": "orders", "app.kubernetes.io/instance": "db"})
        for one in objects:
            self.assertEqual(one["metadata"]["labels"]["team"], "7", one["kind"])

    def test_the_containers_of_tenure_have_limits_and_leave_nothing_on_the_disk(self):
        both = {"cpu": "100m", "memory": "32Mi"}
        for mode in charts.MODES:
            with self.subTest(mode):
                pod = self.pod(merged(values_of(mode), {"tenure": {"resources": {"requests": both, "limits": both}}}))
                for name in {"tenure", "tenure-install"} & set(charts.containers(pod)):
                    self.assertEqual(charts.containers(pod)[name]["resources"], {"requests": both, "limits": both})
                for one in pod["volumes"]:
                    self.assertEqual(one["emptyDir"], {"medium": "Memory"})

    def test_without_ports_there_is_no_service(self):
        values = merged(values_of(way="auto"), {"ports": []})
        self.assertFalse([one for one in rendered(values) if one["kind"] in ("Service", "EndpointSlice")])
        self.assertTrue([one for one in rendered(values_of(way="auto")) if one["kind"] == "EndpointSlice"])


class Refused(unittest.TestCase):
    """A wrong value is refused, with its path."""

    def refused(self, path, *more, words=(), base=None, **values):
        done = template(merged(base or values_of(), values), *words)
        self.assertNotEqual(done.returncode, 0, f"{values} is taken")
        self.assertIn(path, done.stderr)
        for one in more:
            self.assertIn(one, done.stderr)

    def tenure(self, path, *more, base=None, words=(), **values):
        self.refused(path, *more, base=base, words=words, tenure=values)

    def test_by_the_schema(self):
        self.refused("at '/replicas'", replicas="two")
        self.refused("at '/kind'", kind="DaemonSet")
        self.refused("additional properties 'replica' not allowed", replica=2)
        self.refused("at '/ports/0/containerPort'", ports=[{"containerPort": 0}])
        self.refused("at '/podDisruptionBudget/enabled'", podDisruptionBudget={"enabled": "yes"})
        self.tenure("at '/tenure/stop/mode'", stop={"mode": "gard"})
        self.tenure("at '/tenure/ttl'", ttl=15)
        self.tenure("at '/tenure/ttl'", ttl="15")
        self.tenure("at '/tenure/traffic/way'", traffic={"way": "dns"})
        self.tenure("at '/tenure/store/kind'", store={"kind": "redis"})
        self.tenure("at '/tenure/store/endpoints/0'", store={"kind": "etcd", "endpoints": ["etcd:2379"]})
        self.tenure("at '/tenure/settings/health_http'", settings={"health_http": {}})
        self.tenure("at '/tenure/slots'", slots=0)
        self.tenure("at '/tenure/probePort'", probePort=70000)

    def test_a_secret_as_text(self):
        self.tenure("at '/tenure/store': additional properties 'password' not allowed", store={"password": "sesame"})
        self.tenure("at '/tenure/store': additional properties 'token' not allowed", store={"token": "sesame"})
        self.tenure("at '/tenure/store/passwordSecret': additional properties 'value' not allowed",
                    store={"passwordSecret": {"value": "sesame"}})

    def test_a_store_that_cannot_work(self):
        self.tenure("tenure.store.kind: sqlite", "use kubernetes, etcd or consul", store={"kind": "sqlite"})
        self.tenure("tenure.store.endpoints: say where etcd is", store={"kind": "etcd"})
        self.tenure("tenure.store: kubernetes takes", store={"endpoints": ["https://10.0.0.1:6443"]})
        etcd = {"kind": "etcd", "endpoints": ["https://etcd:2379"]}
        self.tenure("tenure.store: user and passwordSecret.name need each other", store={**etcd, "user": "me"})
        self.tenure("tenure.store.tokenSecret: is for consul", store={**etcd, "tokenSecret": {"name": "a"}})
        self.tenure("tenure.store.user: is for etcd", store={
            "kind": "consul", "endpoints": ["http://consul:8500"], "user": "me", "passwordSecret": {"name": "a"}})
        self.tenure("tenure.store.tls: certificateKey and privateKeyKey", store={
            **etcd, "tls": {"secretName": "a", "certificateKey": "tls.crt"}})
        self.tenure("tenure.store.tls.secretName", store={
            **etcd, "tls": {"certificateKey": "tls.crt", "privateKeyKey": "tls.key"}})
        self.tenure("tenure.rbac.leases: etcd has no Leases", store=etcd, rbac={"leases": "named"})

    def test_a_name_that_is_not_one_of_an_object(self):
        self.tenure("tenure.election: \"a/b\"", election="a/b")
        etcd = {"kind": "etcd", "endpoints": ["http://etcd:2379"]}
        self.tenure("tenure.election: \"a/b\"", election="a/b", store=etcd, traffic={"way": "label"})
        self.assertEqual(template(merged(values_of(), {"tenure": {"election": "a/b", "store": etcd}})).returncode, 0)

    def test_a_roll_out_that_would_never_end(self):
        rolling = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 1}}
        all_at_once = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": "100%"}}
        for mode, way in (("guard", "gate"), ("guard", "probe"), ("exit-code", "label")):
            base = values_of(mode, way)
            self.refused("strategy: with tenure.stop.mode", "never ends", base=base, strategy=rolling)
            self.refused("strategy:", base=base, strategy={"type": "RollingUpdate"})
            for fine in (all_at_once, {"type": "Recreate"}, merged(all_at_once, {"rollingUpdate": {"maxUnavailable": 2}})):
                self.assertEqual(template(merged(base, {"strategy": fine})).returncode, 0, fine)
            self.assertEqual(workload(rendered(base))["spec"]["strategy"], all_at_once)
            self.refused("updateStrategy:", "OnDelete", base=merged(values_of(mode, way), {"kind": "StatefulSet"}))
            self.refused("podDisruptionBudget.enabled:", base=base, podDisruptionBudget={"enabled": True})
        self.assertEqual(template(merged(values_of(), {"strategy": rolling})).returncode, 0)
        # The probe of a command that does not run on a standby.
        ready = {"readinessProbe": {"tcpSocket": {"port": 5432}}}
        self.refused("strategy:", base=values_of(), containerSpec=ready, strategy=rolling)
        self.assertEqual(template(merged(values_of("signal"), {"containerSpec": ready, "strategy": rolling})).returncode, 0)

    def test_a_container_that_cannot_be_wrapped(self):
        for mode in ("guard", "guard-plain", "exec"):
            base = values_of(mode)
            self.refused("tenure.stop.mode:", "give it the `command`", base=base, command=[])
            for probe in ("livenessProbe", "startupProbe"):
                self.refused("livenessProbe and startupProbe would fail", base=base,
                             containerSpec={probe: {"tcpSocket": {"port": 1}}})
            self.refused("where the agent would answer probes", base=base, ports=[{"containerPort": 8081, "name": "main"}])
        nobody = {"podSecurityContext": {"runAsUser": None}}
        self.refused("securityContext.runAsUser", base=values_of("signal"), **nobody)
        for mode in ("guard", "guard-plain"):
            self.refused("only an agent of its user can kill it", base=values_of(mode), podSpec={"shareProcessNamespace": True}, **nobody)
        self.refused("tenure.traffic.way probe is a readinessProbe", base=values_of(way="probe"),
                     containerSpec={"readinessProbe": {"tcpSocket": {"port": 1}}})
        self.refused("this name is for Tenure's own container", extraContainers=[{"name": "tenure", "image": "a"}])
        self.tenure("tenure.container: the pod has no container \"other\"", container="other")
        self.refused("tenure.stop.signal:", base=values_of("signal"), args=[])
        self.refused("tenure.stop.signal: give one of", base=values_of("signal"),
                     tenure={"stop": {"signal": {"executable": "a", "pidFile": "/b"}}})

    def test_a_user_that_nobody_knows(self):
        """Agent and guard meet as after `tenure inject`."""
        for mode in ("guard", "guard-plain"):
            pod = workload(rendered(merged(values_of(mode), {"podSecurityContext": {"runAsUser": None}})))["spec"]["template"]["spec"]
            parts = charts.containers(pod)
            self.assertEqual(parts["tenure-install"]["args"], ["install", "/tenure-bin", "--guard-dir=/run/tenure/guard"])
            self.assertIn({"name": "tenure-run", "mountPath": "/run/tenure"}, parts["tenure-install"]["volumeMounts"])
            self.assertIn("--guard-dir=/run/tenure/guard", parts["tenure"]["args"])
            self.assertEqual(parts["main"]["command"][1:4], ["guard", "--dir=/run/tenure/guard", "--agent-uid=65532"])
            for name in ("tenure-install", "tenure"):
                self.assertNotIn("runAsUser", parts[name]["securityContext"])
                self.assertTrue(parts[name]["securityContext"]["runAsNonRoot"])

    def test_a_pod_that_inject_and_the_policy_refuse_too(self):
        """In the same words: what is one reason to a user must not depend on how Tenure comes into the pod."""
        policy = rendered(Injection.VALUES, chart=INJECTION)
        [problems] = [one["expression"] for one in Injection.named(policy, "ValidatingAdmissionPolicy")["spec"]["variables"]
                      if one["name"] == "problems"]
        problems = re.sub(r"' \+\s+'", "", problems)
        main = {"name": "main", "image": "a", "command": ["/bin/work"], "securityContext": {"runAsUser": 1}}
        for words, of_pod, of_main in (
                ("with hostPID, what the guard has started would outlive the guard, and be in the view of every pod of the node",
                 {"hostPID": True}, {}),
                ("this pod is for Windows", {"nodeSelector": {"kubernetes.io/os": "windows"}}, {}),
                ("this pod is for Windows", {"os": {"name": "windows"}}, {}),
                ("postStart would run when the container starts, on a standby too", {},
                 {"lifecycle": {"postStart": {"exec": {"command": ["a"]}}}}),
                ("which Tenure uses", {}, {"volumeMounts": [{"name": "v", "mountPath": "/run/tenure/a"}]}),
                ("there is a volume ", {"volumes": [{"name": "tenure-bin", "emptyDir": {}}]}, {}),
                ("the command runs under ", {}, {"command": ["/tenure-bin/tenure", "guard", "--", "a"]})):
            with self.subTest(words):
                pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"},
                       "spec": {**of_pod, "containers": [{**main, **of_main}]}}
                done = subprocess.run([TENURE, "inject", "-", "--election", "a"], input=yaml.safe_dump(pod),
                                      text=True, capture_output=True)
                self.assertEqual(done.returncode, 1)
                self.assertIn(words, done.stderr)
                self.assertIn(words, problems)
                own = {key: value for key, value in of_main.items() if key in ("command", "ports", "volumeMounts")}
                values = {**own, "containerSpec": {key: value for key, value in of_main.items() if key not in own},
                          **({key: value for key, value in of_pod.items() if key in ("nodeSelector", "volumes")}),
                          "podSpec": {key: value for key, value in of_pod.items() if key not in ("nodeSelector", "volumes")}}
                for mode in ("guard", "guard-plain", "exec"):
                    self.refused(words, base=values_of(mode), **values)

    def test_what_the_chart_writes_itself(self):
        for values in ({"podSpec": {"volumes": []}}, {"podSpec": {"topologySpreadConstraints": []}},
                       {"podSpec": {"securityContext": {}}}, {"containerSpec": {"env": []}},
                       {"podLabels": {"app.kubernetes.io/name": "a"}}, {"commonLabels": {"helm.sh/chart": "a"}}):
            [(path, keys)] = values.items()
            self.refused(f"{path}.{list(keys)[0]}: the chart writes this itself", **values)
        off = {"topologySpread": {"enabled": False}, "podSpec": {"topologySpreadConstraints": []}}
        self.assertEqual(template(merged(values_of(), off)).returncode, 0)

    def test_a_setting_that_cannot_work(self):
        for path, settings in (("at '/tenure/settings'", {"nosuch": 1}), ("at '/tenure/settings/health_interval'", {"health_interval": 2000}),
                               ("tenure.settings.identity: each pod has its own", {"identity": "db"}),
                               ("tenure.settings.observe: a pod that only watches", {"observe": True}),
                               ("tenure.settings.election: another value of the chart says this already: tenure.election",
                                {"election": "a"}),
                               ("tenure.probePort: is the port of the API, too", {"listen": "0.0.0.0:8081"})):
            self.tenure(path, settings=settings)
        self.tenure("tenure.ttl: a lease would be renewed every 667 ms", ttl="2s")
        self.tenure("tenure.stop.exitCode.killBudget: the kubelet ends the main container up to 3s after", base=values_of("exit-code"),
                    stop={"exitCode": {"killBudget": "2s"}})
        self.assertEqual(template(merged(values_of(), {"tenure": {"settings": {"priority": None}}})).returncode, 0)

    def test_what_the_agent_would_refuse(self):
        """`tenure check` and the chart agree on each of these, and so on whether the pods would start."""
        kinds = {"kubernetes": {}, "etcd": {"endpoints": ["http://etcd:2379"]}, "consul": {"endpoints": ["http://consul:8500"]}}
        health = {"health_http": "http://127.0.0.1:1/"}
        both = [0, 0]
        for store, ttl, settings in (
                *((store, ttl, {}) for store in kinds for ttl in ("500ms", "1s", "2s", "2999ms", "3s", "15s", "24h", "24h1s")),
                *(("etcd", "2s", {"renew": renew}) for renew in ("49ms", "50ms", "1s", "1500ms", "1600ms", "2s", "3s")),
                *(("etcd", "10s", {"grace": grace}) for grace in ("0s", "6s", "6060ms", "6100ms", "10s", "11s")),
                *(("etcd", "10s", {"kill_budget": kill}) for kill in ("0s", "1ms", "5s", "5100ms", "11s")),
                *(("etcd", "10s", {"lock_delay": delay}) for delay in ("0s", "10s", "10001ms")),
                *(("etcd", "10s", {"drift": drift}) for drift in ("0%", "20%", "21%", "1")),
                ("etcd", "10s", {"drift": "20%", "grace": "4s"}), ("etcd", "10s", {"drift": "20%", "grace": "4100ms"}),
                *((store, "15s", {key: value}) for store in kinds for key, value in (
                    ("datacenter", "a"), ("session_without_ttl", True), ("session_lock_delay", "61s"), ("session_lock_delay", "60s"))),
                *(("consul", "15s", {**health, key: value}) for key, value in (
                    ("health_interval", "99ms"), ("health_interval", "100ms"), ("health_interval", "1h"), ("health_interval", "61m"),
                    ("health_timeout", "49ms"), ("health_timeout", "2s"), ("health_timeout", "2001ms"), ("health_delay", "25h"),
                    ("health_failures", 0), ("health_failures", 100), ("health_failures", 101), ("health_file_age", "1s"),
                    ("health_while", "always"), ("health_while", "sometimes"))),
                ("consul", "15s", {"health_interval": "2s"}), ("consul", "15s", {"health_http": "http://10.0.0.1/"}),
                ("consul", "15s", {"health_http": "http://127.0.0.1:0/"}), ("consul", "15s", {"health_file": "/a", "health_file_age": "500ms"}),
                ("consul", "15s", {"health_command": "pg_isready -q"}), ("consul", "15s", {"health_command": '"" a'}),
                ("consul", "15s", {"gain_http": "http://127.0.0.1:1/"}), ("consul", "15s", {"stop_command": "a"}),
                ("consul", "15s", {"target_uid": 5}), ("consul", "15s", {"listen": "0.0.0.0:8081"}),
                ("consul", "15s", {"listen": "10.0.0.1"}), ("consul", "15s", {"control_token_file": "-----BEGIN"}),
                ("consul", "15s", {"priority": 1000001}), ("consul", "15s", {"on_lost": "stop"})):
            with self.subTest(f"{store} {ttl} {settings}"), tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
                given = {"store": store, "election": "db", "ttl": ttl, "guard_dir": "/run/tenure", **settings,
                         "endpoint": kinds[store].get("endpoints", ["https://kubernetes.default.svc"])}
                yaml.safe_dump(given, file)
                checked = subprocess.run([TENURE, "check", file.name], capture_output=True, text=True)
                values = merged(values_of(), {"tenure": {"ttl": ttl, "settings": settings, "store": {"kind": store, **kinds[store]}}})
                done = template(values)
                self.assertEqual(done.returncode == 0, checked.returncode == 0, checked.stdout + checked.stderr + done.stderr)
                both[done.returncode == 0] += 1
        self.assertGreater(min(both), 20)

    def test_what_the_cluster_does_not_have(self):
        for mode in ("guard", "signal"):
            self.refused("tenure.stop.mode:", "use guard-plain or exec", base=values_of(mode), words=("--kube-version", "1.28.0"))
        self.refused("tenure.stop.mode: exit-code needs Kubernetes 1.35", base=values_of("exit-code"),
                     words=("--kube-version", "1.34.0"))
        for mode in ("guard-plain", "exec"):
            self.assertEqual(template(values_of(mode), "--kube-version", "1.28.0").returncode, 0)

    def test_traffic_time_and_rights_that_do_not_fit(self):
        self.tenure("tenure.traffic.way: endpoints names one pod, and there are 2 slots", slots=2)
        self.refused("tenure.traffic.service.ports: endpoints needs a port", ports=[])
        self.refused("terminationGracePeriodSeconds: 20 is too short", podSpec={"terminationGracePeriodSeconds": 20})
        self.refused("automountServiceAccountToken:", podSpec={"automountServiceAccountToken": False})
        self.tenure("tenure.serviceAccount:", serviceAccount={"create": False})
        self.tenure("tenure.settings.ttl:", settings={"ttl": "3s"})
        self.refused("serviceMonitor.enabled:", podMonitor={"enabled": True}, serviceMonitor={"enabled": True})
        self.refused("image.repository: give the image", image={"repository": ""})


class Library(unittest.TestCase):
    """A chart of somebody else's, and the one line."""

    DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: orders}
spec:
  selector: {matchLabels: {app: orders}}
  template:
    metadata: {labels: {app: orders}}
    spec:
      securityContext: {runAsUser: 1000, runAsNonRoot: true}
      containers:
        - {name: proxy, image: "proxy:1"}
        - {name: orders, image: "orders:7", command: [python3, -m, orders], args: ["{{ .Values.flag }}"], securityContext: {runAsUser: 1001}}
"""

    chart = staticmethod(charts.of_somebody)

    def test_one_line_adds_it_to_a_chart(self):
        with tempfile.TemporaryDirectory() as folder:
            objects = rendered({}, chart=self.chart(folder, self.DEPLOYMENT))
        self.assertEqual([one["kind"] for one in objects], ["ServiceAccount", "Role", "RoleBinding", "Deployment"])
        pod = workload(objects)["spec"]["template"]["spec"]
        parts = charts.containers(pod)
        self.assertEqual(list(parts), ["tenure-install", "tenure", "proxy", "orders"])
        self.assertEqual(parts["proxy"], {"name": "proxy", "image": "proxy:1"})
        self.assertEqual(parts["orders"]["args"], ["python3", "-m", "orders", "--fast"])
        self.assertEqual(parts["tenure"]["securityContext"]["runAsUser"], 1001, "the agent is of the guard's user")
        self.assertEqual(charts.settings(parts["tenure"])["election"], "orders")
        self.assertEqual(pod["serviceAccountName"], "orders")

    def test_a_workload_without_labels(self):
        """Nothing is beside an empty mapping."""
        text = self.DEPLOYMENT.replace("        - {name: proxy, image: \"proxy:1\"}\n", "")
        for values in ({"traffic": {"way": way, "service": {"ports": [{"name": "main", "port": 1}]}}} for way in charts.WAYS):
            with tempfile.TemporaryDirectory() as folder:
                objects = rendered({"tenure": values}, chart=self.chart(folder, text))
            for one in objects:
                if one["kind"] == "EndpointSlice":
                    self.assertEqual(one["metadata"]["labels"], {"kubernetes.io/service-name": "orders",
                                                                 "endpointslice.kubernetes.io/managed-by": "tenure.dev"})
        with tempfile.TemporaryDirectory() as folder:
            objects = rendered({"tenure": {"slots": 2, "rbac": {"leases": "named"}}}, chart=self.chart(folder, text))
        self.assertEqual([one["metadata"].get("labels") for one in objects if one["kind"] == "Lease"],
                         [None, {"tenure.dev/election": "orders"}])

    def test_its_containers_are_for_namespaces_with_pod_security_restricted(self):
        with tempfile.TemporaryDirectory() as folder:
            pod = workload(rendered({}, chart=self.chart(folder, self.DEPLOYMENT)))["spec"]["template"]["spec"]
            root = self.DEPLOYMENT.replace("runAsUser: 1001", "runAsUser: 0").replace(", runAsNonRoot: true", "")
            of_root = workload(rendered({}, chart=self.chart(folder + "/2", root)))["spec"]["template"]["spec"]
        for name in ("tenure-install", "tenure"):
            own = charts.containers(pod)[name]["securityContext"]
            self.assertEqual((own["runAsNonRoot"], own["seccompProfile"]), (True, {"type": "RuntimeDefault"}))
            self.assertNotIn("runAsNonRoot", charts.containers(of_root)[name]["securityContext"])

    def test_a_condition_of_the_chart_above(self):
        """Helm hands `enabled` and `global` to the schema, too."""
        with tempfile.TemporaryDirectory() as folder:
            above = pathlib.Path(folder, "above")
            (above / "charts").mkdir(parents=True)
            (above / "charts/tenure").symlink_to(CHART)
            (above / "Chart.yaml").write_text(yaml.safe_dump({
                "apiVersion": "v2", "name": "above", "version": "1.0.0", "dependencies": [
                    {"name": "tenure", "alias": "db", "version": yaml.safe_load((CHART / "Chart.yaml").read_text())["version"],
                     "condition": "db.enabled"}]}))
            (above / "values.yaml").write_text(yaml.safe_dump({"global": {"a": "b"}, "db": {"enabled": True, **values_of()}}))
            self.assertEqual([one["metadata"]["name"] for one in rendered({}, chart=above) if one["kind"] == "Deployment"], ["db"])
            self.assertEqual(rendered({"db": {"enabled": False}}, chart=above), [])
        self.assertIn("enabled: only the `condition`", template(merged(values_of(), {"enabled": False})).stderr)

    def test_an_account_of_the_pod_is_used(self):
        with tempfile.TemporaryDirectory() as folder:
            text = self.DEPLOYMENT.replace("    spec:\n      security", "    spec:\n      serviceAccountName: own\n      security")
            objects = rendered({}, chart=self.chart(folder, text))
        self.assertFalse([one for one in objects if one["kind"] == "ServiceAccount"])
        [binding] = [one for one in objects if one["kind"] == "RoleBinding"]
        self.assertEqual(binding["subjects"], [{"kind": "ServiceAccount", "name": "own", "namespace": "team"}])

    def test_what_cannot_be_added_to_is_refused(self):
        for text, why in ((self.DEPLOYMENT.replace("kind: Deployment", "kind: DaemonSet"), "kind: DaemonSet has no standby"),
                          (self.DEPLOYMENT + "---\nkind: Service\n", "does not write one YAML object"),
                          (self.DEPLOYMENT.replace("command: [python3, -m, orders], ", ""), "has none: give it the `command`")):
            with tempfile.TemporaryDirectory() as folder:
                self.assertIn(why, template({}, chart=self.chart(folder, text)).stderr)
        with tempfile.TemporaryDirectory() as folder:
            said = template({"tenure": {"container": ""}}, chart=self.chart(folder, self.DEPLOYMENT)).stderr
            self.assertIn("tenure.container: the pod has several containers", said)


class Injection(unittest.TestCase):
    """The policies of helm/tenure-injection; tests/helm/injection.py has what an API server makes of them."""

    KIND = "admissionregistration.k8s.io/{}/MutatingAdmissionPolicy"
    VALUES = {"apiVersion": "v1"}

    def objects(self, values=None, *words):
        return rendered(merged(self.VALUES, values or {}), *words, chart=INJECTION)

    @staticmethod
    def named(objects, kind, name="injection.tenure.dev"):
        [one] = [one for one in objects if (one["kind"], one["metadata"]["name"]) == (kind, name)]
        return one

    def mutation(self, values=None):
        [one] = self.named(self.objects(values), "MutatingAdmissionPolicy")["spec"]["mutations"]
        return one["jsonPatch"]["expression"]

    def test_the_newest_version_that_the_cluster_has_is_taken(self):
        def versions(*known, of=None):
            words = [word for one in known for word in ("--api-versions", self.KIND.format(one))]
            return {one["apiVersion"].split("/")[1] for one in self.objects({"apiVersion": of or "auto"}, *words)
                    if one["kind"].startswith("Mutating")}
        self.assertEqual(versions("v1", "v1beta1"), {"v1"})
        self.assertEqual(versions("v1beta1"), {"v1beta1"})
        self.assertEqual(versions("v1", of="v1beta1"), {"v1beta1"})
        said = template({}, chart=INJECTION).stderr
        self.assertIn("this cluster has no MutatingAdmissionPolicy", said)
        self.assertIn("--feature-gates=MutatingAdmissionPolicy=true", said)

    def test_a_wrong_value_is_refused(self):
        for values, why in (({"settings": {"store": "etcd"}}, "settings.store: the policy decides this"),
                            ({"settings": {"identity": "a"}}, "settings.identity: each pod has its own"),
                            ({"settings": {"traffic": "gate"}}, "settings.traffic: needs a label"),
                            ({"settings": {"TTL": "6s"}}, "additional properties 'TTL'"),
                            ({"settings": {"ttl": "2s"}}, "settings.ttl: a lease would be renewed every 667 ms"),
                            ({"probePort": 4040}, "probePort: is the port of the API, too"),
                            ({"enabled": False}, "enabled: only the `condition`"),
                            ({"resources": {"limits": {"cpu": 1}}}, "/resources/limits/cpu"),
                            ({"rbac": {"bindings": [{"namespace": "a"}]}}, "serviceAccount"),
                            ({"apiVersion": "v2"}, "/apiVersion"), ({"odd": 1}, "odd")):
            with self.subTest(values):
                done = template(merged(self.VALUES, values), chart=INJECTION)
                self.assertNotEqual(done.returncode, 0)
                self.assertIn(why, done.stderr)

    def test_values_are_in_the_containers(self):
        digest = "sha256:" + "a" * 64
        text = self.mutation({"image": {"repository": "r/t", "digest": digest, "pullPolicy": "Always"}, "probePort": 9000,
                              "settings": {"ttl": "6s", "priority": 1000000, "events": True, "allowed_host": ["a", "b"]},
                              "resources": {"limits": {"memory": "64Mi"}}})
        self.assertEqual(text.count(f'image: "r/t@{digest}"'), 2)
        self.assertEqual(text.count('imagePullPolicy: "Always"'), 2)
        self.assertIn('"memory":"64Mi"', text)
        said = dict(re.findall(r'env\{name: "TENURE_(\w+)", value: ("[^"]*")\}', text))
        self.assertEqual(said, {"TTL": '"6s"', "PRIORITY": '"1000000"', "EVENTS": '"true"', "ALLOWED_HOST": '"a,b"',
                                "RUNTIME_DIR": '"/run/tenure/agent"'})
        text = self.mutation({"image": {"tag": 7}})
        self.assertIn('image: "tenure:7"', text)

    def test_all_policies_find_the_same_problems(self):
        objects = self.objects({"probePort": 9000})
        def variables(kind, name="injection.tenure.dev"):
            return {one["name"]: one["expression"] for one in self.named(objects, kind, name)["spec"]["variables"]}
        mutating, refusing = variables("MutatingAdmissionPolicy"), variables("ValidatingAdmissionPolicy")
        warning = variables("ValidatingAdmissionPolicy", "workloads.injection.tenure.dev")
        self.assertEqual({key: mutating[key] for key in refusing}, refusing)
        self.assertEqual({**warning, "pod": "dyn(object)"}, refusing)
        self.assertTrue(refusing["ports"].startswith("[9000, 9001, "), refusing["ports"])

    def test_only_the_refusal_outlives_the_release(self):
        def kept(**values):
            return [(one["kind"], one["metadata"]["name"]) for one in self.objects(values)
                    if one["metadata"].get("annotations") == {"helm.sh/resource-policy": "keep"}]
        self.assertEqual(kept(), [("ValidatingAdmissionPolicy", "injection.tenure.dev"),
                                  ("ValidatingAdmissionPolicyBinding", "injection.tenure.dev")])
        self.assertEqual(kept(refuseAfterUninstall=False), [])

    def test_rights(self):
        objects = self.objects({"rbac": {"bindings": [{"namespace": "team", "serviceAccount": "web"}]}})
        role = self.named(objects, "ClusterRole", "tenure-member")
        done = subprocess.run([TENURE, "inject", "-", "--election", "a", "--run-as=1", "--events", "--rbac"], text=True,
                              capture_output=True, check=True,
                              input="apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\nspec:\n  containers:\n    - name: a\n"
                                    "      command: [a]\n")
        self.assertEqual(role["rules"], list(yaml.safe_load_all(done.stdout))[0]["rules"])
        [binding] = [one for one in objects if one["kind"] == "RoleBinding"]
        self.assertEqual(binding["metadata"]["namespace"], "team")
        self.assertEqual(binding["subjects"], [{"kind": "ServiceAccount", "name": "web", "namespace": "team"}])
        self.assertFalse([one for one in self.objects({"rbac": {"create": False}}) if one["kind"] == "ClusterRole"])


class Documents(unittest.TestCase):
    """What documents tell people to write is taken."""

    def commands(self, path):
        text = (ROOT / path).read_text().replace("\\\n", " ")
        return [shlex.split(line, comments=True) for line in re.findall(r"^    (helm .*)$", text, re.M)]

    def test_commands(self):
        tried = 0
        for path in ("docs/helm.md", "docs/inject.md", "README.md", "helm/tenure/README.md"):
            for command in self.commands(path):
                if command[1] in ("install", "upgrade"):
                    words = [one for one in command[2:] if one != "--reuse-values"]
                    given = yaml.safe_dump(values_of()) if command[1] == "upgrade" else "{}"
                    done = charts.helm("template", words[0], ROOT / words[1], *words[2:], "--values", "-",
                                       "--api-versions", Injection.KIND.format("v1"), given=given)
                    self.assertEqual(done.returncode, 0, f"{path}: {command}: {done.stderr}")
                    tried += 1
                else:
                    self.assertEqual(charts.helm(command[1], "--help").returncode, 0, command)
        self.assertEqual(tried, 7)

    def test_values(self):
        blocks = [yaml.safe_load(one) for one in re.findall(r"^```yaml\n(.*?)^```", (ROOT / "docs/helm.md").read_text(), re.M | re.S)]
        whole, store, library = blocks
        for values in (whole, merged(whole, store), merged(whole, {"tenure": {"settings": {}}}, {"tenure": library["tenure"]})):
            self.assertEqual(template(values).returncode, 0, template(values).stderr)
        self.assertEqual(charts.settings(charts.agent(workload(rendered(whole))["spec"]["template"]["spec"]))["ttl"], "10s")
        said = yaml.safe_load((CHART / "Chart.yaml").read_text())["dependencies"]
        self.assertEqual(library["dependencies"], said)


class Kustomize(unittest.TestCase):
    """The chart says the same as k8s/, which is tested on real pods."""

    DEFAULTS = {"ttl": "15s", "drain": "20s"}

    @staticmethod
    @functools.cache
    def overlay(name):
        text = subprocess.run([charts.KUBECTL, "kustomize", OVERLAYS / name], capture_output=True, text=True, check=True).stdout
        return [one for one in yaml.safe_load_all(text) if one]

    @staticmethod
    @functools.cache
    def chart(name):
        words = name.split("-")
        way = next((way for way in charts.WAYS if way in words), "none")
        mode = next(mode for mode in sorted(charts.MODES, key=len, reverse=True)
                    if name.replace("statefulset", "guard").startswith(mode))
        values = values_of(mode, way, "StatefulSet" if "statefulset" in words else "Deployment",
                           "etcd" if "etcd" in words else "kubernetes")
        return rendered(values if way != "none" else merged(values, {"ports": []}))

    def both(self, read):
        names = sorted(one.name for one in OVERLAYS.iterdir())
        self.assertGreater(len(names), 10)
        for name in names:
            with self.subTest(name):
                self.assertEqual(read(self.chart(name)), read(self.overlay(name)))

    @staticmethod
    def container(one):
        """Without what the chart says in another way: settings, images' tags, the workload's own ports."""
        def fits(word):
            return word != "--config=/etc/tenure/tenure.yaml"
        def own(entries, names):
            return [entry for entry in entries if entry["name"] not in names]
        out = {key: value for key, value in one.items() if key not in ("envFrom",)}
        out["image"] = one["image"].split(":")[0]
        for key in ("args", "command"):
            if key in one:
                out[key] = [word for word in one[key] if fits(word)]
        out["env"] = [entry for entry in one.get("env", []) if "valueFrom" in entry]
        out["ports"] = [port for port in one.get("ports", []) if port["name"] == "tenure-probe"]
        out["volumeMounts"] = own(one.get("volumeMounts", []), ["tenure-config"])
        return out

    def test_containers(self):
        def read(objects):
            pod = workload(objects)["spec"]["template"]["spec"]
            return [[self.container(one) for one in pod.get(kind, [])] for kind in ("initContainers", "containers")]
        self.both(read)

    def test_pods(self):
        def read(objects):
            one = workload(objects)
            spec, template = one["spec"], one["spec"]["template"]
            by_default = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}}
            if one["kind"] == "StatefulSet":
                by_default = None
            pod = dict(template["spec"])
            for key in ("containers", "initContainers", "serviceAccountName"):
                pod.pop(key, None)
            [spread] = pod["topologySpreadConstraints"]
            is_own = spread["labelSelector"] == spec["selector"]
            pod["topologySpreadConstraints"] = [{**spread, "labelSelector": is_own}]
            pod["volumes"] = [volume for volume in pod.get("volumes", []) if volume["name"] != "tenure-config"]
            # Secrets of a store are for this group.
            pod["securityContext"] = {key: value for key, value in pod["securityContext"].items() if "fsGroup" not in key}
            labels = {key: value for key, value in template["metadata"]["labels"].items() if key.startswith("tenure.dev/")}
            return (one["kind"], spec["replicas"], spec.get("strategy", by_default), spec.get("serviceName"),
                    spec.get("podManagementPolicy"), pod, labels)
        self.both(read)

    def test_settings(self):
        def read(objects):
            out = dict(charts.settings(charts.agent(workload(objects)["spec"]["template"]["spec"])))
            for one in objects:
                for key, value in one.get("data", {}).items() if one["kind"] == "ConfigMap" else ():
                    if key == "tenure.yaml":
                        out = {**yaml.safe_load(value), **out}
                for key, value in one.get("data", {}).items() if one["kind"] == "ConfigMap" else ():
                    if key.startswith("TENURE_"):
                        out[key.removeprefix("TENURE_").lower()] = value
            return {**self.DEFAULTS, **out}
        self.both(read)

    def test_rights(self):
        def read(objects):
            [account] = [one["metadata"]["name"] for one in objects if one["kind"] == "ServiceAccount"]
            bound = {one["roleRef"]["name"] for one in objects if one["kind"] == "RoleBinding"
                     and [(s["kind"], s["name"]) for s in one["subjects"]] == [("ServiceAccount", account)]}
            roles = {one["metadata"]["name"]: one["rules"] for one in objects if one["kind"] == "Role"}
            self.assertEqual(bound, set(roles))
            self.assertEqual(workload(objects)["spec"]["template"]["spec"]["serviceAccountName"], account)
            return sorted(json.dumps(rule, sort_keys=True) for rules in roles.values() for rule in rules)
        self.both(read)

    def test_services_and_slices(self):
        def read(objects):
            labels = workload(objects)["spec"]["template"]["metadata"]["labels"]
            out = {}
            for one in objects:
                if one["kind"] == "Service":
                    spec = {key: value for key, value in one["spec"].items() if key != "type"}
                    if "selector" in spec:
                        own = {key: value for key, value in spec["selector"].items() if key.startswith("tenure.dev/")}
                        spec["selector"] = own or labels.items() >= spec["selector"].items()
                    out["Service", one["metadata"]["name"]] = spec
                if one["kind"] == "EndpointSlice":
                    named = {key: value for key, value in one["metadata"]["labels"].items() if "kubernetes.io/" in key
                             and not key.startswith("app.")}
                    out["EndpointSlice", one["metadata"]["name"]] = (named, one["addressType"], one["ports"], "endpoints" in one)
            return out
        self.both(read)


if __name__ == "__main__":
    if why := charts.missing():
        print(why)
        sys.exit(77)
    TENURE = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=2)
