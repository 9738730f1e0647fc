"""A Kubernetes of one machine: control plane, node agent and container runtime, all of them real.

It runs in network, mount and PID namespaces of its own (`run`), so it meets nothing of the machine's, and ends with
the first process of them. What it needs is in build/servers (tests/servers/provide debian kubernetes-today) and in Debian's
packages containerd, runc, containernetworking-plugins, iptables and iproute2."""
import base64
import contextlib
import http.client
import json
import os
import pathlib
import shutil
import signal
import ssl
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
import waiting  # noqa: E402

SERVERS = HERE.parents[1] / "build/servers"
PROGRAMS = SERVERS / "kubernetes-today"
ETCD = SERVERS / "etcd-debian/etcd"
CNI = "/usr/lib/cni"
NODE = "n1"
# The bridge of the pods has the first address, and the API server listens there.
HOST, PODS, SERVICES, API_SERVICE = "10.88.0.1", "10.88.0.0/16", "10.200.0.0/24", "10.200.0.1"
# Of the tokens of ServiceAccounts. They are taken for so many seconds after they have expired.
ISSUER, LEEWAY = "https://kubernetes.default.svc", 60
CONTROLLERS = ("cpu", "cpuacct", "cpuset", "memory", "devices", "freezer", "blkio", "pids", "systemd", "hugetlb",
               "net_cls", "net_prio", "perf_event")
# The variable that names the folder of a cluster.
FOLDER = "TENURE_K8S_FOLDER"
# Its parts take a while to start; on a busy machine longer.
PATIENCE = 120


def missing():
    """What is not there, and how to get it; empty if nothing is missing."""
    programs = [PROGRAMS / name for name in
                ("kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubelet", "kube-proxy", "kubectl")]
    for one in (ETCD, *programs):
        if not one.exists():
            return f"{one} is not there: `./dev test` without --quick builds it"
    for name in ("containerd", "runc", "iptables", "ip", "openssl"):
        if shutil.which(name) is None:
            return f"{name} is not installed; `./dev test` installs it"
    if os.geteuid() != 0:
        return "only root can run a container runtime"
    return ""


class Part:
    """A process of the cluster, which can be stopped, frozen and started again. All are Go programs, and the machine has more
    memory than processors for them."""

    def __init__(self, folder, name, *words):
        self.name, self.words, self.log = name, [str(word) for word in words], folder / f"{name}.log"
        self.process = None

    def start(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(self.words, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            env={**os.environ, "GOGC": "400"})
        return self

    def runs(self):
        return self.process is not None and self.process.poll() is None

    def kill(self):
        if self.runs():
            self.process.kill()
            self.process.wait()

    def freeze(self):
        self.process.send_signal(signal.SIGSTOP)

    def thaw(self):
        self.process.send_signal(signal.SIGCONT)

    def tail(self, lines=15):
        with contextlib.suppress(OSError):
            return f"--- {self.name}\n" + "".join(open(self.log, errors="replace").readlines()[-lines:])
        return ""


def _base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _two_numbers(der):
    """The signature that OpenSSL has written as a DER sequence, as RFC 7518, 3.4 has it."""
    out, at = b"", 2
    for _ in range(2):
        length = der[at + 1]
        out += int.from_bytes(der[at + 2:at + 2 + length]).to_bytes(32)
        at += 2 + length
    return out


class Keys:
    """A CA, and certificates from it."""

    def __init__(self, folder):
        self.folder = folder
        # Python 3.13 demands what RFC 5280 does.
        self.openssl("req", "-x509", *self.NEW, "-days", "2", "-subj", "/CN=ca", "-keyout", self.file("ca.key"),
                     "-out", self.file("ca.pem"), "-addext", "keyUsage=critical,keyCertSign,cRLSign")
        self.issue("apiserver", "/CN=kube-apiserver",
                   f"IP:{HOST},IP:{API_SERVICE},IP:127.0.0.1,DNS:kubernetes.default.svc,DNS:localhost")
        self.issue("admin", "/O=system:masters/CN=admin")
        self.issue("kubelet", f"/O=system:nodes/CN=system:node:{NODE}", f"IP:{HOST},DNS:{NODE}")
        self.issue("to-kubelet", "/O=system:masters/CN=kube-apiserver")
        self.openssl("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", self.file("accounts.key"))
        self.openssl("pkey", "-in", self.file("accounts.key"), "-pubout", "-out", self.file("accounts.pub"))

    NEW = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")

    def file(self, name):
        return self.folder / name

    def issue(self, name, subject, names=""):
        self.openssl("req", "-x509", *self.NEW, "-days", "2", "-subj", subject, "-keyout", self.file(name + ".key"),
                     "-out", self.file(name + ".pem"), "-CA", self.file("ca.pem"), "-CAkey", self.file("ca.key"),
                     "-addext", "basicConstraints=critical,CA:FALSE",
                     *(("-addext", "subjectAltName=" + names) if names else ()))

    def kubeconfig(self, name):
        """The file by which the owner of that certificate finds the API server."""
        path = self.file(name + ".conf")
        path.write_text(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "it",
            "clusters": [{"name": "it", "cluster": {"server": f"https://{HOST}:6443",
                                                   "certificate-authority": str(self.file("ca.pem"))}}],
            "users": [{"name": "it", "user": {"client-certificate": str(self.file(name + ".pem")),
                                              "client-key": str(self.file(name + ".key"))}}],
            "contexts": [{"name": "it", "context": {"cluster": "it", "user": "it"}}]}))
        return path

    @staticmethod
    def openssl(*words, given=None):
        """Its output."""
        return subprocess.run(["openssl", *words], check=True, capture_output=True, input=given).stdout

    def token(self, account, seconds):
        """A token of this ServiceAccount, as the API server issues them, which is refused after so many seconds. The API
        server itself issues none for less than ten minutes."""
        meta, now = account["metadata"], int(time.time())
        claims = {"iss": ISSUER, "aud": [ISSUER], "iat": now - LEEWAY - 1, "nbf": now - LEEWAY - 1,
                  "exp": now - LEEWAY + seconds, "sub": f"system:serviceaccount:{meta['namespace']}:{meta['name']}",
                  "kubernetes.io": {"namespace": meta["namespace"],
                                    "serviceaccount": {"name": meta["name"], "uid": meta["uid"]}}}
        text = ".".join(_base64url(json.dumps(part).encode()) for part in ({"alg": "ES256", "typ": "JWT"}, claims))
        der = self.openssl("dgst", "-sha256", "-sign", self.file("accounts.key"), given=text.encode())
        return text + "." + _base64url(_two_numbers(der))


class Cluster:
    """Started when it is entered, and ready: nodes run pods, and the default ServiceAccount is there."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.cgroup = self.folder.name
        self.keys = None
        self.parts = {}
        self.kept = threading.local()
        self.lock = threading.Lock()

    # Starting -------------------------------------------------------------------------------------

    def __enter__(self):
        try:
            self._prepare_machine()
            self._start_control_plane()
            self._start_node()
            waiting.until(self._is_ready, "the node is ready", PATIENCE)
        except BaseException:
            self.__exit__()
            raise
        return self

    def _prepare_machine(self):
        self._run("mount", "--make-rprivate", "/")
        # What the kubelet and the runtime keep in fixed places, and all that is written often.
        for place in ("/run", "/var/lib/kubelet", self.folder):
            pathlib.Path(place).mkdir(parents=True, exist_ok=True)
            self._run("mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", place)
        # Mounts of a pod's volumes have to reach its containers.
        self._run("mount", "--make-rshared", "/")
        # Containers under this root may be of any user.
        os.chmod(self.folder, 0o755)
        self._run("ip", "link", "set", "lo", "up")
        self._run("ip", "link", "add", "cni0", "type", "bridge")
        self._run("ip", "addr", "add", HOST + "/16", "dev", "cni0")
        self._run("ip", "link", "set", "cni0", "up")
        pathlib.Path("/proc/sys/net/ipv4/ip_forward").write_text("1")
        with contextlib.suppress(OSError):
            pathlib.Path("/proc/sys/net/bridge/bridge-nf-call-iptables").write_text("1")
        for controller in CONTROLLERS:
            place = pathlib.Path("/sys/fs/cgroup") / controller
            if place.is_dir():
                (place / self.cgroup).mkdir(exist_ok=True)
        for name in ("keys", "cni", "containerd", "logs", "etcd", "apiserver", "stamps"):
            (self.folder / name).mkdir(exist_ok=True)
        self.keys = Keys(self.folder / "keys")

    def _start_control_plane(self):
        key = self.keys.file
        self._start("etcd", ETCD, "--data-dir", self.folder / "etcd", "--listen-client-urls", "http://127.0.0.1:2379",
                    "--advertise-client-urls", "http://127.0.0.1:2379", "--listen-peer-urls", "http://127.0.0.1:2380")
        self._start(
            "apiserver", PROGRAMS / "kube-apiserver", "--etcd-servers=http://127.0.0.1:2379", "--bind-address=0.0.0.0",
            f"--advertise-address={HOST}", "--secure-port=6443", f"--service-cluster-ip-range={SERVICES}",
            f"--client-ca-file={key('ca.pem')}", f"--tls-cert-file={key('apiserver.pem')}",
            f"--tls-private-key-file={key('apiserver.key')}", f"--cert-dir={self.folder / 'apiserver'}",
            f"--service-account-issuer={ISSUER}",
            f"--service-account-signing-key-file={key('accounts.key')}", f"--service-account-key-file={key('accounts.pub')}",
            f"--kubelet-client-certificate={key('to-kubelet.pem')}", f"--kubelet-client-key={key('to-kubelet.key')}",
            "--kubelet-preferred-address-types=InternalIP", "--authorization-mode=Node,RBAC", "--allow-privileged=true",
            "--feature-gates=RestartAllContainersOnContainerExits=true,NodeDeclaredFeatures=true,MutatingAdmissionPolicy=true",
            # Of Kubernetes 1.36 it is a part; before, it has to be asked for.
            "--runtime-config=admissionregistration.k8s.io/v1beta1=true", "--profiling=false")
        admin = self.keys.kubeconfig("admin")
        try:
            waiting.until(lambda: self.api("GET", "/readyz")[0] == 200, "the API server is ready", PATIENCE)
        except AssertionError as late:
            late.add_note(f"it says: {self.api('GET', '/readyz')}\n{self.parts['apiserver'].tail()}")
            raise
        self._start("controller-manager", PROGRAMS / "kube-controller-manager", f"--kubeconfig={admin}",
                    f"--service-account-private-key-file={key('accounts.key')}", f"--root-ca-file={key('ca.pem')}",
                    "--leader-elect=false", "--bind-address=127.0.0.1", "--node-monitor-period=1s",
                    "--node-monitor-grace-period=6s")
        self._start("scheduler", PROGRAMS / "kube-scheduler", f"--kubeconfig={admin}", "--leader-elect=false",
                    "--bind-address=127.0.0.1")

    def _start_node(self):
        address = self.folder / "containerd.sock"
        (self.folder / "cni/10-bridge.conflist").write_text(json.dumps({
            "cniVersion": "1.0.0", "name": "pods", "plugins": [
                {"type": "bridge", "bridge": "cni0", "isGateway": True, "ipMasq": False, "hairpinMode": True,
                 "ipam": {"type": "host-local", "dataDir": "/run/cni", "ranges": [[{"subnet": PODS}]],
                          "routes": [{"dst": "0.0.0.0/0"}]}}]}))
        (self.folder / "containerd.toml").write_text(f"""
version = 2
root = "{self.folder / 'containerd'}"
state = "/run/containerd"
[grpc]
address = "{address}"
[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = "docker.io/tests/pause:1"
# The machine may not lower the value that the out-of-memory killer goes by.
restrict_oom_score_adj = true
[plugins."io.containerd.grpc.v1.cri".cni]
bin_dir = "{CNI}"
conf_dir = "{self.folder / 'cni'}"
""")
        (self.folder / "kubelet.yaml").write_text(json.dumps({
            "apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration",
            "containerRuntimeEndpoint": f"unix://{address}", "cgroupDriver": "cgroupfs", "cgroupRoot": "/" + self.cgroup,
            "failCgroupV1": False, "failSwapOn": False, "localStorageCapacityIsolation": False, "evictionHard": {},
            "authentication": {"x509": {"clientCAFile": str(self.keys.file("ca.pem"))}, "anonymous": {"enabled": False},
                               "webhook": {"enabled": True}},
            "authorization": {"mode": "Webhook"}, "tlsCertFile": str(self.keys.file("kubelet.pem")),
            "tlsPrivateKeyFile": str(self.keys.file("kubelet.key")), "podLogsDir": str(self.folder / "logs"),
            "nodeStatusUpdateFrequency": "1s", "nodeLeaseDurationSeconds": 4, "registerWithTaints": [],
            "imageGCHighThresholdPercent": 100, "imageGCLowThresholdPercent": 99,
            "featureGates": {"RestartAllContainersOnContainerExits": True, "NodeDeclaredFeatures": True}}))
        self._start("containerd", "containerd", "--config", self.folder / "containerd.toml")
        waiting.until(lambda: self.ctr("version").returncode == 0, "containerd answers", PATIENCE)
        self._start("kubelet", PROGRAMS / "kubelet", f"--config={self.folder / 'kubelet.yaml'}",
                    f"--kubeconfig={self.keys.kubeconfig('kubelet')}", f"--hostname-override={NODE}", f"--node-ip={HOST}")
        # Pods reach the API server by the address of its Service, without a kube-proxy.
        self._run("iptables", "-t", "nat", "-A", "PREROUTING", "-d", API_SERVICE, "-p", "tcp", "--dport", "443", "-j",
                  "DNAT", "--to", HOST + ":6443")

    def serves(self):
        """From now on the addresses of Services lead to pods, from the node, too."""
        with self.lock:
            if "proxy" not in self.parts:
                # What has no route does not get to the rules of the proxy.
                self._run("ip", "route", "add", SERVICES, "dev", "cni0")
                self._start("proxy", PROGRAMS / "kube-proxy", f"--kubeconfig={self.keys.kubeconfig('admin')}",
                            "--proxy-mode=iptables", f"--cluster-cidr={PODS}", f"--hostname-override={NODE}",
                            # The limits of connection tracking are the machine's.
                            "--conntrack-max-per-core=0", "--conntrack-tcp-timeout-established=0s",
                            "--conntrack-tcp-timeout-close-wait=0s")

    def _start(self, name, *words):
        self.parts[name] = Part(self.folder, name, *words).start()

    def _is_ready(self):
        for one in self.parts.values():
            if not one.runs():
                raise AssertionError(f"{one.name} has ended:\n{one.tail(30)}")
        status, node = self.api("GET", f"/api/v1/nodes/{NODE}")
        if status != 200 or self.api("GET", "/api/v1/namespaces/default/serviceaccounts/default")[0] != 200:
            return False
        return any(one["type"] == "Ready" and one["status"] == "True" for one in node["status"].get("conditions", []))

    def __exit__(self, *_):
        for one in reversed(list(self.parts.values())):
            one.kill()

    @staticmethod
    def _run(*words):
        done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
        if done.returncode != 0:
            raise AssertionError(f"{' '.join(str(word) for word in words)}: {done.stderr}")

    # Using ----------------------------------------------------------------------------------------

    def ctr(self, *words):
        return subprocess.run(["ctr", "--address", self.folder / "containerd.sock", "--namespace", "k8s.io", *words],
                              capture_output=True, text=True)

    def load(self, archive):
        """Makes the image in this archive known to the node."""
        done = self.ctr("images", "import", str(archive))
        if done.returncode != 0:
            raise AssertionError(f"{archive} cannot be imported: {done.stderr}")

    def variables(self):
        """With these a program finds the cluster, and its kubectl."""
        return {"KUBECONFIG": str(self.keys.file("admin.conf")), "HOME": str(self.folder),
                "PATH": f"{PROGRAMS}:{os.environ['PATH']}"}

    def kubectl(self, *words, check=True, given=None):
        """Its output."""
        done = subprocess.run([PROGRAMS / "kubectl", f"--kubeconfig={self.keys.file('admin.conf')}", *words],
                              capture_output=True, text=True, input=given, timeout=PATIENCE,
                              env={**os.environ, "GOGC": "off"})
        if check and done.returncode != 0:
            raise AssertionError(f"kubectl {' '.join(words)}: {done.stderr}")
        return done.stdout if check else done

    def api(self, method, path, body=None, content="application/json", token=None):
        """Status and object of an answer of the API server to its administrator, or to the owner of `token`; 0 and what
        went wrong if it does not answer."""
        headers = {"Content-Type": content}
        if token is not None:
            headers["Authorization"] = "Bearer " + token
        request = (method, path, None if body is None else json.dumps(body), headers)
        try:
            if method != "GET" or token is not None:
                with contextlib.closing(self.line(token is None)) as line:
                    status, said = self._ask(line, request)
            else:
                status, said = self._ask_on_kept_line(request)
        except (OSError, http.client.HTTPException) as why:
            return 0, str(why)
        try:
            return status, json.loads(said)
        except ValueError:
            return status, said.decode(errors="replace")

    def line(self, is_admin=True, timeout=10):
        """A new connection to the API server."""
        trust = ssl.create_default_context(cafile=str(self.keys.file("ca.pem")))
        if is_admin:
            trust.load_cert_chain(self.keys.file("admin.pem"), self.keys.file("admin.key"))
        return http.client.HTTPSConnection(HOST, 6443, context=trust, timeout=timeout)

    @staticmethod
    def _ask(line, request):
        line.request(*request)
        answer = line.getresponse()
        return answer.status, answer.read()

    def _ask_on_kept_line(self, request):
        """On a connection that this thread keeps, as a test asks ten times a second what there is; or, if that one has
        ended, on a new one."""
        kept = getattr(self.kept, "line", None)
        self.kept.line = None
        if kept is not None:
            with contextlib.suppress(OSError, http.client.HTTPException):
                found = self._ask(kept, request)
                self.kept.line = kept
                return found
            kept.close()
        line = self.line()
        try:
            found = self._ask(line, request)
        except (OSError, http.client.HTTPException):
            line.close()
            raise
        self.kept.line = line
        return found

    def sent(self, method, path, body):
        """What an API server answers to that, which it may not refuse."""
        status, said = self.api(method, path, body)
        if status not in (200, 201, 202):
            raise AssertionError(f"{method} {path} answered {status}: {said}")
        return said

    def get(self, path):
        """The object at `path`; None if there is none."""
        status, found = self.api("GET", path)
        if status not in (200, 404):
            raise AssertionError(f"GET {path} answered {status}: {found}")
        return found if status == 200 else None

    def processes(self, container_id):
        """The ids, as we see them, of the processes in a container, oldest first, without those that wait in a guard's
        place."""
        listed = self.ctr("tasks", "ps", container_id)
        ids = [int(line.split()[0]) for line in listed.stdout.splitlines()[1:]]
        return [one for one in ids if name_of(one) not in ("tenure-log", "tenure-look")]

    def tails(self):
        return "".join(one.tail() for one in self.parts.values())


def name_of(process):
    """What a process calls itself; empty for one that is gone."""
    try:
        return pathlib.Path(f"/proc/{process}/comm").read_text().strip()
    except OSError:
        return ""


def enter(script, *words):
    """Runs this Python program again as the first process of namespaces of its own, and ends with its status."""
    # Sockets are in it, whose names may not be long.
    with tempfile.TemporaryDirectory(prefix="tenure-k8s-", ignore_cleanup_errors=True) as folder:
        held = subprocess.run(["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "--",
                               sys.executable, "-B", script, "--inside", *words], env={**os.environ, FOLDER: folder})
    leave_cgroups(pathlib.Path(folder).name)
    sys.exit(held.returncode)


def leave_cgroups(name):
    """Removes the control groups of a cluster that has ended; those that still have processes stay."""
    for controller in CONTROLLERS:
        for folder, _, _ in os.walk(pathlib.Path("/sys/fs/cgroup", controller, name), topdown=False):
            with contextlib.suppress(OSError):
                os.rmdir(folder)


def decoded(text):
    return base64.b64decode(text).decode()
