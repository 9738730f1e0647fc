-- Leases for Tenure in Tarantool: the same file on each server of a replica set. Tarantool 2.6 and later
-- as one server, 2.11 and later as three with elections.
--
--     require('tenure').start{user = 'tenure', password = '...'}       -- after box.cfg
--     roles: [tenure]                                                  -- in a config.yml of 3.x
--
-- The leader installs what is missing (`install`) and serves the functions under "The calls" below.
-- Their answers are maps. A refusal has `error`, a code that stays the same between releases:
-- bad_argument, not_leader, cannot_serve, in_transaction and in_doubt (it may have happened) of any
-- call, and those listed with each. Tarantool's own errors, such as a full disk, pass as they are.
--
-- Spaces. Rows of elections and claims are never deleted, so tokens only grow.
--   tenure_election  the newest token of an election, how many slots it has, the last release record
--   tenure_claim     a slot: who holds it, or how the last term in it ended
--   tenure_session   a run of an agent. It carries places and documents, and has the ttl of its terms
--   tenure_document  what members say: `member`, `public_key`, `command`, `settings`
--   tenure_meta      schema version, epoch, and a row that is written where nothing else changes
--
-- Rights. Clients sign in as `tenure`, which may execute these functions and nothing else. The
-- functions run as `tenure_owner`, which may read and write these spaces and nothing else.
--
-- What makes it safe:
-- 1. Every answer follows a commit of its own, renewals and refusals included. A leader that was
--    replaced cannot commit, so it confirms nothing; and no answer tells what is rolled back later.
--    Only `poll` commits nothing; it shows what others have committed.
-- 2. Deadlines are in the leader's memory, by CLOCK_MONOTONIC. A new leader, or a server after a
--    restart, gives every term its full ttl from then on: it never ends one too early.
-- 3. A deadline is moved before the commit, so that no other call acts by the old one while the disk
--    or the quorum is slow, and again after it.
-- 4. Every call names a term by its token. A call that arrives late finds another token.
-- 5. Nothing between box.begin and box.commit yields, so no other fiber runs within a transaction.
--    A comment at each yield says why it is safe there.

local clock = require('clock')
local fiber = require('fiber')
local log = require('log')

local SCHEMA = 1 -- a server with rows of a newer schema refuses to serve
local OWNER = 'tenure_owner'

local CHUNK = 1000 -- terms or documents in one transaction: 1 to 3 ms of the transaction thread
local ENDS = 100 -- what the timer ends in one transaction
local PAGE = 100 -- elections in one answer of `poll`
local PAGE_DOCUMENTS = 2000 -- the same, by documents: an election with more has a page of its own
local GONE = 100 -- deleted documents of an election that `poll` remembers, and at most twice as many
local POINTS = 1000000 -- points that one write to the disk reserves
local SPARE_POINTS = 100000 -- so many are left when the next ones are reserved

local MIN_TTL_MS, MAX_TTL_MS = 100, 7 * 86400 * 1000
local MAX_NAME, MAX_TEXT = 255, 65536
local MAX_ITEMS = 20000 -- elections named in one call
local MAX_SLOTS = 1000
local MAX_WAIT_MS = 60000
local MAX_FOLLOWED = 1000000 -- elections, counted for each connection that follows them
local LAST_TOKEN = 0x7fffffffffffffffULL

-- How long a document stays: with its session, for the `ttl_ms` of each put, or for ever.
local KINDS = {member = 'session', public_key = 'session', command = 'ttl', settings = 'for ever'}

-- Fields by number: names cost three times as much.
local META_VALUE, META_RESERVED = 2, 3
local SESSION_OWNER, SESSION_TTL, SESSION_LEFT = 2, 3, 4
local ELECTION_TOKEN, ELECTION_SLOTS, ELECTION_RECORD = 2, 3, 4
local ELECTION_RELEASED, ELECTION_CLEAN = 5, 6
local CLAIM_NAME, CLAIM_SLOT, CLAIM_TOKEN, CLAIM_SESSION = 1, 2, 3, 4
local CLAIM_OWNER, CLAIM_TTL, CLAIM_CLEAN, CLAIM_POINT = 5, 6, 7, 8
local DOC_NAME, DOC_KIND, DOC_KEY, DOC_TEXT, DOC_VERSION = 1, 2, 3, 4, 5
local DOC_SESSION, DOC_OWNER, DOC_TTL = 6, 7, 8

local M = {}
local api = {}

-- What this server knows as the leader; nil while it is not. Each time it becomes the leader there is a
-- new table, so a fiber that still has an earlier one changes nothing that counts.
local state = nil

-- Connections that follow elections, by their number in box.session.
local followers = {}
local interest = {} -- the followers of each election, as a set
local followed, waiting = 0, 0

-- The server ----------------------------------------------------------------------------------

local function version_at_least(major, minor)
    local a, b = _TARANTOOL:match('^(%d+)%.(%d+)')
    a, b = tonumber(a), tonumber(b)
    return a > major or a == major and b >= minor
end

-- Earlier releases ignore the options of box.begin, and do not make a leader without a majority give up.
local IS_RECENT = version_at_least(2, 11)

-- With MVCC, the default isolation may read rows from before a commit that is under way: two calls
-- then grant the same token.
local BEGIN = IS_RECENT and {txn_isolation = 'read-committed'} or nil

local function has_elections()
    local mode = box.cfg.election_mode
    return mode ~= nil and mode ~= 'off'
end

-- It shows a leader that was replaced and elected again that there was another one in between.
local function raft_term()
    local election = box.info.election
    return election ~= nil and election.term or 0
end

local function leading()
    return state ~= nil and not box.info.ro and raft_term() == state.raft_term
end

local function replicas()
    local count = 0
    for _ in pairs(box.info.replication) do count = count + 1 end
    return count
end

local function leader_uuid()
    local election = box.info.election
    local leader = election ~= nil and box.info.replication[election.leader] or nil
    return leader ~= nil and leader.uuid or nil
end

local function waiting_limit()
    -- A waiting call is one of these messages, and a server that has reached the limit reads no
    -- request at all, not even a renewal. So half of them are left to calls that do not wait.
    return math.max(1, math.floor((box.cfg.net_msg_max or 768) / 2))
end

-- An empty table would be sent as a map or as an array, as it happens.
local function list()
    return setmetatable({}, {__serialize = 'seq'})
end

-- What is wrong with this server. `fatal`: it grants nothing until that is mended.
local function shortcomings()
    local out = list()
    local function add(code, fatal, text)
        table.insert(out, {code = code, fatal = fatal, text = text})
    end
    if box.cfg.wal_mode == 'none' then
        add('wal_none', true, 'wal_mode is none: a restart forgets who holds, and every token')
    elseif box.cfg.wal_mode == 'write' then
        add('wal_write', false, 'wal_mode is write: a power failure may forget tokens; set fsync')
    end
    if box.cfg.memtx_use_mvcc_engine and not IS_RECENT then
        add('mvcc_without_isolation', true,
            'memtx_use_mvcc_engine is on, and this release cannot choose an isolation: set it to false')
    end
    if box.cfg.force_recovery then
        add('force_recovery', false, 'force_recovery is on: a damaged log is read without a word')
    end
    if not has_elections() then
        add('no_election', false, 'no election_mode: leases are kept on one server')
        if replicas() > 1 then
            add('asynchronous', false,
                'replicas are behind this server: one that takes over may grant a token again')
        end
    else
        if not IS_RECENT then
            add('elections_too_old', true, 'election_mode is on, and this release is older than 2.11')
        end
        local synchro = box.info.synchro
        if synchro ~= nil and synchro.quorum * 2 <= replicas() then
            add('quorum_too_small', true, 'replication_synchro_quorum is not a majority')
        end
        if box.cfg.election_fencing_mode == 'off' then
            add('no_fencing', false, 'election_fencing_mode is off: an old leader goes on for longer')
        end
    end
    if box.broadcast == nil then
        add('no_broadcast', false, 'no box.broadcast: members wait in calls (tenure.poll)')
    end
    return out
end

local function fatal_shortcoming()
    for _, one in ipairs(shortcomings()) do
        if one.fatal then return one end
    end
end

-- Refusals ------------------------------------------------------------------------------------

local Refusal = {}

local function refuse(code, more)
    local answer = more or {}
    answer.error = code
    error(setmetatable(answer, Refusal), 0)
end

local function text_of(value, argument, most, least)
    if type(value) ~= 'string' or #value < (least or 1) or #value > most then
        refuse('bad_argument', {argument = argument})
    end
    return value
end

local function number_of(value, argument, least, most)
    if type(value) ~= 'number' or value ~= math.floor(value) or value < least or value > most then
        refuse('bad_argument', {argument = argument})
    end
    return value
end

-- A token may be larger than what a Lua number can tell apart from its neighbours.
local function token_of(value, argument)
    if value == nil then return 0 end
    -- From 1e14 on integers of the wire are 64-bit values, not Lua numbers.
    if type(value) == 'number' then return number_of(value, argument, 0, 1e14) end
    if type(value) ~= 'cdata' or tonumber(value) == nil or value > LAST_TOKEN then
        refuse('bad_argument', {argument = argument})
    end
    return value
end

local function names_of(value, argument, most)
    if type(value) ~= 'table' or #value > most then refuse('bad_argument', {argument = argument}) end
    for _, name in ipairs(value) do text_of(name, argument, MAX_NAME) end
    return value
end

-- Deadlines -----------------------------------------------------------------------------------

-- An entry is something that ends at its deadline: a term, a session or a command. Entries of the
-- same ttl are in one queue, and a renewal moves an entry to its end. So each queue is in the order of
-- deadlines, and a renewal of 10,000 terms sorts nothing.

local function unlink(entry)
    if entry.queue == nil then return end
    entry.previous.next, entry.next.previous = entry.next, entry.previous
    entry.queue, entry.previous, entry.next = nil, nil, nil
end

local function extend(of, entry, now)
    unlink(entry)
    local queue = of.queues[entry.ttl]
    if queue == nil then
        queue = {}
        queue.next, queue.previous = queue, queue
        of.queues[entry.ttl] = queue
    end
    entry.deadline = now + entry.ttl
    entry.queue, entry.previous, entry.next = queue, queue.previous, queue
    queue.previous.next, queue.previous = entry, entry
    if entry.deadline < of.wakes_at then of.timer:signal() end
end

-- The entry that ends first; nil if there is none.
local function first_to_end(of)
    local first
    for ttl, queue in pairs(of.queues) do
        if queue.next == queue then
            of.queues[ttl] = nil
        elseif first == nil or queue.next.deadline < first.deadline then
            first = queue.next
        end
    end
    return first
end

local function is_over(entry)
    return clock.monotonic() >= entry.deadline
end

-- Transactions --------------------------------------------------------------------------------

-- Wakes the followers of an election: it has changed.
local function show(name)
    for follower in pairs(interest[name] or {}) do
        follower.unseen[name] = true
        follower.cond:broadcast()
    end
end

-- The election changes with this transaction. Returns the point of the transaction: a number that is
-- larger than that of all before it, under earlier leaders as well.
local function touch(tx, name)
    tx.names[name] = true
    if tx.point == nil then
        tx.of.point = tx.of.point + 1
        tx.point = tx.of.point
    end
    return tx.point
end

-- The deadline moves now and again after the commit.
local function keep(tx, entry)
    extend(tx.of, entry, tx.now)
    tx.kept[#tx.kept + 1] = entry
end

local set_right -- defined below

-- Runs body(tx) as one transaction and returns its result after the commit. An error in body or in the
-- commit is raised again, after a rollback. body must not yield.
local function transact(body)
    if not leading() then refuse('not_leader', {leader = leader_uuid()}) end
    local of = state
    local tx = {of = of, now = clock.monotonic(), names = {}, sessions = {}, kept = {}}
    local reserve
    if BEGIN then box.begin(BEGIN) else box.begin() end
    local ok, answer = pcall(function()
        local result = body(tx)
        if of.point + SPARE_POINTS > of.reserved then
            reserve = of.point + POINTS
            box.space.tenure_meta:replace{'epoch', of.epoch, reserve}
        end
        return result
    end)
    if not ok then
        box.rollback()
    else
        for name in pairs(tx.names) do
            of.pending[name] = (of.pending[name] or 0) + 1
            of.changed[name] = tx.point
        end
        -- Yields. Other calls see these rows before they are on the disk, but each of them answers
        -- after a commit of its own, which comes after this one and fails with it. The deadlines that
        -- they find are the new ones. `poll`, which commits nothing, leaves pending elections out.
        local committed, failure = pcall(box.commit)
        if not committed then
            ok, answer = false, failure
            if box.is_in_txn() then box.rollback() end
        end
        for name in pairs(tx.names) do
            of.pending[name] = of.pending[name] > 1 and of.pending[name] - 1 or nil
        end
    end
    if not ok then
        set_right(of, tx)
    elseif state ~= of then
        -- It is on the disk, but the deadlines that were set for it are forgotten.
        ok, answer = false, setmetatable({error = 'in_doubt'}, Refusal)
    else
        if reserve then of.reserved = math.max(of.reserved, reserve) end
        local now = clock.monotonic()
        for i = 1, #tx.kept do
            if tx.kept[i].queue ~= nil then extend(of, tx.kept[i], now) end
        end
    end
    for name in pairs(tx.names) do
        show(name)
        if box.broadcast ~= nil and ok then box.broadcast('tenure.' .. name, tx.point) end
    end
    if not ok then error(answer, 0) end
    return answer
end

-- The write of a call that changes nothing: it proves that this server leads, and that all rows that
-- the call has read are committed.
local function witness()
    box.space.tenure_meta:update('witness', {{'+', META_VALUE, 1}})
end

-- Terms and sessions --------------------------------------------------------------------------

local function session_entry(of, row)
    local id = row[1]
    local entry = of.sessions[id]
    if entry == nil then
        entry = {kind = 'session', id = id, terms = {}, places = {}, ttl = row[SESSION_TTL] / 1000}
        of.sessions[id] = entry
        extend(of, entry, clock.monotonic())
    end
    return entry
end

local function drop_term(of, name, slot)
    local entry = of.terms[name] and of.terms[name][slot]
    if entry == nil then return end
    unlink(entry)
    of.terms[name][slot] = nil
    if next(of.terms[name]) == nil then of.terms[name] = nil end
    local carrier = of.sessions[entry.session]
    if carrier ~= nil and carrier.terms[name] == entry then carrier.terms[name] = nil end
end

-- The deadline of a held row. An unknown one begins now, as after a restart.
local function term_entry(of, row)
    local name, slot = row[CLAIM_NAME], row[CLAIM_SLOT]
    local entry = of.terms[name] and of.terms[name][slot]
    if entry ~= nil and entry.token == row[CLAIM_TOKEN] and entry.session == row[CLAIM_SESSION] then
        return entry
    end
    drop_term(of, name, slot)
    entry = {kind = 'term', name = name, slot = slot, token = row[CLAIM_TOKEN],
             session = row[CLAIM_SESSION], ttl = row[CLAIM_TTL] / 1000}
    of.terms[name] = of.terms[name] or {}
    of.terms[name][slot] = entry
    local carrier = of.sessions[entry.session]
    if carrier ~= nil then carrier.terms[name] = entry end
    extend(of, entry, clock.monotonic())
    return entry
end

local function is_held(row)
    return row[CLAIM_SESSION] ~= ''
end

local function document_id(row)
    return row[DOC_KIND] .. #row[DOC_NAME] .. ':' .. row[DOC_NAME] .. row[DOC_KEY]
end

local function document_entry(of, row)
    local id = document_id(row)
    local entry = of.documents[id]
    if entry == nil or entry.ttl ~= row[DOC_TTL] / 1000 then
        if entry ~= nil then unlink(entry) end
        entry = {kind = 'document', id = id, name = row[DOC_NAME], ttl = row[DOC_TTL] / 1000,
                 key = {row[DOC_NAME], row[DOC_KIND], row[DOC_KEY]}}
        of.documents[id] = entry
        extend(of, entry, clock.monotonic())
    end
    return entry
end

-- Makes entries agree with the rows again after a rollback. A term whose entry is gone gets a full ttl,
-- because it is not known what was promised.
set_right = function(of, tx)
    for name in pairs(tx.names) do
        -- Documents that are remembered as deleted may be there.
        of.gone[name], of.gone_from[name] = nil, of.point
        for _, row in box.space.tenure_claim:pairs({name}) do
            if is_held(row) then term_entry(of, row) else drop_term(of, name, row[CLAIM_SLOT]) end
        end
        for _, row in box.space.tenure_document:pairs({name}) do
            if row[DOC_TTL] > 0 then document_entry(of, row) end
        end
    end
    for id in pairs(tx.sessions) do
        local row, entry = box.space.tenure_session:get(id), of.sessions[id]
        if row ~= nil then
            entry = session_entry(of, row)
            entry.ttl = row[SESSION_TTL] / 1000
            extend(of, entry, clock.monotonic())
        elseif entry ~= nil then
            unlink(entry)
            of.sessions[id] = nil
        end
    end
end

local function session_of(tx, id)
    local row = box.space.tenure_session:get(text_of(id, 'session', MAX_NAME))
    if row == nil then refuse('no_such_session') end
    local entry = session_entry(tx.of, row)
    if is_over(entry) then refuse('no_such_session') end
    if row[SESSION_LEFT] then refuse('session_left') end
    return row, entry
end

-- Renews the session, by a write.
local function keep_session(tx, id)
    local row, entry = session_of(tx, id)
    box.space.tenure_session:update(id, {{'+', 5, 1}})
    keep(tx, entry)
    return row, entry
end

local function election_of(name)
    return box.space.tenure_election:get(name) or {name, 0, 0, '', 0, false}
end

local function write_election(election, token, slots)
    box.space.tenure_election:replace{election[1], token, slots, election[ELECTION_RECORD],
                                      election[ELECTION_RELEASED], election[ELECTION_CLEAN]}
end

local function drop_place(of, name)
    local place = of.places[name]
    if place == nil then return end
    of.places[name] = nil
    place.follower.places[name] = nil
    local carrier = of.sessions[place.session]
    if carrier ~= nil then carrier.places[name] = nil end
end

-- Begins a term. `clean`: nothing that ran under an earlier term in this slot is alive.
local function grant(tx, election, slots, slot, session, token, clean)
    local name, at = election[1], touch(tx, election[1])
    write_election(election, token, slots)
    local row = box.space.tenure_claim:replace{name, slot, token, session[1], session[SESSION_OWNER],
                                               session[SESSION_TTL], clean, at}
    local place = tx.of.places[name]
    if place ~= nil and place.session == session[1] then drop_place(tx.of, name) end
    -- The session lasts at least as long as its terms.
    keep(tx, session_entry(tx.of, session))
    keep(tx, term_entry(tx.of, row))
    return row
end

-- The session whose place becomes the next term; nil if there is none that may take it.
local function successor(of, election, leaver, wanted)
    local place = of.places[election[1]]
    if place == nil or election[ELECTION_SLOTS] ~= 1 or place.session == leaver then return nil end
    local session = box.space.tenure_session:get(place.session)
    if session == nil or session[SESSION_LEFT] or is_over(session_entry(of, session)) then return nil end
    if wanted ~= '' and wanted ~= session[SESSION_OWNER] then return nil end
    return session
end

-- Ends a term. If there is a place, the next term begins in the same transaction. `how.clean`: it was
-- released, and nothing of it runs. `how.record`: the release record; nil if it was not released.
local function end_term(tx, row, how)
    local name, slot, at = row[CLAIM_NAME], row[CLAIM_SLOT], touch(tx, row[CLAIM_NAME])
    local election = election_of(name)
    drop_term(tx.of, name, slot)
    if how.record ~= nil then
        election = box.space.tenure_election:replace{
            name, election[ELECTION_TOKEN], election[ELECTION_SLOTS], how.record, row[CLAIM_TOKEN],
            how.clean}
    end
    local next_session = successor(tx.of, election, row[CLAIM_SESSION], how.successor or '')
    if next_session ~= nil and election[ELECTION_TOKEN] < LAST_TOKEN then
        return grant(tx, election, 1, slot, next_session, election[ELECTION_TOKEN] + 1, how.clean)
    end
    return box.space.tenure_claim:replace{name, slot, row[CLAIM_TOKEN], '', '', 0, how.clean, at}
end

local function end_if_over(tx, row)
    if is_held(row) and is_over(term_entry(tx.of, row)) then
        return end_term(tx, row, {clean = false})
    end
    return row
end

-- Documents and pictures ----------------------------------------------------------------------

-- So that `poll` can say it. The list of an election is cut when it is too long.
local function remember_gone(of, at, row)
    local name = row[DOC_NAME]
    local gone = of.gone[name] or {}
    table.insert(gone, {at = at, kind = row[DOC_KIND], key = row[DOC_KEY]})
    if #gone > 2 * GONE then
        of.gone_from[name] = gone[GONE].at
        gone = {unpack(gone, GONE + 1)}
    end
    of.gone[name] = gone
end

local function delete_document(tx, row)
    remember_gone(tx.of, touch(tx, row[DOC_NAME]), row)
    box.space.tenure_document:delete{row[DOC_NAME], row[DOC_KIND], row[DOC_KEY]}
    local id = document_id(row)
    if tx.of.documents[id] ~= nil then
        unlink(tx.of.documents[id])
        tx.of.documents[id] = nil
    end
end

-- Deletes what the session carries. False if there is more than one transaction should delete.
local function clear_session(tx, id)
    local rows = box.space.tenure_document.index.session:select({id}, {limit = CHUNK})
    for _, row in ipairs(rows) do delete_document(tx, row) end
    local carrier = tx.of.sessions[id]
    for name in pairs(carrier ~= nil and carrier.places or {}) do
        touch(tx, name)
        drop_place(tx.of, name)
    end
    return #rows < CHUNK
end

local function document_as_shown(row)
    return {kind = row[DOC_KIND], key = row[DOC_KEY], text = row[DOC_TEXT], version = row[DOC_VERSION],
            session = row[DOC_SESSION], owner = row[DOC_OWNER]}
end

-- The documents of an election that have changed since a point, and what was deleted since. If that is
-- not known any more, or with 0, all there are, and nil.
local function documents_since(of, name, since)
    local documents, gone = list(), nil
    if since > (of.gone_from[name] or 0) then
        gone = list()
        for _, one in ipairs(of.gone[name] or {}) do
            if one.at > since then table.insert(gone, {kind = one.kind, key = one.key}) end
        end
    else
        since = 0
    end
    for _, row in box.space.tenure_document.index.version:pairs({name, since}, {iterator = 'GT'}) do
        if row[DOC_NAME] ~= name then break end
        if row[DOC_TTL] == 0 or not is_over(document_entry(of, row)) then
            table.insert(documents, document_as_shown(row))
        end
    end
    return documents, gone
end

-- An election at one instant (nothing here yields): {name, at, token, slots, claims, place, released,
-- documents, gone}. `at` is its last point, `token` the newest of its tokens. A claim lasts for `left_ms`
-- at least, counted from the sending of the request that shows it. A term that was passed on has to be
-- renewed, or counted in this way, before anything starts under it. With `gone`, only documents that have
-- changed are shown: forget those in `gone` first. Without it, forget all that are not shown.
local function picture(of, name, since)
    local election = election_of(name)
    local now = clock.monotonic()
    local claims = list()
    local documents, gone = documents_since(of, name, since or 0)
    for _, row in box.space.tenure_claim:pairs({name}) do
        if is_held(row) then
            local left = math.max(0, term_entry(of, row).deadline - now)
            table.insert(claims, {slot = row[CLAIM_SLOT], token = row[CLAIM_TOKEN],
                                  session = row[CLAIM_SESSION], owner = row[CLAIM_OWNER],
                                  ttl_ms = row[CLAIM_TTL], clean = row[CLAIM_CLEAN],
                                  point = row[CLAIM_POINT], left_ms = math.floor(left * 1000)})
        end
    end
    local place = of.places[name]
    return {name = name, at = of.changed[name] or of.began_at, token = election[ELECTION_TOKEN],
            slots = election[ELECTION_SLOTS], claims = claims, documents = documents, gone = gone,
            place = place and {session = place.session, owner = place.owner} or nil,
            released = election[ELECTION_RELEASED] ~= 0 and
                {token = election[ELECTION_RELEASED], clean = election[ELECTION_CLEAN],
                 record = election[ELECTION_RECORD]} or nil}
end

-- Leadership is given up here, and taken by `lead_now`, below.
local lead = {wanted = false, cond = fiber.cond(), problem = nil, options = {}}

local function step_down()
    if state == nil then return end
    state.timer:broadcast()
    state = nil
    lead.cond:broadcast()
    for _, follower in pairs(followers) do
        follower.places = {}
        follower.cond:broadcast()
    end
end

-- Ends ----------------------------------------------------------------------------------------

local function end_of_term(tx, entry)
    local row = box.space.tenure_claim:get{entry.name, entry.slot}
    if row == nil or not is_held(row) then return drop_term(tx.of, entry.name, entry.slot) end
    end_if_over(tx, row)
end

-- Returns 'more' if another transaction should go on with it.
local function end_session(tx, entry)
    local ended = 0
    for _, term in pairs(entry.terms) do
        if not is_over(term) then return extend(tx.of, entry, tx.now) end
        if ended == ENDS then return 'more' end
        end_of_term(tx, term)
        ended = ended + 1
    end
    tx.sessions[entry.id] = true
    if not clear_session(tx, entry.id) then return 'more' end
    box.space.tenure_session:delete(entry.id)
    unlink(entry)
    tx.of.sessions[entry.id] = nil
end

local function end_document(tx, entry)
    local row = box.space.tenure_document:get(entry.key)
    if row ~= nil then return delete_document(tx, row) end
    unlink(entry)
    tx.of.documents[entry.id] = nil
end

local ends = {term = end_of_term, session = end_session, document = end_document}

-- Ends what is over, a few entries in a transaction, so that other calls do not wait for long.
local function end_what_is_over()
    transact(function(tx)
        witness()
        for _ = 1, ENDS do
            local entry = first_to_end(tx.of)
            if entry == nil or not is_over(entry) then return end
            if ends[entry.kind](tx, entry) == 'more' then return end
        end
    end)
end

-- Wakes at the next deadline. A call that comes before goes by the deadline as well.
local function run_timer(of)
    while state == of do
        local first = first_to_end(of)
        local left = first ~= nil and first.deadline - clock.monotonic() or nil
        if left ~= nil and left <= 0 then
            if not leading() then
                step_down()
            else
                local ok, failure = pcall(end_what_is_over)
                if not ok then
                    log.error('tenure: what is over cannot be ended: %s', failure.message or failure)
                    -- Yields outside of a transaction. A full disk is not tried again at once.
                    fiber.sleep(1)
                end
            end
        else
            of.wakes_at = first ~= nil and first.deadline or math.huge
            of.timer:wait(left) -- yields outside of a transaction; the loop looks at everything anew
        end
    end
end

-- Leadership ----------------------------------------------------------------------------------

-- Gives everything a full ttl. Nothing is served meanwhile.
local function load_deadlines(of)
    local count = 0
    local function breathe()
        count = count + 1
        if count % CHUNK == 0 then fiber.yield() end -- yields: nothing is served, so nothing changes
    end
    for _, row in box.space.tenure_session:pairs() do
        session_entry(of, row)
        breathe()
    end
    for _, row in box.space.tenure_claim.index.session:pairs({''}, {iterator = 'GT'}) do
        term_entry(of, row)
        breathe()
    end
    for _, row in box.space.tenure_document:pairs() do
        if row[DOC_TTL] > 0 then document_entry(of, row) end
        breathe()
    end
end

-- The first commit of a leader. All that earlier leaders have confirmed comes before it.
local function begin_epoch()
    local row = box.space.tenure_meta:get('epoch')
    local epoch, begins = row[META_VALUE] + 1, row[META_RESERVED] + 1
    box.space.tenure_meta:replace{'epoch', epoch, begins + POINTS} -- yields: nothing is served yet
    return epoch, begins
end

local function lead_now()
    local fatal = fatal_shortcoming()
    if fatal then error(fatal.text, 0) end
    local term = raft_term()
    M.install(lead.options)
    local epoch, begins = begin_epoch()
    local of = {epoch = epoch, began_at = begins, point = begins, reserved = begins + POINTS,
                raft_term = term, queues = {}, terms = {}, sessions = {}, documents = {}, places = {},
                pending = {}, changed = {}, gone = {}, gone_from = {}, timer = fiber.cond(), wakes_at = math.huge}
    load_deadlines(of)
    if box.info.ro or raft_term() ~= term then error('another leader was elected meanwhile', 0) end
    state = of
    fiber.create(run_timer, of):name('tenure.timer')
    for _, follower in pairs(followers) do follower.cond:broadcast() end
    log.info('tenure: serves as the leader, epoch %d', epoch)
end

local function run_leader()
    while lead.wanted do
        if state == nil and not box.info.ro then
            local ok, failure = pcall(lead_now)
            lead.problem = not ok and tostring(failure.message or failure) or nil
            if not ok then
                log.error('tenure: serves nothing: %s', lead.problem)
                lead.cond:wait(1) -- yields outside of a transaction
            end
        else
            lead.cond:wait() -- yields outside of a transaction
        end
    end
    step_down()
end

-- Waits for changes of leadership. If one follows another at once, it is not seen here, but every call
-- compares the raft term.
local function run_observer()
    while lead.wanted do
        box.ctl.wait_rw()
        lead.cond:broadcast()
        box.ctl.wait_ro()
        step_down()
    end
end

-- Followers -----------------------------------------------------------------------------------

local function follower_here()
    local id = box.session.id()
    -- A stream's request may be carried out after its connection has ended: nothing would end this one.
    if box.session.type() == 'binary' and box.session.fd() == -1 then refuse('disconnected') end
    if followers[id] == nil then
        -- `names`: of the elections, each with the point up to which it was shown.
        followers[id] = {names = {}, unseen = {}, places = {}, cond = fiber.cond(), answers = 0, turn = 0,
                         epoch = 0, restart = true, gone = false}
    end
    return followers[id]
end

-- The next answers show everything.
local function restart(follower, epoch)
    follower.restart, follower.epoch = true, epoch
    for name in pairs(follower.names) do
        follower.names[name] = 0
        follower.unseen[name] = true
    end
end

-- A connection has ended, and with it its places: nothing is passed on to a member that does not watch.
local function disconnected()
    local id = box.session.id()
    local follower = followers[id]
    if follower == nil then return end
    followers[id] = nil
    follower.gone = true
    for name in pairs(follower.names) do
        followed = followed - 1
        interest[name][follower] = nil
        if next(interest[name]) == nil then interest[name] = nil end
    end
    if state ~= nil and next(follower.places) ~= nil then
        state.point = state.point + 1
        for name in pairs(follower.places) do
            drop_place(state, name)
            state.changed[name] = state.point
            show(name)
        end
    end
    follower.cond:broadcast()
end

-- What this follower has not seen, one page of it, without elections that are being changed.
local function next_page(follower)
    local page, documents = list(), 0
    for name in pairs(follower.unseen) do
        if #page >= PAGE or documents >= PAGE_DOCUMENTS then break end
        if not state.pending[name] then
            follower.unseen[name] = nil
            local shown = picture(state, name, follower.names[name])
            follower.names[name] = shown.at
            documents = documents + #shown.documents
            table.insert(page, shown)
        end
    end
    return page
end

local function answer_of(follower, page)
    follower.answers = follower.answers + 1
    local answer = {number = follower.answers, at = state.point, epoch = state.epoch,
                    restart = follower.restart, elections = page, more = next(follower.unseen) ~= nil}
    follower.restart = false
    return answer
end

-- The calls -----------------------------------------------------------------------------------

-- open(session, owner, ttl_ms) -> {ttl_ms, made, epoch}
-- Begins a session, or renews it. The `ttl_ms` of the answer counts: while a session holds terms, it
-- keeps its own. `made`: it is new, and carries nothing.
-- Errors: session_left, session_of_another, busy (ask again: what it carried is being deleted).
function api.open(id, owner, ttl_ms)
    text_of(id, 'session', MAX_NAME)
    text_of(owner, 'owner', MAX_NAME)
    ttl_ms = number_of(ttl_ms, 'ttl_ms', MIN_TTL_MS, MAX_TTL_MS)
    return transact(function(tx)
        local row = box.space.tenure_session:get(id)
        if row ~= nil and is_over(session_entry(tx.of, row)) then
            end_session(tx, tx.of.sessions[id])
            row = box.space.tenure_session:get(id)
            -- It carried more than one transaction should delete. The timer goes on with that.
            if row ~= nil then return {error = 'busy'} end
        end
        if row ~= nil and row[SESSION_LEFT] then refuse('session_left') end
        if row ~= nil and row[SESSION_OWNER] ~= owner then refuse('session_of_another') end
        local made = row == nil
        if row ~= nil and next(session_entry(tx.of, row).terms) ~= nil then ttl_ms = row[SESSION_TTL] end
        tx.sessions[id] = true
        local entry = session_entry(tx.of, box.space.tenure_session:replace{id, owner, ttl_ms, false, 0})
        entry.ttl = ttl_ms / 1000
        keep(tx, entry)
        return {ttl_ms = ttl_ms, made = made, epoch = tx.of.epoch}
    end)
end

-- leave(session) -> {}
-- Ends a session for good: deletes what it carries, and refuses it new terms. Its terms stay until they
-- are released or over, and cannot be renewed.
function api.leave(id)
    text_of(id, 'session', MAX_NAME)
    local done
    repeat
        transact(function(tx)
            witness()
            local row = box.space.tenure_session:get(id)
            done = clear_session(tx, id)
            if row ~= nil then box.space.tenure_session:update(id, {{'=', SESSION_LEFT, true}}) end
        end)
    until done
    return {}
end

-- acquire(session, name, slots, above) -> {token, slot, ttl_ms, clean, made, epoch}
--                                      or {refused = 'held' | 'other_slots', election}
-- A session that holds already gets the same token again (`made` is false), renewed. A new token is
-- larger than `above`. `clean`: nothing that ran under an earlier term in this slot is alive. The first
-- to hold while nobody else does sets the number of slots.
-- Errors: no_such_session, session_left, tokens_exhausted.
function api.acquire(id, name, slots, above)
    text_of(name, 'name', MAX_NAME)
    slots = number_of(slots, 'slots', 1, MAX_SLOTS)
    above = token_of(above, 'above')
    return transact(function(tx)
        local session = keep_session(tx, id)
        local held, all_clean, by_slot = 0, true, {}
        for _, row in ipairs(box.space.tenure_claim:select({name})) do
            row = end_if_over(tx, row)
            if is_held(row) and row[CLAIM_SESSION] == id then
                if row[CLAIM_TOKEN] >= above then
                    keep(tx, term_entry(tx.of, row))
                    return {token = row[CLAIM_TOKEN], slot = row[CLAIM_SLOT], ttl_ms = row[CLAIM_TTL],
                            clean = row[CLAIM_CLEAN], made = false, epoch = tx.of.epoch}
                end
                -- A larger token was seen: the rows are from a backup.
                row = end_term(tx, row, {clean = false})
            end
            by_slot[row[CLAIM_SLOT]] = row
            if is_held(row) then held = held + 1 end
            all_clean = all_clean and row[CLAIM_CLEAN]
        end
        local election = election_of(name)
        local agreed = election[ELECTION_SLOTS]
        if held > 0 and agreed ~= slots then
            return {refused = 'other_slots', election = picture(tx.of, name)}
        end
        if held >= slots then return {refused = 'held', election = picture(tx.of, name)} end
        local slot = 0
        while by_slot[slot] ~= nil and is_held(by_slot[slot]) do slot = slot + 1 end
        local newest = election[ELECTION_TOKEN]
        local clean = (by_slot[slot] == nil or by_slot[slot][CLAIM_CLEAN]) and newest >= above
        -- The last term of a slot that no longer exists may have ended in doubt.
        if agreed ~= slots then clean = clean and all_clean end
        if newest < above then newest = above end
        if newest >= LAST_TOKEN then refuse('tokens_exhausted') end
        local row = grant(tx, election, slots, slot, session, newest + 1, clean)
        return {token = row[CLAIM_TOKEN], slot = slot, ttl_ms = session[SESSION_TTL], clean = clean,
                made = true, epoch = tx.of.epoch}
    end)
end

-- Why a term is not renewed.
local function why_lost(of, name)
    local election, held, owner = election_of(name), 0, nil
    for _, row in box.space.tenure_claim:pairs({name}) do
        if is_held(row) then held, owner = held + 1, row[CLAIM_OWNER] end
    end
    if held > 0 and held >= election[ELECTION_SLOTS] then return 'taken', owner end
    return 'ended'
end

-- renew(session, {name, token, name, token, ...}) ->
--     {ttl_ms, held, lost = {{name, why, owner}, ...}, epoch}
-- Renews these terms, and the session; without terms, the session alone. `why` is 'taken' if all slots
-- are held, by `owner` among others, else 'ended'. Up to 1,000 terms are one transaction.
-- Errors: no_such_session (all of its terms are over), session_left.
function api.renew(id, items)
    if type(items) ~= 'table' or #items % 2 ~= 0 or #items > 2 * MAX_ITEMS then
        refuse('bad_argument', {argument = 'items'})
    end
    local lost, held, at, ttl_ms, epoch = list(), 0, 1, nil, nil
    repeat
        transact(function(tx)
            local session, carrier = keep_session(tx, id)
            ttl_ms, epoch = session[SESSION_TTL], tx.of.epoch
            local claims, last = box.space.tenure_claim, math.min(at + 2 * CHUNK - 1, #items)
            for i = at, last, 2 do
                local name, term = items[i], carrier.terms[items[i]]
                local row = term ~= nil and claims:get{name, term.slot} or nil
                if row ~= nil and row[CLAIM_TOKEN] == items[i + 1] and row[CLAIM_SESSION] == id and
                    tx.now < term.deadline then
                    keep(tx, term)
                    held = held + 1
                else
                    if row ~= nil then end_if_over(tx, row) end
                    local why, owner = why_lost(tx.of, text_of(name, 'items', MAX_NAME))
                    table.insert(lost, {name, why, owner})
                end
            end
            at = last + 1
        end)
        -- Yields between transactions, in their commits; each term is in one of them alone.
    until at > #items
    return {ttl_ms = ttl_ms, held = held, lost = lost, epoch = epoch}
end

-- release(session, name, token, clean, successor, record) -> {released, passed_to}
-- Ends this term; with token 0, the one that the session holds, and without a record. If there is a
-- place, its session holds from then on, unless `successor` names another owner. `clean`: nothing that
-- ran under this or an earlier term is alive. `released` is false if there was no such term.
function api.release(id, name, token, clean, wanted, record)
    text_of(id, 'session', MAX_NAME)
    text_of(name, 'name', MAX_NAME)
    token = token_of(token, 'token')
    wanted = text_of(wanted == nil and '' or wanted, 'successor', MAX_NAME, 0)
    record = text_of(record == nil and '' or record, 'record', MAX_TEXT, 0)
    return transact(function(tx)
        witness()
        local term = tx.of.sessions[id] ~= nil and tx.of.sessions[id].terms[name] or nil
        local row = term ~= nil and box.space.tenure_claim:get{name, term.slot} or nil
        if row == nil or row[CLAIM_SESSION] ~= id or token ~= 0 and row[CLAIM_TOKEN] ~= token then
            return {released = false}
        end
        row = end_term(tx, row, {clean = clean == true, successor = wanted,
                                 record = token ~= 0 and record or nil})
        return {released = true, passed_to = is_held(row) and row[CLAIM_OWNER] or nil}
    end)
end

-- reserve(session, names, wanted) -> {reserved = names}
-- Takes the place in these elections, from another session if need be, or gives it up. A place means
-- that the next term begins with the end of the present one. There is one in each election, and only
-- while another session holds its only slot. It ends with the session and with this connection, which
-- has to follow the election.
-- Errors: no_such_session, session_left, not_following.
function api.reserve(id, names, wanted)
    names_of(names, 'names', MAX_ITEMS)
    local follower = followers[box.session.id()]
    if follower == nil or follower.gone then refuse('not_following') end
    local reserved = list()
    for from = 1, #names, CHUNK do
        transact(function(tx)
            local session, carrier = session_of(tx, id)
            witness()
            for i = from, math.min(from + CHUNK - 1, #names) do
                local name = names[i]
                if not follower.names[name] then refuse('not_following', {name = name}) end
                local place, row = tx.of.places[name], box.space.tenure_claim:get{name, 0}
                if row ~= nil then row = end_if_over(tx, row) end
                local may = wanted == true and election_of(name)[ELECTION_SLOTS] == 1 and row ~= nil and
                    is_held(row) and row[CLAIM_SESSION] ~= id
                if may and (place == nil or place.session ~= id or place.follower ~= follower) then
                    touch(tx, name)
                    drop_place(tx.of, name)
                    tx.of.places[name] = {session = id, owner = session[SESSION_OWNER],
                                          follower = follower}
                    follower.places[name] = true
                    carrier.places[name] = true
                elseif not may and place ~= nil and place.session == id then
                    touch(tx, name)
                    drop_place(tx.of, name)
                end
                if may then table.insert(reserved, name) end
            end
        end)
        -- The commit has yielded, and the connection may have ended in that time.
        if follower.gone and state ~= nil then
            for name in pairs(follower.places) do drop_place(state, name) end
        end
    end
    return {reserved = reserved}
end

local function judged_put(tx, id, session, item)
    local name, kind = text_of(item.name, 'name', MAX_NAME), item.kind
    local life = KINDS[kind]
    if life == nil then refuse('bad_argument', {argument = 'kind'}) end
    local key = text_of(item.key == nil and '' or item.key, 'key', MAX_NAME, life == 'for ever' and 0 or 1)
    if life == 'for ever' and key ~= '' then refuse('bad_argument', {argument = 'key'}) end
    local ttl = life == 'ttl' and item.text ~= nil and
        number_of(item.ttl_ms, 'ttl_ms', MIN_TTL_MS, MAX_TTL_MS) or 0
    local row = box.space.tenure_document:get{name, kind, key}
    if row ~= nil and row[DOC_TTL] > 0 and is_over(document_entry(tx.of, row)) then
        delete_document(tx, row)
        row = nil
    end
    local version = row ~= nil and row[DOC_VERSION] or 0
    local foreign = row ~= nil and row[DOC_SESSION] ~= '' and row[DOC_SESSION] ~= id
    if foreign or item.expected ~= nil and item.expected ~= version then
        return {conflict = true, document = row ~= nil and document_as_shown(row) or nil}
    end
    if item.text == nil then
        if row ~= nil then delete_document(tx, row) end
        return {version = 0}
    end
    text_of(item.text, 'text', MAX_TEXT, 0)
    local at = touch(tx, name)
    local written = box.space.tenure_document:replace{
        name, kind, key, item.text, at, life == 'session' and id or '', session[SESSION_OWNER],
        row ~= nil and row[DOC_TTL] or ttl}
    -- The time of a command runs from its first put; an answer does not prolong it.
    if row == nil and ttl > 0 then keep(tx, document_entry(tx.of, written)) end
    return {version = at}
end

-- put(session, {{name, kind, key, text, expected, ttl_ms}, ...}) -> {results = {...}}
-- Writes documents, or deletes them if `text` is nil. `expected` is the version that is there, 0 for
-- none; nil: any. A result is {version}, 0 for a deleted one, or {conflict = true, document} with what
-- is there. A document that a session carries (see KINDS) is changed by that session alone.
-- Errors: no_such_session, session_left.
function api.put(id, items)
    if type(items) ~= 'table' or #items > MAX_ITEMS then refuse('bad_argument', {argument = 'items'}) end
    local results, at = list(), 1
    repeat
        transact(function(tx)
            local session = session_of(tx, id)
            witness()
            for i = at, math.min(at + CHUNK - 1, #items) do
                if type(items[i]) ~= 'table' then refuse('bad_argument', {argument = 'items'}) end
                results[i] = judged_put(tx, id, session, items[i])
            end
        end)
        at = at + CHUNK
    until at > #items
    return {results = results}
end

-- read(names) -> {at, epoch, elections}
-- Pictures of up to 1,000 elections. Linearizable.
function api.read(names)
    names_of(names, 'names', CHUNK)
    return transact(function(tx)
        witness()
        local out = list()
        for _, name in ipairs(names) do table.insert(out, picture(tx.of, name)) end
        return {at = tx.of.point, epoch = tx.of.epoch, elections = out}
    end)
end

-- follow(names) -> {following}
-- From now on `poll` on this connection shows these elections as well.
-- Errors: too_many_followed, disconnected.
function api.follow(names)
    names_of(names, 'names', MAX_ITEMS)
    local follower = follower_here()
    local count = 0
    for _, name in ipairs(names) do
        if not follower.names[name] then
            if followed >= MAX_FOLLOWED then refuse('too_many_followed', {limit = MAX_FOLLOWED}) end
            followed = followed + 1
            follower.names[name] = 0
            follower.unseen[name] = true
            interest[name] = interest[name] or {}
            interest[name][follower] = true
        end
    end
    for _ in pairs(follower.names) do count = count + 1 end
    return {following = count}
end

-- poll(number, wait_ms) -> {number, at, epoch, restart, elections, more}
-- Pictures of the followed elections that have changed since the answer with this number (0 before the
-- first). Waits for a change, up to wait_ms; then `elections` is empty. `more`: ask again at once.
-- `restart`: forget what was shown; this answer and the next ones, until one has no `more`, show
-- everything. One call waits on a connection: the next one ends it with `superseded`.
-- Errors: not_following, superseded, too_many_waiting (ask with wait_ms = 0 instead).
function api.poll(number, wait_ms)
    number = number_of(number, 'number', 0, 1e14)
    wait_ms = number_of(wait_ms, 'wait_ms', 0, MAX_WAIT_MS)
    local follower = followers[box.session.id()]
    if follower == nil then refuse('not_following') end
    follower.turn = follower.turn + 1
    local turn, deadline = follower.turn, clock.monotonic() + wait_ms / 1000
    follower.cond:broadcast()
    if number ~= follower.answers then restart(follower, state.epoch) end
    while true do
        if follower.turn ~= turn or follower.gone then refuse('superseded') end
        if not leading() then refuse('not_leader', {leader = leader_uuid()}) end
        if follower.epoch ~= state.epoch then restart(follower, state.epoch) end
        local page = next_page(follower)
        local left = deadline - clock.monotonic()
        if #page > 0 or left <= 0 then return answer_of(follower, page) end
        if waiting >= waiting_limit() then
            refuse('too_many_waiting', {limit = waiting_limit()})
        end
        waiting = waiting + 1
        -- Yields outside of a transaction; the loop looks at everything anew. `disconnected` ends it.
        local ok, failure = pcall(follower.cond.wait, follower.cond, left)
        waiting = waiting - 1
        if not ok then error(failure, 0) end
    end
end

-- describe() -> what this server is. Every server answers it, not only the leader. `serves`: it leads
-- and answers the other calls; `why` not, if that needs a person. `missing`: what it lacks, {code,
-- fatal, text} each; with a fatal one it does not serve.
function api.describe()
    local cluster = box.info.replicaset or box.info.cluster
    return {version = box.info.version, schema = M.schema(), understands = SCHEMA, uuid = box.info.uuid,
            cluster = cluster.uuid, leader_uuid = leader_uuid(), serves = leading(), why = lead.problem,
            epoch = state ~= nil and state.epoch or nil,
            synchronous = has_elections(), replicas = replicas(), followed = followed, waiting = waiting,
            waiting_limit = waiting_limit(), min_ttl_ms = MIN_TTL_MS, max_ttl_ms = MAX_TTL_MS,
            missing = shortcomings()}
end

local function served(call, needs_leader)
    return function(...)
        if box.is_in_txn() then return {error = 'in_transaction'} end
        if needs_leader and not leading() then
            step_down()
            return {error = lead.problem and 'cannot_serve' or 'not_leader', leader = leader_uuid(),
                    why = lead.problem}
        end
        local ok, answer = pcall(call, ...)
        if ok then return answer end
        if getmetatable(answer) == Refusal then return setmetatable(answer, nil) end
        error(answer, 0) -- Tarantool's own, with its code
    end
end

-- Installation --------------------------------------------------------------------------------

local SPACES = {
    tenure_meta = {
        format = {{'key', 'string'}, {'value', 'unsigned'}, {'reserved', 'unsigned'}},
        indexes = {primary = {'key'}},
    },
    tenure_session = {
        format = {{'id', 'string'}, {'owner', 'string'}, {'ttl_ms', 'unsigned'}, {'left', 'boolean'},
                  {'writes', 'unsigned'}},
        indexes = {primary = {'id'}},
    },
    tenure_election = {
        format = {{'name', 'string'}, {'token', 'unsigned'}, {'slots', 'unsigned'}, {'record', 'string'},
                  {'released', 'unsigned'}, {'clean', 'boolean'}},
        indexes = {primary = {'name'}},
    },
    tenure_claim = {
        format = {{'name', 'string'}, {'slot', 'unsigned'}, {'token', 'unsigned'}, {'session', 'string'},
                  {'owner', 'string'}, {'ttl_ms', 'unsigned'}, {'clean', 'boolean'},
                  {'point', 'unsigned'}},
        indexes = {primary = {'name', 'slot'}, session = {'session', 'name', 'slot'}},
    },
    tenure_document = {
        format = {{'name', 'string'}, {'kind', 'string'}, {'key', 'string'}, {'text', 'string'},
                  {'version', 'unsigned'}, {'session', 'string'}, {'owner', 'string'},
                  {'ttl_ms', 'unsigned'}},
        indexes = {primary = {'name', 'kind', 'key'}, session = {'session', 'name', 'kind', 'key'},
                   version = {'name', 'version', 'kind', 'key'}},
    },
}

local function make_space(name, spec)
    local synchronous = has_elections()
    local options = {if_not_exists = true, format = spec.format, engine = 'memtx'}
    if synchronous then options.is_sync = true end
    local space = box.schema.space.create(name, options)
    if synchronous and not space.is_sync then space:alter{is_sync = true} end
    for _, index in ipairs{'primary', 'session', 'version'} do
        if spec.indexes[index] ~= nil then
            space:create_index(index, {parts = spec.indexes[index], if_not_exists = true})
        end
    end
    box.schema.user.grant(OWNER, 'read,write', 'space', name, {if_not_exists = true})
end

-- A function runs with the rights of the user that made it. So that user makes them, with rights that
-- it has only here.
local function make_functions()
    local missing = {}
    for call in pairs(api) do
        if not box.schema.func.exists('tenure.' .. call) then table.insert(missing, call) end
    end
    local function with_rights(change, options)
        change(OWNER, 'create', 'function', nil, options)
        change(OWNER, 'read,write', 'space', '_func', options)
    end
    local ok, failure = true, nil
    if #missing > 0 then
        with_rights(box.schema.user.grant, {if_not_exists = true})
        ok, failure = pcall(box.session.su, OWNER, function()
            for _, call in ipairs(missing) do box.schema.func.create('tenure.' .. call, {setuid = true}) end
        end)
    end
    -- Even if there was nothing to make: an earlier installation may have been interrupted.
    with_rights(box.schema.user.revoke, {if_exists = true})
    if not ok then error(failure, 0) end
end

-- Of the rows that are there; 0 as long as they are not installed.
function M.schema()
    local space = box.space.tenure_meta
    if space == nil or space.index[0] == nil then return 0 end
    local row = space:get('schema')
    return row ~= nil and row[META_VALUE] or 0
end

-- Makes what is missing: spaces, functions, their owner, and the user that clients sign in as, with the
-- right to execute each function. `user`: its name; nil: none is made. `password`: set each time; nil:
-- it stays. Nothing else is changed, so it may be called again. Raises if the schema is newer.
function M.install(options)
    options = options or {}
    if M.schema() > SCHEMA then
        error(('the rows are of schema %d, this file knows %d: install its newer release')
              :format(M.schema(), SCHEMA), 0)
    end
    box.schema.user.create(OWNER, {if_not_exists = true})
    for name, spec in pairs(SPACES) do make_space(name, spec) end
    for _, row in ipairs{{'witness', 0, 0}, {'epoch', 0, 0}, {'schema', SCHEMA, 0}} do
        if box.space.tenure_meta:get(row[1]) == nil then box.space.tenure_meta:insert(row) end
    end
    make_functions()
    if options.user == nil then return end
    box.schema.user.create(options.user, {if_not_exists = true})
    if options.password ~= nil then box.schema.user.passwd(options.user, options.password) end
    for call in pairs(api) do
        box.schema.user.grant(options.user, 'execute', 'function', 'tenure.' .. call,
                              {if_not_exists = true})
    end
end

-- For an operator, on the leader's console: require('tenure').revoke(name) ends all terms of an
-- election. The holders learn of it by their watch or their next renewal, so the next terms begin in
-- doubt. Do not delete rows instead: tokens would begin anew.
function M.revoke(name)
    assert(leading(), 'not the leader')
    return transact(function(tx)
        witness()
        for _, row in ipairs(box.space.tenure_claim:select({name})) do
            if is_held(row) then end_term(tx, row, {clean = false}) end
        end
    end)
end

-- Serves whenever this server leads. `options` are those of `install`. May be called again.
function M.start(options)
    lead.options = options or {}
    rawset(_G, 'tenure', {})
    for name, call in pairs(api) do _G.tenure[name] = served(call, name ~= 'describe') end
    if lead.wanted then return end
    lead.wanted = true
    box.session.on_disconnect(disconnected)
    fiber.create(run_leader):name('tenure.leader')
    fiber.create(run_observer):name('tenure.observer')
end

-- As a role of Tarantool 3: roles_cfg: {tenure: {user: tenure}}.
function M.validate(options)
    assert(options == nil or type(options) == 'table', 'tenure: roles_cfg is a map')
    for name in pairs(options or {}) do assert(name == 'user', 'tenure: unknown option ' .. name) end
end

function M.apply(options)
    M.start(options or {user = 'tenure'})
end

function M.stop()
    lead.wanted = false
    lead.cond:broadcast()
    step_down()
    box.session.on_disconnect(nil, disconnected)
    rawset(_G, 'tenure', nil)
end

return M
