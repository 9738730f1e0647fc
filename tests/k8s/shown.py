"""Everything that the API server shows of the objects of a namespace, state by state, from a watch: a judge that sees each
write, however short what it says is true."""
import http.client
import json
import threading
import time


def labelled(pod):
    """The pod, if its label says that it is active."""
    labels = pod["metadata"].get("labels", {})
    return {pod["metadata"]["name"]} if labels.get("tenure.dev/role") == "active" else set()


def condition(pod, type_):
    for one in pod.get("status", {}).get("conditions", []):
        if one["type"] == type_:
            return one
    return None


def has_condition(pod, type_="tenure.dev/active"):
    return {pod["metadata"]["name"]} if (condition(pod, type_) or {}).get("status") == "True" else set()


def is_ready(pod):
    return has_condition(pod, "Ready")


def endpoints(piece):
    """The pods that an EndpointSlice names, if it is one of Service `db`: the names of single pods have a Service, too."""
    if piece["metadata"]["labels"].get("kubernetes.io/service-name") != "db":
        return set()
    return {one.get("targetRef", {}).get("name", "?") for one in piece.get("endpoints") or []
            if one.get("conditions", {}).get("ready")}


class Shown:
    """Follows a list of objects until it is left. `names`: whom an object names."""

    def __init__(self, on, path, names):
        self.on, self.path, self.names = on, path, names
        self.lock = threading.Lock()
        self.objects = {}
        self.states = []  # (time, the pods that are named), one a change
        self.line = None
        self.ending = threading.Event()
        self.thread = threading.Thread(target=self._follow, daemon=True)

    def __enter__(self):
        self._list()
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ending.set()
        line = self.line
        if line is not None and line.sock is not None:
            line.sock.close()
        self.thread.join(10)

    def now(self):
        with self.lock:
            return set(self.states[-1][1]) if self.states else set()

    def since(self, when):
        """All states from then on, and the one that it began with."""
        with self.lock:
            before = [names for at, names in self.states if at <= when][-1:]
            return before + [names for at, names in self.states if at > when]

    def most(self):
        """The largest set of pods that were named at a time."""
        with self.lock:
            return max((names for _, names in self.states), key=len, default=frozenset())

    def _note(self):
        names = frozenset().union(*(self.names(one) for one in self.objects.values()))
        if not self.states or self.states[-1][1] != names:
            self.states.append((time.monotonic(), names))

    def _list(self):
        status, found = self.on.api("GET", self.path)
        if status != 200:
            raise OSError(f"GET {self.path} answered {status}")
        with self.lock:
            self.objects = {one["metadata"]["name"]: one for one in found["items"]}
            self._note()
        self.version = found["metadata"]["resourceVersion"]

    def _follow(self):
        while not self.ending.is_set():
            try:
                self._watch()
            except (OSError, ValueError, http.client.HTTPException, AttributeError):
                # The API server is away, or says that the watch cannot go on from there.
                time.sleep(0.05)
                try:
                    self._list()
                except OSError:
                    pass

    def _watch(self):
        self.line = self.on.line(timeout=600)
        self.line.request("GET", f"{self.path}?watch=1&resourceVersion={self.version}")
        answer = self.line.getresponse()
        while not self.ending.is_set():
            said = answer.readline()
            if not said:
                return
            event = json.loads(said)
            if event["type"] == "ERROR":
                raise ValueError(event["object"])
            self._take(event)

    def _take(self, event):
        one = event["object"]
        name = one["metadata"]["name"]
        with self.lock:
            if event["type"] == "DELETED":
                self.objects.pop(name, None)
            else:
                self.objects[name] = one
            self._note()
        self.version = one["metadata"]["resourceVersion"]
