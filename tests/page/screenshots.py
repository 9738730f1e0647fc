#!/usr/bin/python3
"""screenshots.py --tenure FILE --folder DIR: pictures of the status page, to be looked at."""
from __future__ import annotations

import argparse
import sys
from pathlib import Path

import browser
from agents import page_of
from stand_in import StandIn, election, member, rfc3339, silent, term

HOUR, DAY = 3_600, 86_400

MEMBERS = [member("db-1", "active"), member("db-0", "standby", is_self=True, ready=True),
           member("db-2", "standby", ready=True)]

TERMS = [term("db-1", 1042, 2 * HOUR + 754),
         term("db-0", 1037, 29 * HOUR, 2 * HOUR + 757, "resigned"),
         term("db-2", 1031, 47 * HOUR, 29 * HOUR + 8, "expired", outage=16.1),
         term("db-0", 1024, 70 * HOUR, 47 * HOUR + 3, "shutdown"),
         term("db-1", 1023, 70 * HOUR + 95, 70 * HOUR + 1, "unhealthy"),
         term("db-0", 998, 5 * DAY, 70 * HOUR + 110, "expired")]

DB = election("orders-db", "db-0", "db-1", 1042, next="db-2", members=MEMBERS, last_term=TERMS[1],
              health={"state": "healthy", "reason": None, "since": rfc3339(HOUR)})
HELD = election("orders-db", "db-1", "db-1", 1042, next="db-2", last_term=TERMS[1],
                members=[{**one, "is_self": one["identity"] == "db-1"} for one in MEMBERS])
GIVEN_UP = [term("db-1", 1042, 2 * HOUR + 754, 12, "unhealthy"), *TERMS[1:]]
VACANT = election("orders-db", "db-0", None, 1042, next="db-2", paused=True,
                  members=[member("db-0", "standby", is_self=True, ready=False), MEMBERS[2]],
                  last_term=GIVEN_UP[0], aside_for_ms=11_000,
                  health={"state": "unhealthy", "reason": "GET /healthz answered 503",
                          "since": rfc3339(14)})
SLOTS = election("workers", "worker-7f9c6d5b8-x2x9z", "worker-7f9c6d5b8-x2x9z", 80, slots=3,
                 holders=[{"identity": "worker-7f9c6d5b8-x2x9z", "version": 80},
                          {"identity": "worker-7f9c6d5b8-b41qk", "version": 83}],
                 members=[member("worker-7f9c6d5b8-x2x9z", "active", is_self=True, priority=10),
                          member("worker-7f9c6d5b8-b41qk", "active", priority=10),
                          member("worker-5d4f8b7c9-mm2pq", "standby", ready=True)],
                 next="worker-5d4f8b7c9-mm2pq")
MANY = [election(f"tenant-{i:04}", "db-0", None if i % 97 == 5 else f"db-{i * 7 % 3}", 1_000 + i)
        for i in range(10_000)]

SLOT_TERMS = [term("worker-7f9c6d5b8-b41qk", 83, 5 * HOUR),
              term("worker-7f9c6d5b8-x2x9z", 80, 11 * HOUR),
              term("worker-5d4f8b7c9-mm2pq", 78, 29 * HOUR, 5 * HOUR + 2, "expired")]

SILENT = silent({**DB, "expires_in_ms": None}, 74_000)
ETCD = {**DB, "expires_in_ms": None, "holder_age_ms": 1_900,
        "gone": [{"identity": "db-3", "last_seen": rfc3339(3 * HOUR)}]}

SCENES = {"silent": ([SILENT], TERMS), "etcd": ([ETCD], TERMS), "standby": ([DB], TERMS), "held": ([HELD], TERMS), "vacant": ([VACANT], GIVEN_UP),
          "slots": ([SLOTS], SLOT_TERMS), "list": (MANY, [])}
LOOKS = {"light-wide": ("light", browser.DESK), "dark-wide": ("dark", browser.DESK),
         "light-narrow": ("light", browser.PHONE), "dark-narrow": ("dark", browser.PHONE)}


def pictures(of: browser.Browser, scene: str, url: str, folder: Path, suffix: str = "") -> None:
    for look, (scheme, size) in LOOKS.items():
        # Nothing is half-way, then.
        of.prefers(color_scheme=scheme, reduced_motion="reduce")
        of.window(size)
        if not suffix:
            of.open(url)
        browser.until(lambda: of.text("#holder") or of.text("#rows"), "the page shows something")
        if not suffix:
            browser.until(lambda: of.text("#summary"), "connected")
        browser.until(lambda: scene == "list" or of.texts("#terms-note"), "history is drawn")
        of.window((size[0], max(size[1], of.page_height())), 2 if size == browser.PHONE else 1)
        (folder / f"{scene}{suffix}-{look}.png").write_bytes(of.picture())


def first_looks(of: browser.Browser, url: str, folder: Path) -> None:
    """What is seen without scrolling: the pictures in docs/images."""
    for scheme in ("light", "dark"):
        of.prefers(color_scheme=scheme, reduced_motion="reduce")
        of.window((1000, 900))
        of.open(url)
        browser.until(lambda: " \u00b7 " in of.text("#since"), "history is drawn")
        (folder / f"status-page-{scheme}.png").write_bytes(of.picture(whole=False))


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--tenure", required=True)
    arguments.add_argument("--folder", required=True, type=Path)
    given = arguments.parse_args()
    if missing := browser.what_is_missing():
        sys.exit(missing)
    given.folder.mkdir(parents=True, exist_ok=True)
    page = page_of(given.tenure)
    of = browser.Browser()
    try:
        for scene, (elections, terms) in SCENES.items():
            shown = StandIn(page, elections, {elections[0]["election"]: terms})
            with shown.listening() as url:
                pictures(of, scene, url, given.folder)
                if scene == "held":
                    first_looks(of, url, given.folder)
                if scene != "standby":
                    continue
            # Nobody listens any more.
            browser.until(lambda: of.text("#lost"), "the page says that it has lost the agent")
            pictures(of, scene, url, given.folder, "-lost")
    finally:
        of.close()
    print(*sorted(given.folder.glob("*.png")), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
