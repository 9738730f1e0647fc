#!/usr/bin/env python3
"""file_test.py TENURE: what docker/compose.yaml names exists and fits together. That it runs is tested by `./dev compose`."""
import json
import os
import re
import subprocess
import sys
import unittest

import demo
import yaml

TENURE = sys.argv.pop(1)


def settings(service: dict) -> dict[str, str]:
    return {name: value for name, value in service["environment"].items() if name.startswith("TENURE_")}


def explain(environment: dict[str, str], flags: list[str]) -> subprocess.CompletedProcess:
    """Tenure reads these settings as an agent does at its start."""
    others = {name: value for name, value in os.environ.items() if not name.startswith("TENURE_")}
    return subprocess.run([TENURE, "explain", *flags], env=others | environment, text=True, capture_output=True, timeout=30,
                          check=False)


class ComposeFile(unittest.TestCase):
    def setUp(self):
        self.file = demo.read()
        self.services = self.file["services"]

    def test_each_service_is_declared_as_the_tests_know_it(self):
        self.assertEqual(set(self.services), {"install", *demo.AGENTS, *demo.SERVERS, "prometheus", "grafana"})

    def test_each_image_is_pinned_or_built_here_and_names_no_registry(self):
        for name, service in self.services.items():
            with self.subTest(name):
                image = service["image"]
                if "build" in service:
                    context = (demo.FILE.parent / service["build"]).resolve()
                    self.assertTrue((context / "Dockerfile").is_file(), context)
                    # Only Docker's own images have names without a slash, so a stranger cannot publish one of this name.
                    self.assertNotIn("/", image)
                else:
                    self.assertRegex(image, r"^(?:[a-z]+/)?[a-z]+:v?\d+\.\d+\.\d+$")

    def test_each_image_can_be_replaced_by_a_variable(self):
        images = re.findall(r"^ *image: (.*)$", demo.FILE.read_text(), re.M)
        variables = {re.fullmatch(r"\$\{(\w+):-[^}]+\}", image)[1] for image in images}
        self.assertEqual(variables, {"TENURE_IMAGE", "WORKLOAD_IMAGE", "ETCD_IMAGE", "PROMETHEUS_IMAGE", "GRAFANA_IMAGE"})

    def test_each_container_is_hardened(self):
        for name, service in self.services.items():
            with self.subTest(name):
                self.assertIs(service["read_only"], True)
                self.assertEqual(service["cap_drop"], ["ALL"])
                self.assertEqual(service["security_opt"], ["no-new-privileges:true"])
                self.assertFalse({"privileged", "cap_add", "pid", "ipc", "devices"} & service.keys())

    def test_each_port_is_published_on_loopback_alone_and_once(self):
        ports = [port for service in self.services.values() for port in service.get("ports", [])]
        for port in ports:
            self.assertRegex(port, r"^127\.0\.0\.1:\d+:\d+$")
        self.assertEqual(len({port.split(":")[1] for port in ports}), len(ports))

    def test_each_mount_exists_and_what_is_mounted_is_well_formed(self):
        files = 0
        for name, service in self.services.items():
            for source, place, mode in demo.mounts(service):
                with self.subTest(name, source=source):
                    if not source.startswith("."):
                        self.assertIn(source, self.file["volumes"])
                        continue
                    self.assertEqual(mode, "ro")
                    at = demo.FILE.parent / source
                    self.assertTrue(at.exists(), at)
                    inside = [at] if at.is_file() else [one for one in at.rglob("*") if one.is_file()]
                    self.assertTrue(inside, at)
                    for one in inside:
                        read = json.loads if one.suffix == ".json" else yaml.safe_load
                        self.assertTrue(read(one.read_text()), one)
                        files += 1
        self.assertGreaterEqual(files, 6)

    def test_no_volume_and_no_network_is_left_over(self):
        volumes = {source for service in self.services.values() for source, _, _ in demo.mounts(service)
                   if not source.startswith(".")}
        self.assertEqual(volumes, set(self.file["volumes"]))
        networks = {network for service in self.services.values() for network in service.get("networks", [])}
        self.assertEqual(networks, set(self.file["networks"]))

    def test_tenure_knows_each_setting(self):
        for name in demo.AGENTS:
            with self.subTest(name):
                service = self.services[name]
                program, verb, *rest = service["command"]
                self.assertEqual((program, verb), ("tenure", "exec"))
                flags = rest[:rest.index("--")]
                done = explain(settings(service), flags)
                self.assertEqual(done.returncode, 0, done.stderr)

    def test_tenure_refuses_a_setting_that_it_does_not_know(self):
        done = explain(settings(self.services["a"]) | {"TENURE_TTLL": "5s"}, [])
        self.assertEqual(done.returncode, 2)
        self.assertIn("TENURE_TTLL", done.stderr)

    def test_a_stop_leaves_the_workload_its_time_to_drain(self):
        for name in demo.AGENTS:
            service = self.services[name]
            budget = json.loads(explain(settings(service), ["--output", "json"]).stdout)
            self.assertGreater(int(service["stop_grace_period"].removesuffix("s")), budget["drain_seconds"])

    def test_agents_reach_each_server_of_etcd_and_nobody_else_does(self):
        for name in demo.AGENTS:
            service = self.services[name]
            endpoints = settings(service)["TENURE_ENDPOINT"].split(",")
            self.assertEqual(endpoints, [f"http://{server}:2379" for server in demo.SERVERS])
            self.assertEqual(service["hostname"], name)
        on_store = {name for name, service in self.services.items() if "store" in service.get("networks", [])}
        self.assertEqual(on_store, {*demo.AGENTS, *demo.SERVERS})
        self.assertIs(self.file["networks"]["store"]["internal"], True)

    def test_etcd_is_one_cluster(self):
        for name in demo.SERVERS:
            values = self.services[name]["environment"]
            self.assertEqual(values["ETCD_NAME"], name)
            self.assertEqual(values["ETCD_ADVERTISE_CLIENT_URLS"], f"http://{name}:2379")
            members = dict(one.split("=") for one in values["ETCD_INITIAL_CLUSTER"].split(","))
            self.assertEqual(set(members), set(demo.SERVERS))
            self.assertEqual(members[name], values["ETCD_INITIAL_ADVERTISE_PEER_URLS"])
            self.assertEqual([source for source, _, _ in demo.mounts(self.services[name])], [name])

    def test_prometheus_calls_each_agent_by_a_name_that_it_answers_to(self):
        mounted = {place: source for source, place, _ in demo.mounts(self.services["prometheus"])}
        config = yaml.safe_load((demo.ROOT / "docker/prometheus/prometheus.yml").read_text())
        named = [*config["rule_files"], *config["scrape_configs"][0]["file_sd_configs"][0]["files"]]
        for file in named:
            self.assertIn(f"/etc/prometheus/{file}", mounted)
            # What prometheus.yml names is also there for those who use it without this demo.
            self.assertTrue((demo.ROOT / "docker/prometheus" / file).is_file(), file)
        targets = yaml.safe_load((demo.FILE.parent / mounted[f"/etc/prometheus/{named[-1]}"]).read_text())[0]["targets"]
        self.assertEqual(targets, [f"{name}:8081" for name in demo.AGENTS])
        for name in demo.AGENTS:
            self.assertIn(name, settings(self.services[name])["TENURE_ALLOWED_HOST"].split(","))

    def test_grafana_finds_the_dashboard_and_its_source(self):
        service = self.services["grafana"]
        mounted = {place: demo.FILE.parent / source for source, place, _ in demo.mounts(service)}

        def at(place: str):
            """The file of this repository that is at this place in the container."""
            root = next(one for one in sorted(mounted, reverse=True) if place.startswith(one + "/"))
            return mounted[root] / place.removeprefix(root + "/")

        provider = yaml.safe_load(at("/etc/grafana/provisioning/dashboards/tenure.yml").read_text())["providers"][0]
        for place in (provider["options"]["path"], service["environment"]["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"]):
            self.assertEqual(json.loads(at(place).read_text())["uid"], "tenure")
        source = yaml.safe_load(at("/etc/grafana/provisioning/datasources/prometheus.yml").read_text())["datasources"][0]
        self.assertEqual(source["url"], "http://prometheus:9090")
        self.assertTrue(set(service["networks"]) & set(self.services["prometheus"]["networks"]))


class Defaults(unittest.TestCase):
    def test_a_variable_without_a_default_is_found(self):
        with self.assertRaises(AssertionError):
            demo.with_defaults("image: ${IMAGE}")

    def test_a_default_is_filled_in_and_a_dollar_is_kept(self):
        self.assertEqual(demo.with_defaults("${A:-x/y:1} $$B"), "x/y:1 $B")


if __name__ == "__main__":
    unittest.main()
