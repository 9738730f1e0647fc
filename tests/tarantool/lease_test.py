#!/usr/bin/env python3
"""lease_test.py [TEST...] | --mutants [NAME...]: docker/tarantool/tenure.lua on a real Tarantool.

--mutants plants mistakes in tenure.lua, one at a time; each has to fail the test that it names."""
import concurrent.futures
import random
import re
import sys
import threading
import time
import unittest

import iproto
import mutants
from server import PASSWORD, PATIENCE, SHIPPED, Member, Server, until, waiting

DRIFT = 0.01
now = time.monotonic
START = "require('tenure').start"  # as the last line of init.lua begins

# What a test does in an operator's place, on the console.
OPERATOR = """
operator = {}
function operator.revoke(name) box.session.su('admin', require('tenure').revoke, name) end
function operator.read_only(on) box.cfg{read_only = on} end
function operator.connections() return box.stat.net().CONNECTIONS.current end
-- What a user may do, beyond what all users may.
function operator.rights(user)
    local all = {}
    for _, right in ipairs(box.session.su('admin', box.schema.user.info, user)) do
        if right[2] ~= 'universe' and right[2] ~= 'role' and right[3] ~= user then
            table.insert(all, table.concat({right[1], right[2], right[3]}, ' '))
        end
    end
    table.sort(all)
    return all
end
function operator.quorum(size, timeout)
    box.cfg{replication_synchro_quorum = size, replication_synchro_timeout = timeout}
end
function operator.spaces()
    local all = {}
    for name, space in pairs(box.space) do
        if type(name) == 'string' and name:match('^tenure_') then table.insert(all, space.is_sync) end
    end
    return all
end
-- What a fail-over does: the new leader ends what the old one has not confirmed, and has another raft term.
function operator.take_over()
    operator.quorum(1, 0.1)
    box.ctl.clear_synchro_queue()
    operator.elected()
    box.cfg{read_only = false}
end
function operator.elected() box.info.election.term = box.info.election.term + 1 end
if not box.info.ro then
    box.schema.user.grant('guest', 'execute', 'universe', nil, {if_not_exists = true})
    box.schema.user.grant('guest', 'replication', nil, nil, {if_not_exists = true})
end
"""

# Makes tenure.lua take this server for one with elections. 2.6 has none, but it has synchronous spaces.
ELECTED = """
_TARANTOOL = '2.11.0'
rawset(box.cfg, 'election_mode', 'candidate')
rawset(box.info, 'election', {term = 1, leader = 1})
"""


def shipped_script(old: str, new: str) -> str:
    """init.lua with a change."""
    text = (SHIPPED / "init.lua").read_text()
    assert text.count(old) == 1, f"init.lua has no {old}"
    return text.replace(old, new)


def held_now(member, names) -> dict[str, int]:
    """Acquires all of these. They are held at this moment, even if this machine is too slow for the ttl."""
    def tried():
        member.open()
        items = member.held_all(names)
        return dict(zip(items[::2], items[1::2])) if member.renew(*items).get("held") == len(names) else None
    return until(tried, "all are held")


def granted_to(member, name):
    """Asks again and again until it is granted: the answer, and when it came."""
    def tried():
        answer = member.acquire(name)
        return (answer, now()) if "token" in answer else None
    return until(tried, f"{name} is granted")


class WithMembers(unittest.TestCase):
    server: Server

    def member(self, owner, **options) -> Member:
        member = Member(self.server, owner, **options)
        self.addCleanup(member.close)
        return member


class OnOneServer(WithMembers):
    """Tests that share a server; each has elections of its own."""

    @classmethod
    def setUpClass(cls):
        cls.server = Server()
        cls.addClassCleanup(cls.server.close)

    def named(self) -> str:
        """An election of this test."""
        return self.id()


class Terms(OnOneServer):
    def test_a_grant_is_refused_to_others_and_shown_to_them(self):
        a, b, name = self.member("a"), self.member("b"), self.named()
        granted = a.held(name)
        self.assertEqual((granted["token"], granted["slot"], granted["ttl_ms"], granted["clean"], granted["made"]),
                         (1, 0, 600000, True, True))
        refused = b.acquire(name)
        self.assertEqual(refused["refused"], "held")
        [claim] = refused["election"]["claims"]
        self.assertEqual((claim["owner"], claim["session"], claim["token"]), ("a", a.session, 1))

    def test_who_holds_is_granted_the_same_term_again(self):
        a, name = self.member("a"), self.named()
        first, second = a.held(name), a.held(name)
        self.assertEqual((first["made"], second["made"]), (True, False))
        self.assertEqual(first["token"], second["token"])

    def test_a_lost_reply_is_asked_for_again_by_the_same_session(self):
        a, name = self.member("a"), self.named()
        a.begin("tenure.acquire", a.session, name, 1, 0)
        a.close()
        again, b = self.member("a", session=a.session), self.member("b")
        until(lambda: b.look(name)["token"] == 1, "the request whose reply is lost is carried out")
        granted = again.held(name)
        self.assertEqual((granted["token"], granted["made"]), (1, False))
        self.assertEqual(b.acquire(name)["refused"], "held")

    def test_another_run_of_the_same_name_is_another_session(self):
        first, second, name = self.member("a"), self.member("a"), self.named()
        first.held(name)
        self.assertEqual(second.acquire(name)["refused"], "held")

    def test_tokens_grow_by_one_with_each_new_holder(self):
        a, b, name = self.member("a"), self.member("b"), self.named()
        for token in range(1, 6):
            member = (a, b)[token % 2]
            self.assertEqual(member.held(name)["token"], token)
            self.assertTrue(member.release(name, token)["released"])

    def test_a_token_is_larger_than_what_was_seen_and_in_doubt_then(self):
        a, name = self.member("a"), self.named()
        granted = a.held(name, above=1000)
        self.assertEqual((granted["token"], granted["clean"]), (1001, False))
        # As after a restore: the term that is there is older than what the member has seen.
        again = a.held(name, above=5000)
        self.assertEqual((again["token"], again["clean"]), (5001, False))

    def test_tokens_are_exact_beyond_what_a_double_can_tell_apart(self):
        a, name, seen = self.member("a"), self.named(), 2**60 + 1
        self.assertEqual(a.held(name, above=seen)["token"], seen + 1)
        self.assertEqual(a.renew(name, seen + 1)["held"], 1)
        self.assertEqual(a.renew(name, seen)["held"], 0)
        self.assertFalse(a.release(name, seen)["released"])
        self.assertTrue(a.release(name, seen + 1)["released"])
        self.assertEqual(a.held(name)["token"], seen + 2)
        self.assertEqual(a.acquire(self.named() + "-last", 1, 2**63 - 1)["error"], "tokens_exhausted")

    def test_a_late_release_of_an_older_term_touches_no_newer_one(self):
        a, b, name = self.member("a"), self.member("b"), self.named()
        old = a.held(name)["token"]
        a.release(name, old)
        new = b.held(name)["token"]
        self.assertFalse(a.release(name, old)["released"])
        b.release(name, new)
        newest = a.held(name)["token"]
        # The same session: only the token tells the two terms apart.
        self.assertFalse(a.release(name, old)["released"])
        self.assertEqual(a.look(name)["claims"][0]["token"], newest)

    def test_a_late_renewal_of_an_older_term_does_not_count(self):
        a, name = self.member("a"), self.named()
        old = a.held(name)["token"]
        a.release(name, old)
        new = a.held(name)["token"]
        self.assertEqual(a.renew(name, old)["lost"][0][0], name)
        self.assertEqual(a.renew(name, new)["held"], 1)

    def test_a_release_without_a_token_ends_what_the_session_holds(self):
        a, b, name = self.member("a"), self.member("b"), self.named()
        a.held(name)
        self.assertFalse(b.release(name, 0)["released"])
        self.assertTrue(a.release(name, 0, clean=False)["released"])
        self.assertEqual((b.held(name)["token"], "released" in b.look(name)), (2, False))

    def test_a_release_says_how_the_term_ended(self):
        a, b, name = self.member("a"), self.member("b"), self.named()
        a.release(name, a.held(name)["token"], clean=True, record="first")
        self.assertEqual(a.look(name)["released"], {"token": 1, "clean": True, "record": "first"})
        granted = b.held(name)
        self.assertTrue(granted["clean"])
        b.release(name, granted["token"], clean=False, record="second")
        self.assertEqual(a.look(name)["released"], {"token": 2, "clean": False, "record": "second"})
        self.assertFalse(a.held(name)["clean"])

    def test_nobody_is_granted_what_was_renewed_before_its_time(self):
        ttl = 1.5
        a, b, name = self.member("a", ttl=ttl), self.member("b"), self.named()

        def renewed():
            sent = now()
            token = a.acquire(name).get("token")
            until(lambda: now() > sent + ttl / 2, "half of the ttl is over")
            sent = now()
            if token and a.renew(name, token).get("held") == 1:
                return sent
            a.open()  # This machine is slow: again.
            return None
        sent = until(renewed, "a renewal is in time")
        granted, at = granted_to(b, name)
        self.assertGreaterEqual(at, sent + ttl * (1 - DRIFT))
        self.assertFalse(granted["clean"])

    def test_a_term_that_is_over_is_lost_and_in_doubt_for_the_next(self):
        a, b, name = self.member("a", ttl=1), self.member("b"), self.named()
        token = a.held(name)["token"]
        granted, _ = granted_to(b, name)
        self.assertEqual((granted["token"], granted["clean"]), (token + 1, False))
        a.open()
        self.assertEqual(a.renew(name, token)["lost"], [[name, "taken", "b"]])
        self.assertFalse(a.release(name, token)["released"])
        self.assertEqual(b.renew(name, granted["token"])["held"], 1)

    def test_a_term_that_is_not_named_is_not_renewed(self):
        a, b, name = self.member("a", ttl=3), self.member("b"), self.named()
        a.held(name)
        until(lambda: a.renew() and not b.look(name)["claims"], "the term ends, although its session is renewed")

    def test_an_end_is_shown_although_nobody_asks(self):
        a, b, name = self.member("a", ttl=1), self.member("b"), self.named()
        b.follow(name)
        a.held(name)
        b.sees(lambda shown: shown["token"] == 1 and not shown["claims"], "the term has ended")
        self.assertFalse(b.held(name)["clean"])

    def test_after_a_term_ran_out_only_a_clean_release_ends_the_doubt(self):
        a, b, name = self.member("a", ttl=1), self.member("b"), self.named()
        a.held(name)
        granted, _ = granted_to(b, name)
        b.release(name, granted["token"], clean=False)
        again = b.held(name)
        self.assertFalse(again["clean"])
        b.release(name, again["token"], clean=True)
        self.assertTrue(b.held(name)["clean"])

    def test_a_session_that_is_over_is_granted_nothing(self):
        a, name = self.member("a", ttl=1), self.named()
        until(lambda: a.put() != [], "the session is over")
        self.assertEqual(a.put()["error"], "no_such_session")
        self.assertEqual(a.acquire(name)["error"], "no_such_session")
        self.assertEqual(a.renew(name, 1)["error"], "no_such_session")
        self.assertTrue(a.open()["made"])
        self.assertEqual(a.held(name)["token"] > 0, True)

    def test_a_session_keeps_its_ttl_while_it_holds(self):
        a, name = self.member("a"), self.named()
        token = a.held(name)["token"]
        a.ttl = 900
        self.assertEqual(a.open()["ttl_ms"], 600000)
        a.release(name, token)
        self.assertEqual(a.open()["ttl_ms"], 900000)
        self.assertEqual(a.held(name)["ttl_ms"], 900000)

    def test_a_session_has_one_owner(self):
        a = self.member("a")
        self.assertEqual(a.call("tenure.open", a.session, "b", 30000)["error"], "session_of_another")

    def test_a_session_that_has_left_takes_nothing_and_ends_its_terms(self):
        a, name = self.member("a"), self.named()
        token = a.held(name)["token"]
        a.put({"name": name, "kind": "member", "key": "a", "text": "ready"})
        a.call("tenure.leave", a.session)
        shown = a.look(name)
        self.assertEqual((shown["documents"], shown["claims"][0]["token"]), ([], token))
        self.assertEqual(a.acquire(name)["error"], "session_left")
        self.assertEqual(a.put({"name": name, "kind": "member", "key": "a", "text": "late"})["error"], "session_left")
        self.assertEqual(a.call("tenure.open", a.session, "a", 30000)["error"], "session_left")
        self.assertTrue(a.release(name, token)["released"])

    def test_what_cannot_be_an_argument_is_refused_by_name(self):
        a = self.member("a")
        for call, argument in ((("acquire", a.session, "", 1, 0), "name"), (("acquire", a.session, "n" * 256, 1, 0), "name"),
                               (("acquire", a.session, 7, 1, 0), "name"), (("acquire", a.session, "n", 0, 0), "slots"),
                               (("acquire", a.session, "n", 1.5, 0), "slots"), (("acquire", a.session, "n", 1, -1), "above"),
                               (("acquire", a.session, "n", 1, 2**64 - 1), "above"),
                               (("acquire", None, "n", 1, 0), "session"), (("open", "s", "o", 1), "ttl_ms"),
                               (("open", "s", "", 1000), "owner"), (("renew", a.session, ["n"]), "items"),
                               (("renew", a.session, [1, 1]), "items"), (("put", a.session, [1]), "items"),
                               (("put", a.session, [{"name": "n", "kind": "x", "key": "k", "text": ""}]), "kind"),
                               (("put", a.session, [{"name": "n", "kind": "command", "key": "k", "text": ""}]), "ttl_ms"),
                               (("read", "n"), "names"), (("read", [1]), "names"),
                               (("release", a.session, "n", 1, True, "", 7), "record")):
            with self.subTest(call=call):
                self.assertEqual(a.call("tenure." + call[0], *call[1:]), {"error": "bad_argument", "argument": argument})

    def test_a_call_within_a_transaction_of_the_client_is_refused(self):
        described = self.member("a").call("tenure.describe")
        self.assertNotIn("in_transaction", described)  # Streams came with 2.10; a single call is never within one.


class Slots(OnOneServer):
    def test_as_many_hold_as_there_are_slots_each_in_one_of_its_own(self):
        members, name = [self.member(f"m{i}") for i in range(4)], self.named()
        granted = [member.held(name, slots=3) for member in members[:3]]
        self.assertEqual([one["slot"] for one in granted], [0, 1, 2])
        self.assertEqual([one["token"] for one in granted], [1, 2, 3])
        self.assertEqual(members[3].acquire(name, slots=3)["refused"], "held")
        members[1].release(name, granted[1]["token"])
        last = members[3].held(name, slots=3)
        self.assertEqual((last["slot"], last["token"]), (1, 4))
        self.assertEqual(members[0].renew(name, 1)["held"], 1)

    def test_another_number_of_slots_is_refused_while_somebody_holds(self):
        a, b, name = self.member("a"), self.member("b"), self.named()
        token = a.held(name, slots=1)["token"]
        refused = b.acquire(name, slots=2)
        self.assertEqual((refused["refused"], refused["election"]["slots"]), ("other_slots", 1))
        # Its own term goes on, even if it is set up for another number now.
        self.assertFalse(a.held(name, slots=2)["made"])
        a.release(name, token)
        b.held(name, slots=2)
        self.assertEqual(b.look(name)["slots"], 2)
        self.assertEqual(a.acquire(name, slots=1)["refused"], "other_slots")

    def test_a_slot_that_is_no_more_and_ended_in_doubt_is_waited_for(self):
        a, b, name = self.member("a"), self.member("b"), self.named()
        first, second = a.held(name, slots=2), b.held(name, slots=2)
        b.release(name, second["token"], clean=False)
        a.release(name, first["token"], clean=True)
        self.assertFalse(a.held(name, slots=1)["clean"])


class Renewals(OnOneServer):
    def test_each_term_of_a_call_is_answered_for_itself(self):
        a, b, name = self.member("a"), self.member("b"), self.named()
        items = a.held_all(f"{name}-{i}" for i in range(2500))  # more than one transaction takes
        a.release(f"{name}-7", items[15])
        b.held(f"{name}-7")
        a.release(f"{name}-2400", items[4801])
        answer = a.renew(*items)
        self.assertEqual(answer["held"], 2498)
        self.assertEqual(answer["lost"], [[f"{name}-7", "taken", "b"], [f"{name}-2400", "ended"]])

    def test_a_renewal_without_terms_keeps_the_session(self):
        a = self.member("a")
        self.assertEqual(a.renew(), {"held": 0, "lost": [], "ttl_ms": 600000, "epoch": 1})


class Succession(OnOneServer):
    def line(self, ttl=600.0, holder_ttl=600.0):
        """A holder, and a member that is next."""
        a, b, name = self.member("a", ttl=holder_ttl), self.member("b", ttl=ttl), self.named()
        b.follow(name)

        def tried():  # Again, if this machine was too slow for these ttls.
            a.open()
            b.open()
            token = a.acquire(name).get("token")
            return token if token and b.reserve(name).get("reserved") == [name] else None
        return a, b, name, until(tried, "there is a place")

    def test_a_release_begins_the_next_term(self):
        a, b, name, token = self.line()
        answer = a.release(name, token, record="bye")
        self.assertEqual(answer, {"released": True, "passed_to": "b"})
        shown = b.sees(lambda one: one["token"] == token + 1, "the term is shown")
        [claim] = shown["claims"]
        self.assertEqual((claim["session"], claim["token"], claim["clean"]), (b.session, token + 1, True))
        self.assertGreater(claim["left_ms"], 0)
        self.assertEqual((shown["released"]["record"], "place" in shown), ("bye", False))
        self.assertEqual(b.renew(name, token + 1)["held"], 1)
        self.assertEqual(a.acquire(name)["refused"], "held")
        again = b.held(name)
        self.assertEqual((again["token"], again["made"], again["clean"]), (token + 1, False, True))

    def test_a_release_in_doubt_is_passed_on_in_doubt(self):
        a, b, name, token = self.line()
        a.release(name, token, clean=False)
        self.assertFalse(b.held(name)["clean"])

    def test_a_term_that_ran_out_is_passed_on_in_doubt(self):
        _, b, name, token = self.line(holder_ttl=2)
        shown = b.sees(lambda one: one["token"] == token + 1, "the term is passed on")
        [claim] = shown["claims"]
        self.assertEqual((claim["session"], claim["clean"], "released" in shown), (b.session, False, False))

    def test_another_successor_goes_first(self):
        a, b, name, token = self.line()
        self.assertEqual(a.release(name, token, successor="c"), {"released": True})
        c = self.member("c")
        self.assertEqual(c.held(name)["token"], token + 1)
        b.sees(lambda one: one.get("place", {}).get("owner") == "b", "b has its place still")
        self.assertEqual(c.release(name, token + 1, successor="b")["passed_to"], "b")

    def test_a_place_is_gone_with_the_connection_that_watches(self):
        a, b, name, token = self.line()
        a.follow(name)
        a.sees(lambda one: "place" in one, "the place is shown")
        b.close()
        a.sees(lambda one: "place" not in one, "the place is gone")
        self.assertEqual(a.release(name, token), {"released": True})

    def test_a_place_is_gone_with_its_session(self):
        a, _, name, token = self.line(ttl=1)
        until(lambda: "place" not in a.look(name), "the place is gone")
        self.assertEqual(a.release(name, token), {"released": True})

    def test_a_session_that_has_left_is_passed_nothing(self):
        a, b, name, token = self.line()
        b.call("tenure.leave", b.session)
        # It cannot take a place again either.
        self.assertEqual(b.reserve(name)["error"], "session_left")
        self.assertEqual(a.release(name, token), {"released": True})

    def test_a_place_can_be_given_up_and_taken_by_another(self):
        a, b, name, token = self.line()
        c = self.member("c")
        c.follow(name)
        c.reserve(name)
        self.assertEqual(a.look(name)["place"]["owner"], "c")
        c.reserve(name, wanted=False)
        self.assertNotIn("place", a.look(name))
        self.assertEqual(b.reserve(name, wanted=False)["reserved"], [])
        self.assertEqual(a.release(name, token), {"released": True})

    def test_nobody_is_next_after_itself_after_nobody_or_with_several_slots(self):
        a, b, name = self.member("a"), self.member("b"), self.named()
        b.follow(name, name + "-slots")
        self.assertEqual(b.reserve(name)["reserved"], [])
        b.held(name)
        self.assertEqual(b.reserve(name)["reserved"], [])
        a.held(name + "-slots", slots=2)
        self.assertEqual(b.reserve(name + "-slots")["reserved"], [])

    def test_who_does_not_watch_an_election_is_not_next_in_it(self):
        a, b, name = self.member("a"), self.member("b"), self.named()
        a.held(name)
        self.assertEqual(b.reserve(name)["error"], "not_following")
        b.follow(name + "-other")
        self.assertEqual(b.reserve(name)["error"], "not_following")


class Documents(OnOneServer):
    def test_a_document_is_written_if_it_is_as_expected(self):
        a, b, name = self.member("a"), self.member("b"), self.named()
        command = {"name": name, "kind": "command", "key": "1", "ttl_ms": 600000}
        [left] = a.put(command | {"text": "resign", "expected": 0})
        # Exactly one of two answers.
        [taken] = a.put(command | {"text": "accepted by a", "expected": left["version"]})
        [late] = b.put(command | {"text": "accepted by b", "expected": left["version"]})
        self.assertGreater(taken["version"], left["version"])
        self.assertEqual((late["conflict"], late["document"]["text"]), (True, "accepted by a"))
        # Nor can it be dropped as if nobody had answered, or be left again.
        [dropped] = a.put(command | {"text": None, "expected": left["version"]})
        self.assertTrue(dropped["conflict"])
        [again] = a.put(command | {"text": "resign", "expected": 0})
        self.assertTrue(again["conflict"])
        self.assertEqual(b.look(name)["documents"][0]["text"], "accepted by a")

    def test_a_dropped_command_cannot_be_answered_even_if_it_is_left_again(self):
        a, b, name = self.member("a"), self.member("b"), self.named()
        command = {"name": name, "kind": "command", "key": "1", "ttl_ms": 600000}
        [left] = a.put(command | {"text": "pause", "expected": 0})
        [dropped] = a.put(command | {"expected": left["version"]})
        self.assertEqual(dropped, {"version": 0})
        [gone] = b.put(command | {"text": "accepted", "expected": left["version"]})
        self.assertEqual(gone, {"conflict": True})
        a.put(command | {"text": "pause", "expected": 0})
        [late] = b.put(command | {"text": "accepted", "expected": left["version"]})
        self.assertTrue(late["conflict"])

    def test_a_command_is_gone_after_its_time_which_an_answer_does_not_prolong(self):
        a, name = self.member("a"), self.named()
        a.follow(name)
        command = {"name": name, "kind": "command", "key": "1"}
        [left] = a.put(command | {"text": "pause", "expected": 0, "ttl_ms": 500})
        a.put(command | {"text": "accepted", "expected": left["version"], "ttl_ms": 3600000})
        a.sees(lambda one: not one["documents"], "the command is gone")

    def test_what_a_session_carries_is_gone_with_it_and_is_its_own(self):
        a, b, name = self.member("a", ttl=2), self.member("b"), self.named()
        b.follow(name)
        document = {"name": name, "kind": "member", "key": "a"}
        a.put(document | {"text": "ready"}, {"name": name, "kind": "public_key", "key": "a", "text": "key"})
        self.assertTrue(b.put(document | {"text": "not ready"})[0]["conflict"])
        self.assertTrue(b.put(document)[0]["conflict"])
        shown = b.sees(lambda one: len(one["documents"]) == 2, "both are shown")
        self.assertEqual({(one["kind"], one["owner"], one["session"]) for one in shown["documents"]},
                         {("member", "a", a.session), ("public_key", "a", a.session)})
        b.sees(lambda one: not one["documents"], "both are gone")

    def test_settings_stay_without_a_session(self):
        a, b, name = self.member("a", ttl=1), self.member("b"), self.named()
        a.put({"name": name, "kind": "settings", "text": "slots=1", "expected": 0})
        until(lambda: a.put() != [], "the session is over")
        [document] = b.look(name)["documents"]
        self.assertEqual((document["kind"], document["text"]), ("settings", "slots=1"))

    def test_ten_thousand_entries_are_put_and_left_in_few_calls(self):
        a, name = self.member("a"), self.named()
        entries = [{"name": f"{name}-{i}", "kind": "member", "key": "a", "text": "ready"} for i in range(10000)]
        self.assertEqual(len(a.put(*entries)), 10000)
        a.call("tenure.leave", a.session)
        self.assertEqual([one["documents"] for one in a.call(
            "tenure.read", [f"{name}-{i}" for i in (0, 999, 1000, 9999)])["elections"]], [[]] * 4)


class Watching(OnOneServer):
    def waiting(self):
        with self.server.connect() as other:
            return other.call("tenure.describe")["waiting"]

    def test_the_first_answer_shows_everything_and_each_later_one_what_changed(self):
        a, b, names = self.member("a"), self.member("b"), [f"{self.named()}-{i}" for i in range(250)]
        token = b.held(names[3])["token"]
        a.follow(*names)
        first = a.poll()
        self.assertEqual((first["restart"], first["more"]), (True, True))
        shown = {one["name"]: one for one in first["elections"]}
        while True:
            page = a.poll()
            shown |= {one["name"]: one for one in page["elections"]}
            self.assertFalse(page["restart"])
            if not page["more"]:
                break
        self.assertEqual(set(shown), set(names))
        self.assertEqual(shown[names[3]]["claims"][0]["token"], token)
        b.release(names[3], token)
        changed = a.poll(wait=30)
        self.assertEqual([one["name"] for one in changed["elections"]], [names[3]])
        self.assertGreater(changed["elections"][0]["at"], shown[names[3]]["at"])

    def test_only_documents_that_have_changed_are_shown_again(self):
        a, b, name = self.member("a"), self.member("b"), self.named()
        a.follow(name)
        b.put(*({"name": name, "kind": "member", "key": f"{i}", "text": ""} for i in range(50)))
        self.assertEqual(len(a.poll()["elections"][0]["documents"]), 50)
        b.put({"name": name, "kind": "member", "key": "7", "text": "ready"}, {"name": name, "kind": "member", "key": "8"})
        [shown] = a.call("tenure.poll", a.number, 30000)["elections"]
        self.assertEqual([one["key"] for one in shown["documents"]], ["7"])
        self.assertEqual(shown["gone"], [{"kind": "member", "key": "8"}])

    def test_what_is_shown_in_parts_is_what_is_there(self):
        a, b, name, rng = self.member("a"), self.member("b"), self.named(), random.Random(1)
        a.follow(name)
        for most in (3, 30, 300):
            for _ in range(12):
                changes = []
                for _ in range(rng.randrange(1, most)):
                    kind = rng.choice(("member", "public_key", "command"))
                    change = {"name": name, "kind": kind, "key": str(rng.randrange(most))}
                    if rng.random() < 0.5:
                        change |= {"text": str(rng.random()), "ttl_ms": 3600000}
                    changes.append(change)
                b.put(*changes)
                a.poll()
                there = {(one["kind"], one["key"]): one for one in b.look(name)["documents"]}
                self.assertEqual(a.documents[name], there)

    def test_more_deletions_than_are_remembered_are_shown(self):
        a, b, name = self.member("a"), self.member("b"), self.named()
        entries = [{"name": name, "kind": "member", "key": str(i)} for i in range(300)]
        b.put(*(entry | {"text": ""} for entry in entries))
        a.follow(name)
        a.poll()
        b.put(*entries[5:])
        [shown] = a.poll()["elections"]
        self.assertEqual({one["key"] for one in shown["documents"]}, {"0", "1", "2", "3", "4"})

    def test_a_poll_comes_back_when_something_changes(self):
        a, b, name = self.member("a"), self.member("b"), self.named()
        a.follow(name)
        a.poll()
        sync = a.begin("tenure.poll", a.number, 60000)
        until(lambda: self.waiting() >= 1, "the call waits")
        token = b.held(name)["token"]
        [answer] = a.receive(sync)
        self.assertEqual(answer["elections"][0]["claims"][0]["token"], token)

    def test_a_poll_that_is_out_of_step_is_shown_everything_anew(self):
        a, name = self.member("a"), self.named()
        a.follow(name)
        a.poll()
        self.assertEqual(a.poll()["elections"], [])
        a.number = 1  # as if the answer to the last one had not come
        answer = a.poll()
        self.assertEqual((answer["restart"], len(answer["elections"])), (True, 1))

    def test_a_waiting_call_ends_with_its_connection(self):
        a, name = self.member("a"), self.named()
        a.follow(name)
        a.poll()
        before = self.waiting()
        a.begin("tenure.poll", a.number, 60000)
        until(lambda: self.waiting() == before + 1, "the call waits")
        a.close()
        # Long before its own time is over.
        waiting.until(lambda: self.waiting() == before, "the call has ended", patience=min(PATIENCE, 40))

    def test_one_call_waits_on_a_connection(self):
        a, name = self.member("a"), self.named()
        a.follow(name)
        a.poll()
        before = self.waiting()
        first = a.begin("tenure.poll", a.number, 60000)
        until(lambda: self.waiting() == before + 1, "the call waits")
        second = a.begin("tenure.poll", a.number, 0)
        self.assertEqual(a.receive(first)[0]["error"], "superseded")
        self.assertEqual(a.receive(second)[0]["elections"], [])

    def test_claims_and_documents_of_one_answer_are_of_one_instant(self):
        a, b, name = self.member("a"), self.member("b"), self.named()
        a.follow(name)
        ended = threading.Event()

        def takes_turns():
            with Member(self.server, "c") as c:
                while not ended.is_set():
                    c.release(name, c.held(name)["token"], record="r")
        thread = threading.Thread(target=takes_turns)
        thread.start()
        try:
            seen, last = 0, 0
            while seen < 200:
                for one in a.poll(wait=5)["elections"]:
                    seen += 1
                    self.assertGreaterEqual(one["at"], last)
                    last = one["at"]
                    # A term is held, or the last one has its record: never both, never neither.
                    free = one["token"] == one.get("released", {"token": 0})["token"]
                    self.assertEqual(len(one["claims"]), 0 if free else 1)
        finally:
            ended.set()
            thread.join()
        self.assertEqual(b.look(name)["claims"], [])

    def test_a_call_that_is_carried_out_after_its_connection_leaves_nothing_behind(self):
        name = self.named()
        with self.server.connect() as other:
            for _ in range(50):
                with self.server.connect() as short:
                    # The server reads these, and the end of the connection, at once.
                    short.begin_together(("tenure.follow", [name]), ("tenure.follow", [name + "-2"]), ("tenure.poll", 0, 0),
                                         ("tenure.poll", 1, 60000))
            until(lambda: (seen := other.call("tenure.describe"))["followed"] == seen["waiting"] == 0, "nothing is left")

    def test_who_follows_nothing_is_told_so(self):
        self.assertEqual(self.member("a").poll()["error"], "not_following")


class WaitingIsBounded(unittest.TestCase):
    def test_calls_that_wait_leave_room_for_those_that_do_not(self):
        server = Server(script=shipped_script("net_msg_max = 8192", "net_msg_max = 16"))
        self.addCleanup(server.close)
        members = [Member(server, f"m{i}") for i in range(24)]
        for member in members:
            self.addCleanup(member.close)
            member.follow("db")
            member.poll()
        for member in members:
            member.begin("tenure.poll", member.number, 60000)
        until(lambda: members[0].call("tenure.describe")["waiting"] == 8, "half of the messages wait")
        other = Member(server, "other")
        self.addCleanup(other.close)
        # All of these would hang if the server read nothing any more.
        token = other.held("quick")["token"]
        self.assertEqual(other.renew("quick", token)["held"], 1)
        extra = Member(server, "extra")
        self.addCleanup(extra.close)
        extra.follow("db")
        extra.poll()
        self.assertEqual(extra.poll(wait=30), {"error": "too_many_waiting", "limit": 8})
        self.assertIn("number", extra.poll(wait=0))


class Rights(OnOneServer):
    def test_the_user_can_call_the_functions_and_nothing_else(self):
        a, name = self.member("a"), self.named()
        token = a.held(name)["token"]
        space = self.space_numbers(a)
        self.assertEqual(space, {})  # It does not even see which spaces there are.
        denied = [
            (iproto.EVAL, {iproto.EXPRESSION: "return box.space.tenure_claim:select{}", iproto.TUPLE: []}),
            *((iproto.SELECT, {iproto.SPACE: number, iproto.INDEX: 0, iproto.LIMIT: 10, iproto.OFFSET: 0, iproto.ITERATOR: 2,
                               iproto.KEY: []}) for number in range(512, 517)),
            *((iproto.REPLACE, {iproto.SPACE: number, iproto.TUPLE: ["x", 1, 1, "", "", False, 1, 1]})
              for number in range(512, 517)),
            (iproto.REPLACE, {iproto.SPACE: 296, iproto.TUPLE: [900, 1, "f", 0]}),
            (iproto.EXECUTE, {iproto.SQL: 'SELECT * FROM "tenure_claim"', iproto.BIND: []}),
            (iproto.EXECUTE, {iproto.SQL: 'DELETE FROM "tenure_election"', iproto.BIND: []}),
            (iproto.EXECUTE, {iproto.SQL: "CREATE TABLE t (a INT PRIMARY KEY)", iproto.BIND: []}),
            *((iproto.CALL, {iproto.NAME: function, iproto.TUPLE: []}) for function in (
                "box.schema.user.create", "box.space.tenure_claim:truncate", "box.cfg", "os.exit", "require",
                "tenure.install", "tenure.revoke", "tenure.stop", "package.loaded.tenure.step_down", "dofile")),
        ]
        for kind, body in denied:
            with self.subTest(kind=kind, body=body):
                with self.assertRaises(iproto.ServerError) as failed:
                    a.receive(a.send(kind, body))
                self.assertIn(failed.exception.code, (33, 36, 42, 55))  # no such procedure or space, or access denied
        self.assertEqual(a.renew(name, token)["held"], 1)

    @staticmethod
    def space_numbers(connection):
        rows = connection.receive(connection.send(iproto.SELECT, {
            iproto.SPACE: 281, iproto.INDEX: 0, iproto.LIMIT: 1000, iproto.OFFSET: 0, iproto.ITERATOR: 2, iproto.KEY: []}))
        return {row[2]: row[0] for row in rows if row[2].startswith("tenure")}

    def test_a_cluster_grants_the_same_functions(self):
        there = re.findall(r"^function api\.(\w+)", (SHIPPED / "tenure.lua").read_text(), re.M)
        granted = re.findall(r"^ *- tenure\.(\w+)$", (SHIPPED / "config.yml").read_text(), re.M)
        self.assertEqual(granted, sorted(there))

    def test_who_does_not_sign_in_can_call_nothing(self):
        with iproto.Connection(self.server.socket) as guest:
            for function in ("tenure.describe", "tenure.acquire", "tenure.read"):
                with self.assertRaises(iproto.ServerError) as failed:
                    guest.call(function)
                self.assertEqual(failed.exception.code, 42)
        with self.assertRaises(iproto.ServerError):
            iproto.Connection(self.server.socket, "tenure", PASSWORD + "x")
        with self.assertRaises(iproto.ServerError):
            iproto.Connection(self.server.socket, "tenure_owner", "")


class Installation(unittest.TestCase):
    def served(self, change="", after="") -> Server:
        server = Server(script=shipped_script(START, f"{change}\n{START}") + after)
        self.addCleanup(server.close)
        return server

    def described(self, server):
        with server.connect() as connection:
            return connection.call("tenure.describe")

    def test_it_is_installed_again_without_a_change(self):
        server = self.served("for _ = 1, 3 do require('tenure').install{user = 'tenure', password = secret} end")
        with Member(server, "a") as a:
            self.assertEqual(a.held("db")["token"], 1)
        server.kill()
        server.start()
        with Member(server, "b") as b:
            self.assertEqual(b.acquire("db")["refused"], "held")

    def test_an_interrupted_installation_is_completed(self):
        # As if it had ended after its first space, and once more while its owner could make functions.
        server = self.served("""
            if box.space.tenure_meta == nil then
                box.schema.space.create('tenure_meta', {format = {
                    {'key', 'string'}, {'value', 'unsigned'}, {'reserved', 'unsigned'}}})
                box.schema.user.create('tenure_owner')
            end
            box.schema.user.grant('tenure_owner', 'create', 'function', nil, {if_not_exists = true})
        """, OPERATOR)
        for _ in range(2):
            with iproto.Connection(server.socket) as operator:
                self.assertEqual(operator.call("operator.rights", "tenure_owner"), [
                    f"read,write space tenure_{name}" for name in ("claim", "document", "election", "meta", "session")])
                self.assertEqual(operator.call("tenure.describe")["schema"], 1)
            server.kill()
            server.start()

    def test_a_new_password_holds_from_the_next_start(self):
        server = self.served()
        (server.directory / "password").write_text("another")
        server.kill()
        server.password = "another"
        server.start()
        server.connect().close()
        with self.assertRaises(iproto.ServerError):
            iproto.Connection(server.socket, "tenure", PASSWORD)

    def test_rows_of_a_newer_schema_are_left_alone(self):
        server = self.served()
        (server.directory / "init.lua").write_text(shipped_script(
            START, f"box.space.tenure_meta:replace{{'schema', 99, 0}}\n{START}"))
        server.kill()
        server.answers = lambda: self.refusal(server)
        server.start()
        self.assertEqual(self.refusal(server)["error"], "cannot_serve")
        self.assertIn("schema 99", self.refusal(server)["why"])
        described = self.described(server)
        self.assertEqual((described["serves"], described["schema"], described["understands"]), (False, 99, 1))

    @staticmethod
    def refusal(server):
        try:
            with server.connect() as connection:
                answer = connection.call("tenure.acquire", "s", "db", 1, 0)
                return answer if answer.get("why") else None
        except (OSError, iproto.ServerError):
            return None

    def test_it_says_what_the_server_is(self):
        described = self.described(self.served())
        self.assertEqual((described["serves"], described["schema"]), (True, 1))
        self.assertRegex(described["cluster"], r"^[0-9a-f-]{36}$")
        self.assertRegex(described["version"], r"^\d+\.\d+")
        if described["version"].startswith("2.6"):
            self.assertIs(described["synchronous"], False)
            self.assertEqual([one["code"] for one in described["missing"]], ["no_election", "no_broadcast"])

    def test_a_server_that_writes_nothing_down_grants_nothing(self):
        server = Server(script=shipped_script("wal_mode = 'fsync'", "wal_mode = 'none'")
                        .replace(START, f"require('tenure').install{{user = 'tenure', password = secret}}\n{START}"))
        self.addCleanup(server.close)
        until(lambda: self.refusal(server), "it says why")
        self.assertEqual(self.refusal(server)["error"], "cannot_serve")
        self.assertIn("wal_none", [one["code"] for one in self.described(server)["missing"] if one["fatal"]])


class Faults(WithMembers):
    def setUp(self):
        self.server = Server()
        self.addCleanup(self.server.close)

    def test_a_restart_keeps_each_term_with_its_token_for_a_full_ttl(self):
        ttl = 3
        a = self.member("a", ttl=ttl)
        for i in range(1, 4):
            a.release(f"db-{i}", a.held(f"db-{i}")["token"])
        tokens = held_now(a, [f"db-{i}" for i in range(50)])
        self.server.kill()
        restarted = now()
        self.server.start()
        b = self.member("b")
        for name in ("db-0", "db-3", "db-49"):
            granted, at = granted_to(b, name)
            self.assertGreaterEqual(at, restarted + ttl * (1 - DRIFT))
            self.assertEqual((granted["token"], granted["clean"]), (tokens[name] + 1, False))

    def test_who_held_before_a_restart_holds_after_it(self):
        a = self.member("a")
        tokens = [(name := f"db-{i}", a.held(name)["token"]) for i in range(20)]
        a.put({"name": "db-0", "kind": "member", "key": "a", "text": "ready"})
        epoch = a.call("tenure.describe")["epoch"]
        at = a.look("db-0")["at"]
        self.server.kill()
        self.server.start()
        again = self.member("a", session=a.session)
        answer = again.renew(*[word for item in tokens for word in item])
        self.assertEqual((answer["held"], answer["lost"]), (20, []))
        shown = again.look("db-0")
        self.assertEqual([one["text"] for one in shown["documents"]], ["ready"])
        self.assertGreater(shown["at"], at)
        self.assertGreater(again.call("tenure.describe")["epoch"], epoch)
        self.assertEqual(again.held("db-3")["made"], False)

    def test_a_stopped_server_grants_nothing_early_and_answers_a_late_renewal_truthfully(self):
        for pause in (0.5, 2.5):
            with self.subTest(pause=pause):
                self.stopped_for(pause)

    def stopped_for(self, pause):
        ttl, name = 2, f"db-{pause}"
        a, b = self.member("a", ttl=ttl), self.member("b")
        sent = now()
        token = a.held(name)["token"]
        self.server.stop_for_now()
        stopped = now()
        renewal_sent = now()
        renewal = a.begin("tenure.renew", a.session, [name, token])
        wanted = b.begin("tenure.acquire", b.session, name, 1, 0)
        until(lambda: now() >= stopped + pause, "the pause is over")
        self.server.go_on()
        [renewed], [granted] = a.receive(renewal), b.receive(wanted)
        at = now()
        held = renewed.get("held") == 1
        self.assertFalse(held and "token" in granted, (renewed, granted))
        if not held:
            self.assertTrue("error" in renewed or renewed["lost"], renewed)
            self.assertGreaterEqual(at, sent + ttl * (1 - DRIFT))
        if "token" not in granted:
            granted, at = granted_to(b, name)
        counted_from = renewal_sent if held else sent
        self.assertGreaterEqual(at, counted_from + ttl * (1 - DRIFT))
        self.assertGreater(granted["token"], token)

    def test_nothing_is_confirmed_that_is_not_on_the_disk(self):
        a, b = self.member("a"), self.member("b")
        token = a.held("db")["token"]
        b.follow("db", "other")
        b.poll()
        self.server.full_disk(True)
        for request in (lambda: a.renew("db", token), a.renew, lambda: a.release("db", token), lambda: a.held("db"),
                        lambda: b.acquire("db"), lambda: b.acquire("other"), lambda: a.look("db"),
                        lambda: a.put({"name": "db", "kind": "member", "key": "a", "text": "ready"})):
            with self.assertRaises(iproto.ServerError) as failed:
                request()
            self.assertEqual(failed.exception.code, 40)  # WAL_IO
        self.server.full_disk(False)
        # All is as before: the term is held, and nobody has seen anything else.
        until(lambda: self.writes(a), "the server writes again")
        self.assertEqual(a.renew("db", token)["held"], 1)
        shown = a.call("tenure.read", ["db", "other"])["elections"]
        self.assertEqual([(one["token"], len(one["claims"]), one["documents"]) for one in shown],
                         [(token, 1, []), (0, 0, [])])
        for one in b.poll()["elections"]:
            self.assertEqual((one["token"], len(one["claims"])), (token, 1) if one["name"] == "db" else (0, 0))
        self.assertEqual(b.acquire("other")["token"], 1)

    def test_nobody_is_shown_what_is_not_on_the_disk(self):
        a = self.member("a")
        a.follow("db")
        self.server.full_disk(True)
        for _ in range(50):
            # Number 0 asks for everything: also for what is being written.
            acquired, polled = a.begin_together(("tenure.acquire", a.session, "db", 1, 0), ("tenure.poll", 0, 0))
            with self.assertRaises(iproto.ServerError):
                a.receive(acquired)
            for shown in a.receive(polled)[0]["elections"]:
                self.assertEqual((shown["token"], shown["claims"]), (0, []))

    @staticmethod
    def writes(member):
        try:
            member.renew()
            return True
        except iproto.ServerError:
            return False

    def test_a_document_whose_deletion_failed_is_shown(self):
        a, b = self.member("a"), self.member("b")
        b.follow("db")
        document = {"name": "db", "kind": "member", "key": "a"}
        a.put(document | {"text": "ready"})
        self.assertEqual(len(b.poll()["elections"][0]["documents"]), 1)
        self.server.full_disk(True)
        with self.assertRaises(iproto.ServerError):
            a.put(document)
        self.server.full_disk(False)
        a.held("db")
        b.sees(lambda one: one["claims"] and len(one["documents"]) == 1, "the document is still there")

    def test_a_term_whose_release_failed_still_ends(self):
        a, b = self.member("a", ttl=2), self.member("b")
        b.follow("db")
        token = a.held("db")["token"]
        self.server.full_disk(True)
        with self.assertRaises(iproto.ServerError):
            a.release("db", token)
        self.server.full_disk(False)
        b.sees(lambda one: one["token"] == token and not one["claims"], "the term has ended")
        self.assertFalse(b.held("db")["clean"])


class Leadership(WithMembers):
    """A server that is read-only for a while, as after it was replaced as leader. (2.6 has no elections.)"""

    def setUp(self):
        self.server = Server(script=(SHIPPED / "init.lua").read_text() + OPERATOR)
        self.addCleanup(self.server.close)
        self.operator = iproto.Connection(self.server.socket)
        self.addCleanup(self.operator.close)

    def leads(self, wanted: bool):
        self.operator.call("operator.read_only", not wanted)
        until(lambda: self.operator.call("tenure.describe")["serves"] == wanted, f"it leads: {wanted}")

    def test_who_does_not_lead_answers_nothing(self):
        a, b = self.member("a"), self.member("b")
        token = a.held("db")["token"]
        a.follow("db")
        a.poll()
        waits = a.begin("tenure.poll", a.number, 60000)
        self.operator.call("operator.read_only", True)
        self.assertEqual(a.receive(waits)[0]["error"], "not_leader")
        for answer in (b.renew("db", token), b.acquire("db"), b.release("db", token), b.call("tenure.read", ["db"]), b.put(),
                       b.follow("db"), b.poll(), b.reserve("db")):
            self.assertEqual(answer, {"error": "not_leader"})
        self.leads(True)
        self.assertEqual(b.acquire("db")["refused"], "held")
        # What was followed is shown anew.
        self.assertTrue(a.poll()["restart"])

    def test_a_new_term_of_the_leader_begins_with_full_ttls(self):
        ttl = 2
        a, b = self.member("a", ttl=ttl), self.member("b")
        sent = now()
        token = a.held("db")["token"]
        until(lambda: now() > sent + ttl / 2, "half of the ttl is over")
        self.leads(False)
        began = now()
        self.leads(True)
        if b.look("db")["claims"]:  # else this machine was too slow
            granted, at = granted_to(b, "db")
            self.assertGreaterEqual(at, began + ttl * (1 - DRIFT))
            self.assertEqual(granted["token"], token + 1)

    def test_places_end_with_the_leader(self):
        a, b = self.member("a"), self.member("b")
        token = a.held("db")["token"]
        b.follow("db")
        b.reserve("db")
        self.leads(False)
        self.leads(True)
        self.assertNotIn("place", a.look("db"))
        c, connections = self.member("c"), self.operator.call("operator.connections")
        c.follow("db")
        c.reserve("db")
        # The end of an earlier place's connection is nothing to the present place.
        b.close()
        until(lambda: self.operator.call("operator.connections") == connections - 1, "the connection is gone")
        self.assertEqual(a.release("db", token)["passed_to"], "c")

    def test_an_operator_ends_a_term_and_its_token_is_not_granted_again(self):
        a, b = self.member("a"), self.member("b")
        token = a.held("db")["token"]
        self.operator.call("operator.revoke", "db")
        self.assertEqual(a.renew("db", token)["lost"], [["db", "ended"]])
        granted = b.held("db")
        self.assertEqual((granted["token"], granted["clean"]), (token + 1, False))


class InPlaceOfLater(WithMembers):
    """What only later releases of Tarantool have is put in its place: whether tenure.lua uses it, not whether it works
    there."""

    def served(self, before: str, after: str) -> iproto.Connection:
        self.server = Server(script=shipped_script(START, f"{before}\n{START}") + OPERATOR + after)
        self.addCleanup(self.server.close)
        operator = iproto.Connection(self.server.socket)
        self.addCleanup(operator.close)
        return operator


class LaterReleases(InPlaceOfLater):
    def test_a_change_is_broadcast_once_it_is_on_the_disk(self):
        operator = self.served("local told = {}\nbox.broadcast = function(key, value) table.insert(told, {key, value}) end",
                               "function operator.told() local all = told; told = {}; return all end")
        a = self.member("a")
        operator.call("operator.told")
        token = a.held("db")["token"]
        at = a.look("db")["at"]
        self.assertEqual(operator.call("operator.told"), [["tenure.db", at]])
        a.renew("db", token)
        self.assertFalse(operator.call("operator.told"))
        self.server.full_disk(True)
        with self.assertRaises(iproto.ServerError):
            a.release("db", token)
        self.server.full_disk(False)
        self.assertFalse(operator.call("operator.told"))

    def test_a_leader_that_was_replaced_and_elected_again_unseen_begins_anew(self):
        operator = self.served(ELECTED, "")
        a, b = self.member("a"), self.member("b")
        token = a.held("db")["token"]
        b.follow("db")
        b.reserve("db")
        epoch = operator.call("tenure.describe")["epoch"]
        operator.call("operator.elected")
        # The call that notices it is refused; its rows may be those of another leader by now.
        self.assertEqual(a.renew("db", token)["error"], "not_leader")
        until(lambda: operator.call("tenure.describe").get("epoch", 0) > epoch, "it leads again")
        self.assertEqual(a.renew("db", token)["held"], 1)
        self.assertNotIn("place", a.look("db"))


class Synchronous(InPlaceOfLater):
    """Spaces that are written to a quorum, as on a cluster. 2.6 has them, without elections."""

    def setUp(self):
        self.operator = self.served(ELECTED, "")

    def test_it_is_synchronous(self):
        self.assertIs(self.operator.call("tenure.describe")["synchronous"], True)
        self.assertEqual(self.operator.call("operator.spaces"), [True] * 5)

    def test_nothing_is_confirmed_without_a_quorum(self):
        a, b = self.member("a"), self.member("b")
        token = a.held("db")["token"]
        b.follow("db", "other")
        b.poll()
        self.operator.call("operator.quorum", 2, 0.2)
        for request in (lambda: a.renew("db", token), lambda: a.release("db", token), lambda: b.acquire("other"),
                        lambda: b.look("db")):
            with self.assertRaises(iproto.ServerError) as failed:
                request()
            self.assertIn(failed.exception.code, (216, 217))  # quorum timeout, rollback
        self.operator.call("operator.quorum", 1, 5)
        self.assertEqual(a.renew("db", token)["held"], 1)
        for one in b.poll()["elections"]:
            self.assertEqual((one["token"], len(one["claims"])), (token, 1) if one["name"] == "db" else (0, 0))
        self.assertEqual(b.held("other")["token"], 1)


class FailOver(unittest.TestCase):
    """Two servers with synchronous spaces. 2.6 elects no leader, so the test takes an operator's steps."""

    def server(self, leader: Server | None = None) -> Server:
        sources = "os.getenv('TENURE_LISTEN')" + (f", '{leader.socket}'" if leader else "")
        script = shipped_script("net_msg_max = 8192,", f"net_msg_max = 8192,\nreplication = {{{sources}}},\n"
                                f"read_only = {str(leader is not None).lower()},")
        server = Server(script=script.replace(START, ELECTED + START) + OPERATOR, serves=leader is None)
        self.addCleanup(server.close)
        return server

    def test_the_next_leader_knows_each_term_that_was_confirmed(self):
        first = self.server()
        second = self.server(leader=first)
        with iproto.Connection(first.socket) as operator:
            operator.call("operator.quorum", 2, 60)
        ttl = 3
        with Member(first, "a", ttl=ttl) as a, Member(first, "b") as b:
            b.release("db-0", b.held("db-0")["token"], record="r")
            b.put({"name": "db-0", "kind": "member", "key": "b", "text": "ready"})
            tokens = held_now(a, [f"db-{i}" for i in range(20)])
            session = b.session
        with second.connect() as connection:
            described = connection.call("tenure.describe")
            self.assertEqual((described["serves"], described["synchronous"], described["replicas"]), (False, True, 2))
            self.assertNotIn("why", described)
            self.assertEqual(connection.call("tenure.read", ["db-0"])["error"], "not_leader")
            first.kill()
            with iproto.Connection(second.socket) as operator:
                began = now()
                operator.call("operator.take_over")
            described = until(lambda: (one := connection.call("tenure.describe"))["serves"] and one, "the second one leads")
            self.assertEqual(described["epoch"], 2)
        with Member(second, "b", session=session) as b:
            shown = b.look("db-0")
            self.assertEqual(([one["text"] for one in shown["documents"]], shown["released"]["record"]), (["ready"], "r"))
            granted, at = granted_to(b, "db-0")
            self.assertGreaterEqual(at, began + ttl * (1 - DRIFT))
            self.assertEqual((granted["token"], granted["clean"]), (tokens["db-0"] + 1, False))


class Judge:
    """When each session holds, by its own count: from an answer until ttl * (1 - drift) after its request was sent."""

    def __init__(self):
        self.lock = threading.Lock()
        self.tokens, self.terms, self.faults = {}, {}, []
        self.grants = 0

    def granted(self, name, session, sent, answer, at):
        with self.lock:
            token, known = answer["token"], self.tokens.setdefault(name, {})
            if known.setdefault(token, session) != session:
                self.faults.append(f"{name}: token {token} was granted to {known[token]} and to {session}")
            if answer["made"] and known[token] == session and token < max(known) and at < sent + answer["ttl_ms"] / 1000:
                self.faults.append(f"{name}: token {token} after {max(known)}")
            self.grants += 1
            self.holds(name, session, at, sent + answer["ttl_ms"] / 1000 * (1 - DRIFT))

    def renewed(self, name, session, sent, ttl, at):
        with self.lock:
            self.holds(name, session, at, sent + ttl * (1 - DRIFT))

    def holds(self, name, session, since, until_when):
        if since >= until_when:
            return  # The answer came too late to hold by it.
        terms = self.terms.setdefault(name, [])
        for other, from_then, until_then in terms:
            if other != session and since < until_then and from_then < until_when:
                self.faults.append(f"{name}: {session} from {since:.3f} to {until_when:.3f}, "
                                   f"{other} from {from_then:.3f} to {until_then:.3f}")
        terms.append([session, since, until_when])

    def released(self, name, session):
        """Call before the release is sent."""
        with self.lock:
            for term in self.terms.get(name, []):
                if term[0] == session:
                    term[2] = min(term[2], now())


class ThousandLocks(unittest.TestCase):
    """A thousand named locks, taken and released by concurrent clients, with the server killed in the middle."""

    NAMES, CLIENTS, TERMS, KEPT = 1000, 8, 6000, 8

    def setUp(self):
        self.server, self.judge = Server(), Judge()
        self.addCleanup(self.server.close)
        self.calls = [0] * self.CLIENTS

    def client(self, number, terms, dies):
        """Takes locks and releases them until it had so many terms, keeping a few meanwhile. It asks again for what it has
        had no answer to."""
        rng, session, kept = random.Random(number), f"client-{number}", {}
        member = asked = None
        done = 0
        while done < terms or kept:
            try:
                member = member or Member(self.server, f"c{number}", ttl=20, session=session)
                if done < terms:
                    asked = asked or f"lock-{rng.randrange(self.NAMES)}"
                    self.calls[number] += 1
                    sent = now()
                    answer = member.acquire(asked)
                    if "token" in answer:
                        self.judge.granted(asked, session, sent, answer, now())
                        kept[asked] = answer["token"]
                        done += 1
                    asked = None
                    if dies and rng.random() < 0.005:
                        # Nobody hears the answer to this one. The session asks again.
                        asked = f"lock-{rng.randrange(self.NAMES)}"
                        member.begin("tenure.acquire", session, asked, 1, 0)
                        raise ConnectionError("closed by the test")
                while len(kept) > (self.KEPT if done < terms else 0):
                    name = next(iter(kept))
                    self.judge.released(name, session)
                    self.calls[number] += 1
                    member.release(name, kept[name])
                    del kept[name]
            except OSError:
                if member is not None:
                    member.close()
                member = None
                until(self.server.answers, "the server is back")
        if member is not None:
            member.close()

    def run_clients(self, terms, kills, dies):
        began = now()
        with concurrent.futures.ThreadPoolExecutor(self.CLIENTS) as pool:
            running = [pool.submit(self.client, i, terms, dies) for i in range(self.CLIENTS)]
            for i in range(kills):
                wanted = self.CLIENTS * terms * (i + 1) // (kills + 1)
                until(lambda: self.judge.grants >= wanted or all(one.done() for one in running), "the clients go on")
                self.server.kill()
                self.server.start()
            until(lambda: all(one.done() for one in running), "the clients are done")
            for one in running:
                one.result()
        self.assertEqual(self.judge.faults, [])
        return now() - began

    def test_nothing_is_granted_twice(self):
        took = self.run_clients(self.TERMS // self.CLIENTS, kills=0, dies=False)
        print(f"{self.judge.grants} terms of {self.NAMES} locks by {self.CLIENTS} clients in {took:.1f} s: "
              f"{sum(self.calls) / took:.0f} calls/s", file=sys.stderr)
        self.assertGreater(len(self.judge.tokens), self.NAMES * 0.99)

    def test_nothing_is_granted_twice_while_the_server_is_killed_and_replies_are_lost(self):
        self.run_clients(self.TERMS // self.CLIENTS, kills=3, dies=True)
        with Member(self.server, "last") as last:
            for name, tokens in self.judge.tokens.items():
                self.assertGreaterEqual(last.look(name)["token"], max(tokens))


def spread(seconds: list[float]) -> str:
    least, *_, most = milliseconds = [round(one * 1000, 1) for one in sorted(seconds)]
    return f"{least} to {most} ms, median {milliseconds[len(milliseconds) // 2]}"


class ShortTerms(unittest.TestCase):
    """A few locks of a short ttl. Their holders renew them, release them, or are not heard of any more; the server is
    stopped for a while and killed."""

    NAMES, CLIENTS, TTL, TERMS = 6, 6, 1, 40

    def client(self, number, server, judge):
        rng, rounds = random.Random(number), 0
        while judge.grants < self.TERMS * self.NAMES // 2:
            rounds += 1
            session = f"client-{number}-{rounds}"
            try:
                with Member(server, f"c{number}", ttl=self.TTL, session=session) as member:
                    for _ in range(rng.randrange(1, 30)):
                        self.one_step(rng, member, judge)
            except (OSError, AssertionError):
                until(server.answers, "the server is back")

    def one_step(self, rng, member, judge):
        name, sent = f"lock-{rng.randrange(self.NAMES)}", now()
        answer = member.acquire(name)
        if "token" not in answer:
            return
        judge.granted(name, member.session, sent, answer, now())
        for _ in range(rng.randrange(4)):
            sent = now()
            if member.renew(name, answer["token"]).get("held") == 1:
                judge.renewed(name, member.session, sent, self.TTL, now())
        if rng.random() < 0.6:
            judge.released(name, member.session)
            member.release(name, answer["token"])

    def test_no_two_hold_at_a_time(self):
        server, judge = Server(), Judge()
        self.addCleanup(server.close)
        with concurrent.futures.ThreadPoolExecutor(self.CLIENTS) as pool:
            running = [pool.submit(self.client, i, server, judge) for i in range(self.CLIENTS)]
            for fraction in (1, 2, 3):
                until(lambda part=fraction: judge.grants >= self.TERMS * self.NAMES * part // 8, "the clients go on")
                server.stop_for_now()
                stopped = now()
                until(lambda: now() > stopped + self.TTL * fraction / 2, "the pause is over")
                server.go_on()
                if fraction == 2:
                    server.kill()
                    server.start()
            for one in running:
                one.result()
        self.assertEqual(judge.faults, [])


class Figures(unittest.TestCase):
    """Prints how long a renewal takes. Nothing is asserted of the time."""

    def test_time_of_a_renewal(self):
        server = Server()
        self.addCleanup(server.close)
        with Member(server, "a", ttl=3600) as a, Member(server, "b") as b:
            items = a.held_all(f"election-{i}" for i in range(10000))
            for count in (1, 1000, 10000):
                times, others = [], []
                for _ in range(7):
                    began = now()
                    sync = a.begin("tenure.renew", a.session, items[:2 * count])
                    asked = now()
                    b.call("tenure.describe")
                    others.append(now() - asked)
                    self.assertEqual(a.receive(sync)[0]["held"], count)
                    times.append(now() - began)
                print(f"renewal of {count}: {spread(times)}; another call meanwhile: {spread(others)}", file=sys.stderr)


if __name__ == "__main__":
    if "--mutants" in sys.argv:
        sys.exit(mutants.main(__file__, sys.argv[sys.argv.index("--mutants") + 1:]))
    unittest.main()
