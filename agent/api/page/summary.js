// Whether all is well: in one line, in the title and in the icon.

// The colours of the light theme: the browser draws tabs.
const colours = { good: '#0b6b50', warning: '#9a5b00', bad: '#b3261e', unknown: '#77736a' };

function draw_icon(level) {
  const icon = by_id('icon');
  if (icon.dataset.level === level) return;
  icon.dataset.level = level;
  icon.href = `data:image/svg+xml,${encodeURIComponent(
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="4"
 fill="${colours[level]}"/><circle cx="8" cy="8" r="3.5" fill="#fff"/></svg>`)}`;
}

// "etcd answers", "etcd does not answer, for 12 s"
function store_words(store, age_ms) {
  const kind = store.kind ?? 'the store';
  if (store.reachable) return `${kind} answers`;
  return store.last_answer_ms === null ? `${kind} has not answered yet`
    : `${kind} does not answer, for ${duration(store.last_answer_ms + age_ms)}`;
}

function level_of(now) {
  const is_ill = now.health?.state === 'unhealthy';
  if (!now.store.reachable || !now.holder_known || !now.holder || is_ill) return 'bad';
  if (vanished_of(now).length) return 'bad';
  const is_busy = ['pending', 'draining', 'stopped'].includes(now.state);
  const is_held_back = now.not_campaigning || now.paused;
  return is_busy || is_held_back || now.health?.reason || now.gone.length ? 'warning' : 'good';
}

// "a has vanished, its lease ends in 4 s, then b comes next"
function vanished_text(now, age_ms) {
  const names = vanished_of(now).map((one) => one.identity), one = names.length === 1;
  const ends = one && now.expires_in_ms !== null
    ? `ends in ${duration(now.expires_in_ms - age_ms)}` : one ? 'ends soon' : 'end soon';
  return `${names.join(', ')} ${one ? 'has' : 'have'} vanished, ${one ? 'its lease' : 'their leases'} ${ends}`
    + (now.next ? `, then ${now.next} comes next` : '');
}

// "All is well: 1 active, 2 standby, etcd answers"
function summary_of(now, age_ms) {
  const level = level_of(now), of = {};
  for (const one of members_of(now)) {
    const name = (one.state === 'candidate' ? 'standby' : one.state).replace('unknown', 'not known');
    of[name] = (of[name] ?? 0) + 1;
  }
  const counts = Object.entries(of).map(([state, count]) => `${count} ${state}`);
  if (gone_of(now).length) counts.push(`${gone_of(now).length} gone`);
  const what = !now.holder_known ? 'Who is active is not known'
    : !now.holder ? 'Nobody is active'
      : now.health?.state === 'unhealthy' ? 'The workload here is unhealthy'
        : !now.store.reachable ? 'The store does not answer'
          : vanished_of(now).length ? vanished_text(now, age_ms)
            : level === 'warning' ? 'It works, but not all is well' : 'All is well';
  return [level, `${what}: ${[...counts, store_words(now.store, age_ms)].join(', ')}`];
}

// For many elections.
function summary_of_all(all, store, age_ms) {
  const count = (is) => all.filter(is).length;
  const vacant = count((one) => one.known && !one.holder), doubt = count((one) => !one.known);
  const level = !store.reachable || doubt || vacant ? 'bad' : 'good';
  const parts = [`${count((one) => one.known && one.holder).toLocaleString('en')} held`];
  if (vacant) parts.push(`${vacant.toLocaleString('en')} held by nobody`);
  if (doubt) parts.push(`${doubt.toLocaleString('en')} not known`);
  const what = level === 'good' ? 'All is well' : 'Not all is well';
  return [level, `${what}: ${[...parts, store_words(store, age_ms)].join(', ')}`];
}

// `sure`: the agent confirms it now.
function draw_summary([level, text], sure) {
  const shown = sure ? level : 'unknown', summary = by_id('summary');
  summary.hidden = !text;
  summary.className = shown;
  show_text(summary, sure ? text : `${text}, when the agent last answered`);
  draw_icon(shown);
}
