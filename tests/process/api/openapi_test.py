#!/usr/bin/env python3
"""Holds docs/openapi.yaml against a running agent.

    openapi_test.py TENURE SOURCE-FOLDER

Every documented call is answered with a documented status and a body that fits; every route that
the agent answers, among all that its sources' words can form, is documented.
"""
import glob
import json
import os
import re
import sys
import tempfile

import jsonschema
import yaml

from agent import Agent, ask, until

NAMES = ("db", "nope")
# Lets calls that need more than their path get past its refusal.
QUERIES = {"/v1/elections/{name}/verify": ("", "?version=1", "?version=2", "?version=1&fresh=1", "?sequencer=x",
                                                    "?version=1&sequencer=x&fresh=1"),
           "/v1/elections/{name}": ("", "?index=0", "?index=x"),
           "/v1/elections/{name}/history": ("", "?limit=1", "?limit=0"),
           "/v1/elections": ("", "?index=0", "?wait=3s"),
           "/leader": ("", "?election=nope")}
TOKEN = "sesame"
METHODS = ("get", "post", "put", "delete", "options")


class Document:
    def __init__(self, folder):
        with open(os.path.join(folder, "docs/openapi.yaml")) as text:
            self.all = yaml.safe_load(text)

    def resolved(self, what):
        while "$ref" in what:
            found = self.all
            for part in what["$ref"].removeprefix("#/").split("/"):
                found = found[part]
            what = found
        return what

    def check(self, body, schema):
        # The schemas refer to each other by their place in the whole document.
        whole = {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema,
                 "components": self.all["components"]}
        jsonschema.Draft202012Validator(whole).validate(body)

    def documents(self, path, method):
        for pattern, item in self.all["paths"].items():
            if re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", pattern), path) and method in item:
                return True
        return False


def check_answer(document, call, operation, answer):
    status, headers, body = answer
    documented = {int(s): document.resolved(r) for s, r in operation["responses"].items()}
    assert status in documented, f"{call} was answered {status}, which is not documented: {body}"
    for name, header in documented[status].get("headers", {}).items():
        value = headers[name.lower()]
        document.check(value, document.resolved(header)["schema"])
    content = documented[status].get("content", {})
    kind = headers.get("content-type")
    if not content:
        assert not body, f"{call}: {status} has a body"
        return
    assert kind in content, f"{call}: {status} is {kind}"
    if kind == "application/json":
        document.check(json.loads(body), content[kind]["schema"])


def check_documented(document, agent):
    seen = {}
    for pattern, item in document.all["paths"].items():
        for method in METHODS:
            if method not in item:
                continue
            for name in NAMES if "{name}" in pattern else NAMES[:1]:
                for query in QUERIES.get(pattern, ("",)):
                    path = pattern.replace("{name}", name) + query
                    call = f"{method.upper()} {path}"
                    answer = ask(agent.port, method.upper(), path)
                    check_answer(document, call, item[method], answer)
                    seen.setdefault((pattern, method), set()).add(answer[0])
    etag = ask(agent.port, "GET", "/v1/elections/db")[1]["etag"]
    unchanged = ask(agent.port, "GET", "/v1/elections/db", f"If-None-Match: {etag}\r\n")
    assert unchanged[0] == 304, unchanged
    check_answer(document, "304", document.all["paths"]["/v1/elections/{name}"]["get"], unchanged)
    for pattern in ("/v1/elections", "/v1/elections/{name}", "/v1/elections/{name}/verify",
                    "/v1/elections/{name}/history", "/v1/elections/{name}/events", "/v1/events",
                    "/sse", "/", "/metrics", "/livez", "/readyz"):
        assert 200 in seen.get((pattern, "get"), ()), f"{pattern} was never answered 200: {seen}"


def check_orders(document, agent):
    """Valid orders; the agent is the only member, so every other name is unknown."""
    token = f"Authorization: Bearer {TOKEN}\r\n"
    calls = (("transfer", '{"to":"stranger"}', 409), ("transfer", "{", 400), ("pause", "", 202),
             ("resume", "{}", 202), ("resign", '{"aside":"10ms"}', 202))
    for action, body, expected in calls:
        path = f"/v1/elections/db/{action}"
        if action == "resign":
            until(lambda: agent.election()["is_self"], "active again")
        answer = ask(agent.port, "POST", path, token, body)
        assert answer[0] == expected, f"{action} {body}: {answer}"
        operation = document.all["paths"][f"/v1/elections/{{name}}/{action}"]["post"]
        check_answer(document, f"POST {path}", operation, answer)
    until(lambda: agent.election()["is_self"], "active again")
    history = json.loads(ask(agent.port, "GET", "/v1/elections/db/history")[2])
    assert [t["reason"] for t in history["terms"]] == [None, "resigned", "resigned"], history


def check_known(document, agent, folder):
    words = set()
    sources = os.path.join(folder, "agent/api")
    for source in glob.glob(os.path.join(sources, "*.?pp")):
        with open(source) as text:
            words.update(re.findall(r'"([a-z][a-z0-9.]*)"', text.read()))
    assert {"elections", "verify", "leader", "sse"} <= words, "the sources do not look as they did"
    undocumented = []
    for word in sorted(words):
        for path in (f"/{word}", f"/v1/{word}", f"/api/{word}", f"/v1/elections/db/{word}"):
            for method in ("GET", "POST"):
                status, _, body = ask(agent.port, method, path)
                code = json.loads(body)["error"]["code"] if status in (404, 405) else ""
                # The requested election does not exist.
                if code not in ("not_found", "method_not_allowed", "unknown_election"):
                    if not document.documents(path, method.lower()):
                        undocumented.append(f"{method} {path} ({status})")
    assert not undocumented, f"not in docs/openapi.yaml: {undocumented}"


def main():
    binary, folder = sys.argv[1:]
    document = Document(folder)
    with tempfile.NamedTemporaryFile("w") as token:
        token.write(TOKEN)
        token.flush()
        check_agent(document, binary, folder, token.name)


def check_agent(document, binary, folder, token):
    with Agent(binary, "--control-token-file", token) as agent:
        check_documented(document, agent)
        check_orders(document, agent)
        check_known(document, agent, folder)


if __name__ == "__main__":
    main()
