"""One-line mistakes in tenure.lua, each with the test that has to notice it."""
import concurrent.futures
import os
import subprocess
import sys
import typing

from server import SHIPPED


class Mutant(typing.NamedTuple):
    name: str
    old: str  # occurs once in tenure.lua
    new: str
    test: str  # fails if `new` stands in its place


MUTANTS = [
    Mutant("token_granted_twice", "session, newest + 1, clean)", "session, newest, clean)",
           "Terms.test_tokens_grow_by_one_with_each_new_holder"),
    Mutant("same_owner_new_token", "if row[CLAIM_TOKEN] >= above then", "if false then",
           "Terms.test_a_lost_reply_is_asked_for_again_by_the_same_session"),
    Mutant("owner_instead_of_session", "if is_held(row) and row[CLAIM_SESSION] == id then",
           "if is_held(row) and row[CLAIM_OWNER] == session[SESSION_OWNER] then",
           "Terms.test_another_run_of_the_same_name_is_another_session"),
    Mutant("seen_token_ignored", "if newest < above then newest = above end", "",
           "Terms.test_a_token_is_larger_than_what_was_seen_and_in_doubt_then"),
    Mutant("token_as_a_double", "    if type(value) == 'number' then return number_of(value, argument, 0, 1e14) end",
           "    value = tonumber(value)\n    if value < 2 ^ 62 then return value end",
           "Terms.test_tokens_are_exact_beyond_what_a_double_can_tell_apart"),
    Mutant("any_term_is_released", "row[CLAIM_SESSION] ~= id or token ~= 0 and row[CLAIM_TOKEN] ~= token then",
           "row[CLAIM_SESSION] ~= id then", "Terms.test_a_late_release_of_an_older_term_touches_no_newer_one"),
    Mutant("any_term_is_renewed", "row[CLAIM_TOKEN] == items[i + 1] and row[CLAIM_SESSION] == id and",
           "row[CLAIM_SESSION] == id and", "Terms.test_a_late_renewal_of_an_older_term_does_not_count"),
    Mutant("renewal_moves_nothing", "                    keep(tx, term)\n", "",
           "Terms.test_nobody_is_granted_what_was_renewed_before_its_time"),
    Mutant("half_a_ttl", "    entry.deadline = now + entry.ttl\n", "    entry.deadline = now + entry.ttl / 2\n",
           "Terms.test_nobody_is_granted_what_was_renewed_before_its_time"),
    Mutant("expiry_is_clean", "        return end_term(tx, row, {clean = false})\n    end\n    return row",
           "        return end_term(tx, row, {clean = true})\n    end\n    return row",
           "Terms.test_an_end_is_shown_although_nobody_asks"),
    Mutant("doubt_forgotten_by_a_grant",
           "local clean = (by_slot[slot] == nil or by_slot[slot][CLAIM_CLEAN]) and newest", "local clean = newest",
           "Terms.test_after_a_term_ran_out_only_a_clean_release_ends_the_doubt"),
    Mutant("no_timer", "        if left ~= nil and left <= 0 then", "        if false then",
           "Terms.test_an_end_is_shown_although_nobody_asks"),
    Mutant("timer_sleeps_through", "if entry.deadline < of.wakes_at then of.timer:signal() end", "",
           "Terms.test_an_end_is_shown_although_nobody_asks"),
    Mutant("ttl_changes_under_a_term", "~= nil then ttl_ms = row[SESSION_TTL] end", "~= nil then end",
           "Terms.test_a_session_keeps_its_ttl_while_it_holds"),
    Mutant("left_session_takes_on", "    if row[SESSION_LEFT] then refuse('session_left') end\n    return row, entry",
           "    return row, entry", "Terms.test_a_session_that_has_left_takes_nothing_and_ends_its_terms"),
    Mutant("other_slots_accepted", "if held > 0 and agreed ~= slots then", "if false then",
           "Slots.test_another_number_of_slots_is_refused_while_somebody_holds"),
    Mutant("one_slot_for_all", "slot = slot + 1 end", "slot = slot + 2 end",
           "Slots.test_as_many_hold_as_there_are_slots_each_in_one_of_its_own"),
    Mutant("gone_slot_forgotten", "clean = clean and all_clean end", "end",
           "Slots.test_a_slot_that_is_no_more_and_ended_in_doubt_is_waited_for"),
    Mutant("first_chunk_only", "    until at > #items\n    return {ttl_ms = ttl_ms",
           "    until true\n    return {ttl_ms = ttl_ms", "Renewals.test_each_term_of_a_call_is_answered_for_itself"),
    Mutant("nothing_is_passed_on", "if next_session ~= nil and", "if false and",
           "Succession.test_a_release_begins_the_next_term"),
    Mutant("passed_on_without_doubt", "election[ELECTION_TOKEN] + 1, how.clean)",
           "election[ELECTION_TOKEN] + 1, true)", "Succession.test_a_term_that_ran_out_is_passed_on_in_doubt"),
    Mutant("successor_ignored", "if wanted ~= '' and wanted ~= session[SESSION_OWNER] then return nil end", "",
           "Succession.test_another_successor_goes_first"),
    Mutant("place_outlives_its_connection", "            drop_place(state, name)\n            state.changed",
           "            state.changed", "Succession.test_a_place_is_gone_with_the_connection_that_watches"),
    Mutant("place_outlives_its_session",
           "        touch(tx, name)\n        drop_place(tx.of, name)\n    end\n    return #rows",
           "    end\n    return #rows", "Succession.test_a_place_is_gone_with_its_session"),
    Mutant("any_version_is_expected", "item.expected ~= nil and item.expected ~= version then", "false then",
           "Documents.test_a_document_is_written_if_it_is_as_expected"),
    Mutant("version_begins_anew", "    return {version = at}\n", "    return {version = 1}\n",
           "Documents.test_a_document_is_written_if_it_is_as_expected"),
    Mutant("command_is_prolonged", "        row ~= nil and row[DOC_TTL] or ttl}", "        ttl}",
           "Documents.test_a_command_is_gone_after_its_time_which_an_answer_does_not_prolong"),
    Mutant("documents_of_others", "local foreign = row ~= nil and", "local foreign = false and",
           "Documents.test_what_a_session_carries_is_gone_with_it_and_is_its_own"),
    Mutant("documents_outlive_their_session", "    for _, row in ipairs(rows) do delete_document(tx, row) end", "",
           "Documents.test_what_a_session_carries_is_gone_with_it_and_is_its_own"),
    Mutant("out_of_step_unnoticed", "if number ~= follower.answers then", "if false then",
           "Watching.test_a_poll_that_is_out_of_step_is_shown_everything_anew"),
    Mutant("places_outlive_leadership", "        follower.places = {}\n        follower.cond",
           "        follower.cond", "Leadership.test_places_end_with_the_leader"),
    Mutant("keeps_deadlines_of_an_earlier_term", "        box.ctl.wait_ro()\n        step_down()",
           "        box.ctl.wait_ro()", "Leadership.test_a_new_term_of_the_leader_begins_with_full_ttls"),
    Mutant("session_renews_what_it_does_not_name", "    box.space.tenure_session:update(id, {{'+', 5, 1}})\n",
           "    box.space.tenure_session:update(id, {{'+', 5, 1}})\n"
           "    for _, one in pairs(entry.terms) do keep(tx, one) end\n",
           "Terms.test_a_term_that_is_not_named_is_not_renewed"),
    Mutant("elected_again_unseen", " and raft_term() == state.raft_term\n", "\n",
           "LaterReleases.test_a_leader_that_was_replaced_and_elected_again_unseen_begins_anew"),
    Mutant("broadcast_before_the_commit", "if box.broadcast ~= nil and ok then", "if box.broadcast ~= nil then",
           "LaterReleases.test_a_change_is_broadcast_once_it_is_on_the_disk"),
    Mutant("deletion_is_not_shown", "    of.gone[name] = gone\n", "",
           "Watching.test_only_documents_that_have_changed_are_shown_again"),
    Mutant("forgotten_deletions_are_not_made_up_for", "        of.gone_from[name] = gone[GONE].at\n", "",
           "Watching.test_more_deletions_than_are_remembered_are_shown"),
    Mutant("failed_deletion_is_shown", "        of.gone[name], of.gone_from[name] = nil, of.point\n", "",
           "Faults.test_a_document_whose_deletion_failed_is_shown"),
    Mutant("all_is_shown_again", "shown = picture(state, name, follower.names[name])", "shown = picture(state, name)",
           "Watching.test_only_documents_that_have_changed_are_shown_again"),
    Mutant("plain_spaces", "    local synchronous = has_elections()\n", "    local synchronous = false\n",
           "Synchronous.test_it_is_synchronous"),
    Mutant("ends_before_its_time", "    return clock.monotonic() >= entry.deadline\n",
           "    return clock.monotonic() >= entry.deadline - entry.ttl / 2\n",
           "ShortTerms.test_no_two_hold_at_a_time"),
    Mutant("owner_may_make_functions", "    with_rights(box.schema.user.revoke, {if_exists = true})\n", "",
           "Installation.test_an_interrupted_installation_is_completed"),
    Mutant("waits_for_nobody", "    follower.cond:broadcast()\nend\n\n-- What this", "end\n\n-- What this",
           "Watching.test_a_waiting_call_ends_with_its_connection"),
    Mutant("uncommitted_is_shown", "        if not state.pending[name] then\n            follower",
           "        if true then\n            follower", "Faults.test_nobody_is_shown_what_is_not_on_the_disk"),
    Mutant("waiting_without_bound", "if waiting >= waiting_limit() then", "if false then",
           "WaitingIsBounded.test_calls_that_wait_leave_room_for_those_that_do_not"),
    Mutant("rights_of_everything",
           "        box.schema.user.grant(options.user, 'execute', 'function', 'tenure.' .. call,",
           "        box.schema.user.grant(options.user, 'execute', 'universe', nil,",
           "Rights.test_the_user_can_call_the_functions_and_nothing_else"),
    Mutant("guest_may_call", "    if options.user == nil then return end",
           "    box.schema.user.grant('guest', 'execute', 'universe', nil, {if_not_exists = true})",
           "Rights.test_who_does_not_sign_in_can_call_nothing"),
    Mutant("newer_schema_is_taken", "M.schema() > SCHEMA then", "M.schema() > 100 then",
           "Installation.test_rows_of_a_newer_schema_are_left_alone"),
    Mutant("wal_none_is_taken", "add('wal_none', true,", "add('wal_none', false,",
           "Installation.test_a_server_that_writes_nothing_down_grants_nothing"),
    Mutant("restart_ends_terms",
           "    for _, row in box.space.tenure_claim.index.session:pairs({''}, {iterator = 'GT'}) do\n",
           "    for _, row in box.space.tenure_claim.index.session:pairs({''}, {iterator = 'GT'}) do\n"
           "        term_entry(of, row).deadline = 0\n",
           "Faults.test_a_restart_keeps_each_term_with_its_token_for_a_full_ttl"),
    Mutant("renewal_is_not_written", "    box.space.tenure_session:update(id, {{'+', 5, 1}})\n", "",
           "Faults.test_nothing_is_confirmed_that_is_not_on_the_disk"),
    Mutant("read_is_not_written", "        witness()\n        local out = list()", "        local out = list()",
           "Faults.test_nothing_is_confirmed_that_is_not_on_the_disk"),
    Mutant("epoch_is_not_counted", "row[META_VALUE] + 1, row[META_RESERVED] + 1", "row[META_VALUE] + 1, 1",
           "Faults.test_who_held_before_a_restart_holds_after_it"),
]


def noticed(test_program: str, mutant: Mutant) -> str:
    """Empty if the test that the mutant names fails, as it should; else what is wrong."""
    text = (SHIPPED / "tenure.lua").read_text()
    if text.count(mutant.old) != 1:
        return f"its text occurs {text.count(mutant.old)} times in tenure.lua"
    environment = os.environ | {"TENURE_LUA_TEXT": text.replace(mutant.old, mutant.new), "TENURE_TEST_PATIENCE": "15"}
    done = subprocess.run([sys.executable, "-B", test_program, mutant.test], env=environment, capture_output=True, text=True,
                          timeout=600, check=False)
    if done.returncode == 0:
        return f"{mutant.test} does not notice it"
    # A server that does not even start proves nothing of the rule.
    if "Ran 1 test" not in done.stderr or "in setUp" in done.stderr:
        return f"{mutant.test} does not get as far as the rule:\n{done.stderr[-2000:]}"
    return ""


def main(test_program: str, names: list[str]) -> int:
    unknown = set(names) - {one.name for one in MUTANTS}
    assert not unknown, f"no such mutants: {unknown}"
    chosen = [one for one in MUTANTS if not names or one.name in names]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda one: noticed(test_program, one), chosen))
    for mutant, wrong in zip(chosen, results):
        print(f"{mutant.name}: {wrong or 'noticed by ' + mutant.test}")
    missed = sum(map(bool, results))
    print(f"{len(chosen) - missed} of {len(chosen)} mistakes are noticed")
    return 1 if missed else 0
