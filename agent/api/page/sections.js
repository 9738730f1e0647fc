// The sections of one election, each drawn only from its JSON and its history.

const most_holders = 8, most_members = 12, most_terms = 12; // until more are asked for

function draw_claim(now, history) {
  const names = now.holders.map((one) => one.identity);
  const rest = names.length - most_holders;
  show(by_id('election'), isolated(now.election));
  const none = now.holder_known ? 'Nobody' : 'Not known';
  show(by_id('holder'), ...(now.holder ? names.slice(0, most_holders).map(isolated) : [none]),
    rest > 0 ? `and ${rest} more` : null);
  by_id('holder').className = !now.holder ? 'nobody'
    : names.length > 1 ? 'several long' : now.holder.length > 18 ? 'long' : '';
  const last = now.last_term ?? history?.terms.find((one) => one.ended);
  show(by_id('before'), ...(last ? ending(last) : ['No earlier term is known.']));

  const { health, store } = now;
  const why = health?.reason ? `: ${health.reason}` : '';
  const held_back = now.aside_for_ms
    ? `stands aside until ${time_text(aside_until(now))}`
    : now.not_campaigning ? `does not campaign: ${now.not_campaigning.text}` : '';
  const notes = [
    store.reachable ? '' : `${store.kind ?? 'The store'} does not answer: ${store.why}.`,
    store.reachable && store.why ? `${store.kind}: ${store.why}.` : '',
    held_back ? `This agent ${held_back}.` : '',
    health?.state === 'unhealthy' ? `The workload here is unhealthy${why}.` : '',
    health?.state === 'healthy' && why
      ? `The newest health check of the workload here has failed${why}. Several in a row decide.` : '',
    now.state === 'draining' ? `This agent stops its workload: ${reason_text(now.last_loss)}.` : '',
  ];
  show(by_id('notes'), ...notes.filter(Boolean).map((one) => make('li', {}, one)));
}

const aside_until = (now) => (now.aside_for_ms ? Date.now() + now.aside_for_ms : 0);

function draw_figures(now) {
  // As text where available: a version may be larger than JavaScript's numbers.
  const versions = now.holders.length > 1
    ? now.holders.slice(0, most_holders).map((one) => one.version).join(', ') : now.version_text;
  show_text(by_id('version'), versions ?? '\u2013');
  show_text(by_id('version-note'), now.holder ? 'fencing token' : 'none is in force');
  by_id('copy').hidden = now.holders.length !== 1 || !navigator.clipboard;

  const [name, usual] = states[now.state] ?? [now.state, ''];
  const note = now.state !== 'candidate' || !now.not_campaigning ? usual
    : now.paused ? 'is paused' : now.aside_for_ms ? 'stands aside' : 'does not campaign';
  show_text(by_id('state'), name);
  show(by_id('state-note'), isolated(now.identity), note ? ` \u00b7 ${note}` : null);
}

// If the store does not list the members, the holders are known all the same.
function members_of(now) {
  return now.members ?? now.holders.map(({ identity }) => {
    const is_self = identity === now.identity;
    return { identity, is_self, state: is_self ? now.state : 'active' };
  });
}

// A holder that has vanished is one of the members until its lease ends.
function gone_of(now) {
  const members = members_of(now);
  return now.gone.filter((one) => members.every(({ identity }) => identity !== one.identity));
}

const vanished_of = (now) => members_of(now).filter((one) => one.state === 'vanished');

function draw_members(now, most) {
  const version_of = new Map(now.holders.map((one) => [one.identity, one.version]));
  const all = members_of(now), drawn = all.slice(0, most);
  const ranked = all.some((one) => one.priority);
  show(by_id('members'), ...drawn.map((one) => {
    const self = one.is_self ? [' ', make('span', { class: 'self' }, 'this agent')] : [];
    const version = now.slots > 1 && version_of.get(one.identity);
    const unready = one.ready === false;
    const state = state_name(one.state) + (version ? `, version ${version}` : '')
      + (unready ? ', not ready' : '') + (ranked ? `, priority ${one.priority}` : '');
    const next = one.identity === now.next ? [', ', make('b', {}, 'next')] : [];
    return make('li', { class: unready ? 'unready' : '' },
      make('span', { class: `dot ${one.state}`, 'aria-hidden': 'true' }),
      make('span', {}, isolated(one.identity), ...self),
      make('span', { class: 'state' }, state, ...next));
  }), ...(all.length > most ? [] : gone_of(now)).map((one) => make('li', {},
    make('span', { class: 'dot gone', 'aria-hidden': 'true' }),
    make('span', {}, isolated(one.identity)),
    make('span', { class: 'state' }, 'Gone, last seen ', time(one.last_seen)))));
  show_text(by_id('members-note'), !now.members ? 'The standbys are not known here.'
    : all.length ? '' : 'No members.');
  by_id('all-members').hidden = drawn.length === all.length;
  show_text(by_id('all-members'), `Show all ${all.length}`);
}

function draw_terms(history, most) {
  const terms = history?.terms ?? [], drawn = terms.slice(0, most), now = Date.now();
  const instants = drawn.flatMap((one) => [one.from, one.to]).filter(Boolean).map(Date.parse);
  const begin = Math.min(now, ...instants);
  show(by_id('terms'), ...drawn.flatMap((one) => [
    outage_text(one.outage_after)
      ? make('li', { class: 'gap' }, outage_text(one.outage_after)) : null,
    make('li', { class: one.ended ? '' : 'open' },
      make('b', {}, isolated(one.holder)),
      make('span', { class: 'track', 'aria-hidden': 'true' }, bar_of(one, begin, now)),
      make('span', { class: 'number' }, `version ${one.version_text}`),
      make('span', { class: 'how' }, ...course(one, history.holder_known)))]));
  const from = history?.complete_since;
  show(by_id('terms-note'), ...(from
    ? ['Complete since ', time(from), ', when this agent began to watch.'] : ['Not known yet.']));
  by_id('more-terms').hidden = drawn.length === terms.length;
}

// Drawn to scale between the first instant shown and now.
function bar_of(term, begin, now) {
  const from = term.from ? Date.parse(term.from) : begin;
  const to = !term.ended ? now : term.to ? Date.parse(term.to) : from;
  const share = (ms) => `${100 * Math.max(0, ms) / Math.max(1, now - begin)}%`;
  const bar = make('i', {});
  bar.style.left = `min(${share(from - begin)}, 100% - 3px)`;
  bar.style.width = share(to - from);
  return bar;
}

// "18:21:27 - 20:54:18, 2 h 32 min. Gave it up: told to resign."
function course(term, is_known) {
  const from = term.from ? time(term.from) : 'earlier';
  if (!term.ended) return [from, is_known || term.is_self ? ' \u2013 now' : ' \u2013 not known'];
  const lasted = term.from && term.to
    ? ` \u00b7 ${duration(Date.parse(term.to) - Date.parse(term.from))}` : '';
  return [from, ' \u2013 ', term.to ? time(term.to) : '?', `${lasted}. ${why(term)}.`];
}

function draw_facts(now, history) {
  const { health } = now;
  const facts = {
    Identity: [isolated(now.identity)],
    State: [state_name(now.state), ...since_when(now.since)],
    Workload: now.workload_running === null ? null
      : [now.workload_running ? 'runs here' : 'does not run here'],
    Health: !health ? ['not checked']
      : [health.state, health.reason ? `: ${health.reason}` : '', ...since_when(health.since)],
    Paused: [now.paused ? 'yes' : 'no'],
    Slots: [String(now.slots)],
    'Last loss here': now.last_loss ? [reason_text(now.last_loss)] : null,
    Store: [now.store.kind ?? 'not reached yet', now.cluster_id ? `, cluster ${now.cluster_id}` : '',
      now.store.reachable ? ', answers' : ', does not answer'],
    'Watching since': history ? [time(history.complete_since)] : null,
    'Run of the agent': now.agent ? [now.agent] : null,
  };
  const known = Object.entries(facts).filter(([, value]) => value);
  show(by_id('facts'), ...known.flatMap(([name, value]) => [
    make('dt', {}, name), make('dd', {}, ...value)]));
}

const since_when = (rfc3339) => (rfc3339 ? [', since ', time(rfc3339)] : []);

// Names go into a shell command: only those that no shell misreads or takes for an option.
function draw_commands(now) {
  const is_plain = (name) => /^[A-Za-z0-9][A-Za-z0-9._:@/-]*$/.test(name);
  const waits = (one) => ['standby', 'candidate'].includes(one.state) && is_plain(one.identity);
  const heirs = now.members?.filter(waits) ?? [];
  const heir = heirs.find((one) => one.identity === now.next) ?? heirs[0];
  const orders = now.state === 'observer' ? [] : [now.paused ? 'resume' : 'pause'];
  // Any agent passes these on to the holder.
  const is_held = now.holder_known && now.holders.length === 1;
  if (is_held) orders.unshift('resign');
  if (is_held && heir) orders.unshift(`transfer ${heir.identity}`);
  by_id('orders').hidden = !orders.length || !is_plain(now.election);
  const flags = `--api ${location.origin} --token-file FILE`;
  show(by_id('commands'), ...(is_plain(now.election) ? orders : []).map((order) => make('li', {},
    make('code', {}, `tenure ${order} ${now.election} ${flags}`))));
}
