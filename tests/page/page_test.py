#!/usr/bin/python3
"""page_test.py --tenure FILE: the status page in a real browser. What it shows of elections is of
real agents, but for what no agent can be brought to say at will."""
from __future__ import annotations

import argparse
import signal
import sys
import tempfile
import unittest
from pathlib import Path

import browser
from agents import Agent, page_of
from browser import until
from stand_in import StandIn, election, member, rfc3339, silent, term

EXIT_SKIPPED = 77  # what ctest is told to take for it
HOSTILE = "<img/src=x/onerror=document.title='owned'>&lt;b&gt;"

tenure = ""
shown: browser.Browser


class PageTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="tenure-page-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        shown.window(browser.DESK)
        shown.prefers(color_scheme="light")
        # Drops the messages of earlier tests.
        shown.open("about:blank")
        shown.console()
        shown.requests()

    def agent(self, identity: str, *more: str, **settings: object) -> Agent:
        made = Agent(tenure, self.folder, identity, *more, **settings)  # type: ignore[arg-type]
        self.addCleanup(made.close)
        return made

    def serve(self, stand_in: StandIn) -> str:
        listening = stand_in.listening()
        self.addCleanup(listening.__exit__, None, None, None)
        return listening.__enter__()

    def shows(self, selector: str, text: str) -> None:
        until(lambda: text in shown.text(selector),
              f'{selector} shows "{text}", not "{shown.text(selector)}"')

    def shows_members(self, *wanted: str) -> None:
        until(lambda: [" ".join(one.split()) for one in shown.texts("#members li")] == [*wanted],
              f"the members are {wanted}, not {shown.texts('#members li')}")

    def is_in_touch(self, with_agent: Agent) -> None:
        self.shows("#link", "Live" if with_agent.has_events() else "Polling every 2 s")


class RealAgents(PageTest):
    def two(self) -> tuple[Agent, Agent]:
        """a, which holds, and b."""
        a = self.agent("a")
        shown.open(a.url)
        self.shows("#holder", "a")
        self.shows("#state", "Active")
        return a, self.agent("b")

    def test_shows_who_holds_and_who_waits(self) -> None:
        _, b = self.two()
        shown.open(b.url)
        self.shows("#holder", "a")
        self.is_in_touch(b)
        self.shows("#state", "Standby")
        self.shows("#version", "1")
        until(lambda: [one.split() for one in shown.texts("#members li")] ==
              [["a", "Active"], ["b", "this", "agent", "Standby,", "next"]],
              "both members are shown")
        self.shows("#since", "has held it since before")

    def test_killed_holder_is_replaced_without_a_reload(self) -> None:
        a, b = self.two()
        shown.open(b.url)
        self.shows("#holder", "a")
        shown.run("window.loaded_once = true")
        version = int(shown.text("#version"))
        a.send(signal.SIGKILL)
        # It holds until its lease ends, and is not shown as active meanwhile.
        until(lambda: [one.split()[:2] for one in shown.texts("#members li")][:1] == [["a", "Vanished"]],
              "a is missed", pause=0.02)
        self.shows("#summary", "a has vanished, its lease ends in ")
        self.assertNotIn("gone", shown.text("#summary"))
        self.shows("#holder", "b")
        self.assertGreater(int(shown.text("#version")), version)
        self.shows("#before", "a lost it at ")
        self.shows("#before", "its lease ran out")
        # The one number, in all places.
        until(lambda: "No member was active for at most " in shown.text("#terms .gap"), "the outage is told")
        told = shown.text("#terms .gap").removeprefix("No member was active for ")
        self.shows("#before", f"No member was active for {told}.")
        self.assertIn(f"after {told} without an active member", b.said())
        self.shows("#terms li:not(.gap) ~ li:not(.gap)", "Lost it")
        self.assertEqual(shown.text("#terms li:last-child b"), "a")
        # It is missed, not forgotten.
        self.shows("#members li:last-child", "Gone, last seen ")
        self.assertEqual(shown.text("#members li:last-child bdi"), "a")
        self.shows("#summary", "1 gone")
        self.assertTrue(shown.run("return window.loaded_once === true"), "it was loaded again")

    def test_hand_over_says_why(self) -> None:
        a, b = self.two()
        shown.open(b.url)
        self.shows("#holder", "a")
        until(lambda: len(shown.texts("#members li")) == 2, "b takes part")
        a.send(signal.SIGTERM)
        self.shows("#holder", "b")
        self.shows("#before", "a gave it up at ")
        self.shows("#before", ": shut down.")
        # Said to those who do not see it.
        self.assertIn("b holds db", shown.run("return document.title"))
        self.assertIn(f"b holds db, version {shown.text('#version')}",
                      shown.run("return document.querySelector('#news').textContent"))

    def test_shows_orders_to_whom_they_concern(self) -> None:
        a, b = self.two()
        until(lambda: len(shown.texts("#members li")) == 2, "b takes part")
        shown.click("#orders summary")
        at_a = f"--api {a.url.rstrip('/')} --token-file FILE"
        at_b = f"--api {b.url.rstrip('/')} --token-file FILE"
        until(lambda: shown.texts("code") == [f"tenure transfer b db {at_a}",
                                              f"tenure resign db {at_a}",
                                              f"tenure pause db {at_a}"], "orders for a holder")
        shown.open(b.url)
        self.shows("#holder", "a")
        shown.click("#orders summary")
        # What the holder has to do is passed on.
        until(lambda: shown.texts("code") == [f"tenure transfer b db {at_b}",
                                              f"tenure resign db {at_b}",
                                              f"tenure pause db {at_b}"], "orders from a standby")

    def test_version_can_be_copied(self) -> None:
        a = self.agent("a")
        shown.open(a.url)
        self.shows("#holder", "a")
        shown.command("Browser.grantPermissions", origin=a.url,
                      permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])
        shown.click("#copy")
        self.shows("#copy", "Copied")
        self.assertEqual(shown.run("return navigator.clipboard.readText()"), "1")

    def test_ended_agent_is_missed_and_found_again(self) -> None:
        a, _ = self.two()
        self.is_in_touch(a)
        self.assertEqual(shown.text("#lost"), "")
        a.send(signal.SIGKILL)
        self.shows("#lost", "The agent has not answered since ")
        self.assertEqual(shown.text("#link"), "Not connected")
        self.shows("#since", "when the agent last answered")
        muted = shown.style(".label", "color")
        self.assertEqual(shown.style("#holder bdi", "color"), muted, "nobody vouches for it")
        a.wait()
        self.is_in_touch(self.agent("a", listen=a.address))
        self.shows("#since", "has held it")
        self.assertEqual(shown.text("#lost"), "")
        self.assertNotEqual(shown.style("#holder bdi", "color"), muted)

    def test_hanging_agent_is_missed(self) -> None:
        a, _ = self.two()
        self.is_in_touch(a)
        a.send(signal.SIGSTOP)
        self.shows("#lost", "The agent has not answered since ")
        a.send(signal.SIGCONT)
        self.is_in_touch(a)

    def test_hostile_identity_stays_text(self) -> None:
        a = self.agent(HOSTILE)
        shown.open(a.url)
        self.shows("#state", "Active")
        until(lambda: shown.texts("#terms li b"), "the history is drawn")
        for where in ("#holder", "#members bdi", "#terms li b", "#state-note bdi"):
            self.assertEqual(shown.text(where), HOSTILE)
        self.assertEqual(shown.run("return document.images.length"), 0)
        self.assertIn(HOSTILE, shown.run("return document.title"))
        # What goes into a shell is not made of such a name.
        self.assertNotIn("img", " ".join(shown.run(
            "return [...document.querySelectorAll('code')].map(e => e.textContent)")))
        # And were it ever put in as markup, the browser would refuse.
        with self.assertRaisesRegex(Exception, "TrustedHTML"):
            shown.run("document.body.append(Object.assign(document.createElement('p'),"
                      "{innerHTML: '<b>b</b>'}))")

    def test_asks_nobody_but_its_agent_and_keeps_its_policy(self) -> None:
        a = self.agent("a", elections=("db", "cache"))
        shown.open(a.url)
        self.shows("#rows", "cache")
        shown.click("#rows tr:nth-child(2) a")
        self.shows("#holder", "a")
        until(lambda: shown.texts("#terms li"), "the history is drawn")
        asked = [one for one in shown.requests() if one != "about:blank"]
        self.assertGreater(len(asked), 3)
        self.assertEqual([one for one in asked if not one.startswith((a.url, "data:"))], [])
        # An agent without events answers 404 to who asks for them; nothing else may be in there.
        complaints = [one for one in shown.console() if "events - Failed to load" not in one]
        self.assertEqual(complaints, [])

    def test_several_elections_are_a_list_with_a_way_back(self) -> None:
        a = self.agent("a", elections=("db", "team/cache", "queue"))
        shown.open(a.url)
        self.shows("#overview h1", "Elections")
        until(lambda: shown.texts("#rows td:nth-child(2)") == ["a"] * 3, "a holds all of them")
        shown.click("#rows tr:nth-child(2) a")
        self.shows("#election", "team/cache")
        self.assertEqual(shown.texts("#overview"), [])
        shown.click("#home")
        self.shows("#rows", "queue")
        self.assertEqual(shown.texts("#detail"), [])

    def test_address_of_an_unknown_election_says_so(self) -> None:
        a = self.agent("a")
        shown.open(f"{a.url}#nothing")
        self.shows("#lost", 'there is no election "nothing"')


class Looks(PageTest):
    def test_phone_needs_no_sideways_scrolling(self) -> None:
        name = "worker-" + "0123456789abcdef" * 14
        a = self.agent(name, elections=("db", "a" * 120))
        shown.window(browser.PHONE)
        for where in ("", "#db", "#" + "a" * 120):
            shown.open(a.url + where)
            self.shows("#holder" if where else "#rows", name)
            until(lambda: not where or shown.texts("#terms li"), "the history is drawn")
            self.assertLessEqual(shown.run("return document.documentElement.scrollWidth"),
                                 browser.PHONE[0], where or "the list")

    def test_phone_has_room_for_all_that_is_said_of_a_member(self) -> None:
        name = "worker-7f9c6d5b8-x2x9z"
        members = [member(name, "active", is_self=True, priority=1_000_000),
                   member("b", "standby", ready=False, priority=-1_000_000)]
        holders = [{"identity": name, "version": 1_000_000}]
        stand_in = StandIn(page_of(tenure), [election("db", name, name, 1_000_000, slots=3,
                                                      holders=holders, members=members)])
        shown.window(browser.PHONE)
        shown.open(self.serve(stand_in))
        self.shows("#members", "not ready, priority -1000000")
        self.assertLessEqual(shown.run("return document.documentElement.scrollWidth"),
                             browser.PHONE[0])

    def test_dark_and_light_differ_and_can_be_read(self) -> None:
        a = self.agent("a", elections=("db", "cache"))
        papers = set()
        for scheme in ("light", "dark"):
            shown.prefers(color_scheme=scheme)
            for where in ("", "#db"):
                shown.open(a.url + where)
                self.shows("#holder" if where else "#rows", "a")
                papers.add(shown.style("body", "background-color"))
                worst = shown.run(CONTRAST)
                # WCAG 2.1 AA for text of any size.
                self.assertGreaterEqual(worst["ratio"], 4.5, f"{scheme}: {worst['what']}")
        self.assertEqual(len(papers), 2, papers)

    def test_motion_can_be_refused(self) -> None:
        a = self.agent("a")
        shown.open(a.url)
        self.shows("#holder", "a")
        self.assertNotEqual(shown.style("#bar", "transition-property"), "none")
        shown.prefers(reduced_motion="reduce")
        self.assertEqual(shown.style("#bar", "transition-property"), "none")

    def test_everything_interactive_has_a_name(self) -> None:
        a = self.agent("a", elections=[f"e{i}" for i in range(60)])
        for where in ("", "#e1"):
            shown.open(a.url + where)
            self.shows("#holder" if where else "#rows", "a")
            nodes = shown.command("Accessibility.getFullAXTree")["nodes"]
            roles = {node["role"]["value"] for node in nodes if not node["ignored"]}
            self.assertLessEqual({"main", "heading", "banner", "contentinfo", "status"}, roles)
            unnamed = [node["role"]["value"] for node in nodes if not node["ignored"]
                       and node["role"]["value"] in ("button", "link", "searchbox")
                       and not node["name"]["value"]]
            self.assertEqual(unnamed, [])


class AtWill(PageTest):
    """Against a stand-in."""

    MEMBERS = [member("a", "active"), member("b", "standby", is_self=True, ready=True),
               member("c", "standby", ready=True)]

    def icon(self) -> str:
        return shown.run("return document.querySelector('#icon').dataset.level")

    def test_one_line_says_whether_all_is_well(self) -> None:
        well = election("db", "b", "a", 7, members=self.MEMBERS)
        stand_in = StandIn(page_of(tenure), [well])
        shown.open(self.serve(stand_in))
        self.shows("#summary", "All is well: 1 active, 2 standby, etcd answers")
        self.assertEqual(self.icon(), "good")
        self.assertEqual(shown.run("return document.title"), "a holds db \u00b7 Tenure")
        vacant = election("db", "b", None, 7, members=self.MEMBERS[1:], index=2)
        stand_in.publish(vacant)
        self.shows("#summary", "Nobody is active: 2 standby, etcd answers")
        self.assertEqual(self.icon(), "bad")
        self.assertEqual(shown.run("return document.title"), "Nobody holds db \u00b7 Tenure")
        held_back = {"reason": "no_guard", "text": "it has no guard that could run its workload"}
        stand_in.publish({**well, "index": 3, "not_campaigning": held_back})
        self.shows("#summary", "not all is well: 1 active, 2 standby")
        self.shows("#notes", "does not campaign: it has no guard")
        self.assertEqual(self.icon(), "warning")

    def test_store_that_does_not_answer_is_said_and_nothing_is_live(self) -> None:
        well = election("db", "b", "a", 7, members=self.MEMBERS, expires_in_ms=None)
        stand_in = StandIn(page_of(tenure), [well], {"db": [term("a", 7, 90)]})
        shown.open(self.serve(stand_in))
        self.shows("#link", "Live")
        self.shows("#left-title", "Last confirmed")
        self.shows("#left-note", "by etcd")
        fresh = shown.style("#holder bdi", "color")
        stand_in.publish(silent(well))
        self.shows("#link", "The agent answers, its store does not")
        self.shows("#summary", "Who is active is not known")
        self.shows("#summary", "etcd does not answer, for 1")
        self.shows("#notes", "etcd does not answer: POST /v3/kv/txn")
        self.shows("#since", "when the store last answered, 1")
        self.shows("#terms li", "not known")
        self.assertEqual(shown.run("return document.title"),
                         "Who holds db is not known \u00b7 Tenure")
        self.assertEqual(self.icon(), "bad")
        self.assertNotEqual(shown.style("#holder bdi", "color"), fresh)
        stand_in.publish({**well, "index": 9})
        self.shows("#link", "Live")
        self.shows("#summary", "All is well")
        self.assertEqual(shown.style("#holder bdi", "color"), fresh)

    def test_check_that_fails_is_said_before_it_decides(self) -> None:
        ill = election("db", "a", "a", 7, health={"state": "healthy", "reason": "GET answered 503",
                                                  "since": rfc3339(60)})
        stand_in = StandIn(page_of(tenure), [ill])
        shown.open(self.serve(stand_in))
        self.shows("#notes", "The newest health check of the workload here has failed: GET answered")
        self.assertEqual(self.icon(), "warning")
        stand_in.publish({**ill, "index": 2, "state": "draining", "is_self": False,
                          "last_loss": "unhealthy",
                          "health": {**ill["health"], "state": "unhealthy"}})
        self.shows("#notes", "stops its workload: its workload was unhealthy")
        self.shows("#summary", "The workload here is unhealthy")

    def test_time_without_a_holder_is_shown_between_terms(self) -> None:
        terms = [term("a", 9, 50), term("b", 8, 200, 62.5, "resigned", outage=12.5),
                 term("a", 7, 400, 200.2, "shutdown", outage=0.2)]
        stand_in = StandIn(page_of(tenure), [election("db", "b", "a", 9)], {"db": terms})
        shown.open(self.serve(stand_in))
        until(lambda: shown.texts("#terms .gap") == ["No member was active for 12.5 s"],
              "the one gap is shown, and not the hand-over of 0.2 s")

    def test_members_show_who_comes_next_and_who_cannot(self) -> None:
        one = election("db", "b", "a", 7, members=self.MEMBERS, next="c")
        stand_in = StandIn(page_of(tenure), [one])
        shown.open(self.serve(stand_in))
        self.shows_members("a Active", "b this agent Standby", "c Standby, next")
        self.assertEqual(shown.texts("#members .state b"), ["next"])
        ranked = [member("a", "active", priority=1),
                  member("b", "standby", is_self=True, ready=False, priority=9),
                  member("c", "standby", ready=True), member("old", "standby")]
        stand_in.publish({**one, "index": 2, "members": ranked})
        self.shows_members("a Active, priority 1", "b this agent Standby, not ready, priority 9",
                           "c Standby, priority 0, next", "old Standby, priority 0")
        self.assertNotEqual(shown.style("#members li:nth-child(2) bdi", "color"),
                            shown.style("#members li:nth-child(3) bdi", "color"))
        # Nobody is ready.
        stand_in.publish({**one, "index": 3, "members": ranked[:2], "next": None})
        self.shows_members("a Active, priority 1", "b this agent Standby, not ready, priority 9")

    def test_transfer_goes_to_who_comes_next(self) -> None:
        one = election("db", "b", "a", 7, members=self.MEMBERS, next="c")
        stand_in = StandIn(page_of(tenure), [one])
        shown.open(self.serve(stand_in))
        self.shows("#holder", "a")
        shown.click("#orders summary")
        self.shows("#commands code", "tenure transfer c db ")
        stand_in.publish({**one, "index": 2, "next": None})
        self.shows("#commands code", "tenure transfer b db ")

    def test_member_that_has_vanished_is_kept_with_when_it_was_seen(self) -> None:
        gone = [{"identity": "d", "last_seen": rfc3339(30)}]
        stand_in = StandIn(page_of(tenure),
                           [election("db", "b", "a", 7, members=self.MEMBERS, gone=gone)])
        shown.open(self.serve(stand_in))
        self.shows("#members li:last-child", "Gone, last seen ")
        self.shows("#summary", "1 active, 2 standby, 1 gone, etcd answers")

    def test_event_is_shown_at_once(self) -> None:
        stand_in = StandIn(page_of(tenure), [election("db", "b", "a", 7)])
        shown.open(self.serve(stand_in))
        self.shows("#holder", "a")
        self.shows("#link", "Live")
        stand_in.publish(election("db", "b", "b", 8, index=2, last_term=term("a", 7, 90, 1,
                                                                             "unhealthy")))
        self.shows("#holder", "b")
        self.shows("#version", "8")
        self.shows("#before", ": its workload was unhealthy.")

    def test_without_events_it_polls_and_says_so(self) -> None:
        stand_in = StandIn(page_of(tenure), [election("db", "b", "a", 7)], events=False)
        shown.open(self.serve(stand_in))
        self.shows("#link", "Polling every 2 s")
        stand_in.publish(election("db", "b", "b", 8), tell=False)
        self.shows("#holder", "b")

    def test_answer_that_an_event_has_overtaken_is_not_shown(self) -> None:
        stand_in = StandIn(page_of(tenure), [election("db", "b", "a", 7, index=5)])
        shown.open(self.serve(stand_in))
        self.shows("#holder", "a")
        self.shows("#link", "Live")
        stand_in.answers.clear()
        self.addCleanup(stand_in.answers.set)
        until(lambda: stand_in.held_back, "an answer that says a is on its way")
        # Not a larger index: what it says is whether two states are the same.
        stand_in.publish(election("db", "b", "b", 8, index=3))
        self.shows("#holder", "b")
        shown.run("window.seen = []; new MutationObserver(() => seen.push("
                  "document.querySelector('#holder').textContent))"
                  ".observe(document.querySelector('#holder'), {childList: true, subtree: true})")
        before = stand_in.asked.count("/v1/elections/db")
        stand_in.answers.set()
        until(lambda: stand_in.asked.count("/v1/elections/db") > before + 1, "it asks on")
        self.assertEqual(shown.run("return window.seen"), [])

    def test_every_reason_of_the_api_has_words(self) -> None:
        source = Path(__file__).parents[2] / "agent/core/vocabulary.cpp"
        named = source.read_text().split("name(loss_reason r)")[1].split("}  //")[0]
        codes = [line.split('"')[1] for line in named.split("return \"unknown\"")[0].splitlines()
                 if 'return "' in line]
        self.assertGreater(len(codes), 10)
        shown.open(self.serve(StandIn(page_of(tenure), [election("db", "b", "a", 7)])))
        self.shows("#holder", "a")
        words = shown.run("return Object.keys(reasons)")
        self.assertEqual(sorted(set(codes) - {"none"} | {"expired"}), sorted(words))

    def test_ten_thousand_elections_are_found_and_paged(self) -> None:
        many = [election(f"tenant-{i:05}", "a", "a" if i % 100 else None, i + 1)
                for i in range(10_000)]
        stand_in = StandIn(page_of(tenure), many)
        shown.open(self.serve(stand_in))
        self.shows("#range", "1 to 50 of 10,000")
        self.assertEqual(len(shown.texts("#rows tr")), 50)
        shown.click("#next")
        self.shows("#range", "51 to 100 of 10,000")
        shown.type("#search", "TENANT-0421")
        self.shows("#rows", "tenant-04210")
        until(lambda: len(shown.texts("#rows tr")) == 10, "ten are found")
        shown.run("document.querySelector('#search').value = ''")
        shown.click("#filter-vacant")
        self.shows("#range", "1 to 50 of 100")
        self.shows("#link", "Live")
        stand_in.publish(election("tenant-00000", "a", "z", 20_000, index=2))
        until(lambda: "tenant-00000" not in shown.text("#rows"), "it is held now")
        shown.type("#search", "tenant-09999")
        shown.click("#filter-all")
        self.shows("#rows", "tenant-09999")
        shown.click("#rows a")
        self.shows("#holder", "a")
        # One list at the start: what has changed came by event.
        self.assertEqual(stand_in.asked.count("/v1/elections"), 1)


# The text with the least contrast to what is behind it.
CONTRAST = """
const light = (color) => {
  const [r, g, b] = color.match(/[\\d.]+/g).map((v) => v / 255)
    .map((v) => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
  return .2126 * r + .7152 * g + .0722 * b;
};
const behind = (e) => {
  for (; e; e = e.parentElement) {
    const color = getComputedStyle(e).backgroundColor;
    if (color !== 'rgba(0, 0, 0, 0)') return color;
  }
};
let worst = { ratio: 21, what: '' };
for (const e of document.body.querySelectorAll('*')) {
  const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
  if (!own || !e.checkVisibility()) continue;
  const [a, b] = [light(getComputedStyle(e).color), light(behind(e))].sort((x, y) => y - x);
  const ratio = (a + .05) / (b + .05);
  if (ratio < worst.ratio) worst = { ratio, what: e.outerHTML.slice(0, 200) };
}
return worst;
"""


def main() -> int:
    global tenure, shown
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--tenure", required=True)
    given, others = arguments.parse_known_args()
    if missing := browser.what_is_missing():
        print(f"skipped: {missing}")
        return EXIT_SKIPPED
    tenure = given.tenure
    shown = browser.Browser()
    try:
        ran = unittest.main(argv=[sys.argv[0], *others], exit=False)
    finally:
        shown.close()
    return 0 if ran.result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
