// Follows one election.

const terms_again_ms = 15000; // the bar of the present term grows
const tenths_below_ms = 5000; // below this, tenths of a second are shown

const nothing_yet = {
  now: null, // the newest election JSON
  history: null,
  history_of: '', // the part of the election JSON that it belongs to
  lease: null, // { version, left_ms, read: instant, whole_ms }
  heard_at: 0, // the newest event, by the steady clock
  read: null, // instant: when the newest answer was asked for, or came as an event
  announced: '',
  drawn: '',
  drawn_terms: '',
  terms_shown: most_terms,
  members_shown: most_members,
};

const detail = {
  ...nothing_yet,

  view(name) {
    Object.assign(this, nothing_yet);
    const path = `/v1/elections/${encodeURIComponent(name)}`;
    by_id('json').href = path;
    show_text(by_id('json'), path);
    return {
      reads: path,
      events: `${path}/events`,
      store: () => this.now?.store,
      take: (body, sent) => this.take(body, sent),
      heard: (body) => {
        this.heard_at = performance.now();
        this.take(body, null);
        feed.read();
      },
    };
  },

  // `sent`: when the answer was requested; null for an event, whose time left is as old as the event.
  take(body, sent) {
    // An event may have overtaken this read; another read is on its way. By the API's rules, a
    // smaller index is not an older one.
    if (sent && sent.steady < this.heard_at && body.index !== this.now.index) return;
    const same = this.lease?.version === body.version_text;
    if (sent && body.expires_in_ms !== null) {
      const left_ms = body.expires_in_ms, most_ms = same ? this.lease.whole_ms : 0;
      const whole_ms = Math.max(left_ms, most_ms);
      this.lease = { version: body.version_text, left_ms, read: sent, whole_ms };
    } else if (sent || !same) {
      this.lease = null;
    }
    this.now = body;
    this.read = sent ?? instant();
    by_id('detail').hidden = false;
    this.draw();
    this.tick();
    this.read_history();
  },

  async read_history() {
    const { now } = this, path = `/v1/elections/${encodeURIComponent(now.election)}/history`;
    const of = JSON.stringify([now.agent, now.holders, now.holder_known, now.state, now.last_loss,
      now.last_term]);
    if (of === this.history_of) return;
    this.history_of = of;
    try {
      const body = (await get(path, AbortSignal.timeout(patience_ms))).body;
      if (this.history_of !== of) return;
      if (!body) throw new Error('it has none');
      this.history = body;
      this.draw();
      this.tick();
    } catch {
      // Try again with the next read of the election.
      if (this.history_of === of) this.history_of = '';
    }
  },

  // Draws only what has changed, so as not to disturb selected text and screen readers.
  draw() {
    const { now, history } = this;
    const aside = Math.round(aside_until(now) / 5000);
    const still = { ...now, expires_in_ms: 0, as_of: 0, aside_for_ms: aside, holder_age_ms: 0,
      not_campaigning: now.not_campaigning?.reason, store: [now.store.reachable, now.store.why] };
    const of = JSON.stringify([still, history?.as_of]);
    if (of !== this.drawn) {
      this.drawn = of;
      draw_claim(now, history);
      draw_figures(now);
      draw_members(now, this.members_shown);
      draw_facts(now, history);
      draw_commands(now);
      this.announce();
    }
    const of_terms = [of, Math.floor(Date.now() / terms_again_ms)].join();
    if (of_terms !== this.drawn_terms) {
      this.drawn_terms = of_terms;
      draw_terms(history, this.terms_shown);
    }
  },

  announce() {
    const { now } = this, names = now.holders.map((one) => one.identity);
    const who = names.join(', ') || 'Nobody';
    const what = now.holder_known
      ? `${who} ${names.length > 1 ? 'hold' : 'holds'} ${now.election}`
      : `Who holds ${now.election} is not known`;
    document.title = `${what} \u00b7 Tenure`;
    const news = now.holder_known && now.holder ? `${what}, version ${now.version_text}` : what;
    if (this.announced && this.announced !== news) show(by_id('news'), news);
    this.announced = news;
  },

  // What moves with the clock.
  tick() {
    if (!this.now) return;
    const { now } = this, age_ms = elapsed(this.read);
    draw_summary(summary_of(now, age_ms), feed.vouched());
    by_id('detail').classList.toggle('stale', !now.holder_known);
    this.tick_since();
    const left_ms = this.lease && Math.max(0, this.lease.left_ms - elapsed(this.lease.read));
    const [title, text, note] = this.time_left(left_ms, age_ms);
    show_text(by_id('left-title'), title);
    show_text(by_id('left'), text);
    show_text(by_id('left-note'), note);
    by_id('bar').parentElement.hidden = !this.lease;
    by_id('bar').style.transform = `scaleX(${left_ms ? left_ms / this.lease.whole_ms : 0})`;
  },

  tick_since() {
    const { now, history } = this, element = by_id('since');
    const sure = feed.vouched() && now.holder_known;
    const one = now.slots === 1 && now.holder;
    const term = history?.terms.find((of) => of.version_text === now.version_text && !of.ended);
    const from = one && term?.from, before = one && !from && history?.complete_since;
    const of = [sure, feed.vouched(), now.identity, now.holders.length, from, before].join();
    if (element.dataset.of !== of) {
      element.dataset.of = of;
      show(element, ...this.since(sure, from, before), make('span', {}));
    }
    const lasts = from && sure ? ` \u00b7 ${duration(Date.now() - Date.parse(from))}` : '';
    const old = feed.vouched() && !now.holder_known && now.holder_age_ms !== null
      ? `, ${duration(now.holder_age_ms + elapsed(this.read))} ago` : '';
    show_text(element.lastChild, lasts + old);
  },

  since(sure, from, before) {
    const { now } = this;
    const then = sure ? '' : `, when the ${feed.vouched() ? 'store' : 'agent'} last answered`;
    if (!now.holder) {
      if (!now.holder_known) return ['holds it now: the store does not answer'];
      if (!sure) return [`held it${then}`];
      return ['holds it, as far as ', isolated(now.identity), ' can see'];
    }
    if (now.slots > 1) {
      const verb = !sure ? 'held' : now.holders.length > 1 ? 'hold' : 'holds';
      return [`${verb} ${now.holders.length} of ${now.slots} slots${then}`];
    }
    if (!from && !before) return [`${sure ? 'holds' : 'held'} it${then}`];
    return [sure ? 'has held it since ' : 'held it from ', from ? null : 'before ',
      time(from || before), sure ? null : ` on${then}`];
  },

  // What it is, in words, and what it means.
  time_left(left_ms, age_ms) {
    const { lease, now } = this, own = now.holder === now.identity, title = 'Time left';
    if (!now.holder) return [title, '\u2013', now.holder_known ? 'nobody holds a lease' : 'not known'];
    if (!lease) {
      if (now.holder_age_ms === null) return [title, '\u2013', 'not known here'];
      const ago = duration(now.holder_age_ms + (feed.vouched() ? age_ms : elapsed(feed.answered)));
      return ['Last confirmed', `${ago} ago`, `by ${now.store.kind}, which does not say for how long`];
    }
    if (left_ms > 0) {
      const tenths = lease.whole_ms < tenths_below_ms;
      return [title, `${tenths ? (left_ms / 1000).toFixed(1) : Math.ceil(left_ms / 1000)} s`,
        own ? 'until it stops here, unless renewed' : 'until it runs out, unless renewed'];
    }
    if (feed.vouched()) {
      return [title, '0 s', own ? 'over' : 'run out, as far as this agent sees'];
    }
    return [title, '?',
      `was to last until ${time_text(lease.read.wall + lease.left_ms)}, unless renewed`];
  },
};

by_id('copy').addEventListener('click', async () => {
  try {
    await navigator.clipboard.writeText(detail.now.version_text);
    show_text(by_id('news'), 'Copied');
    show_text(by_id('copy'), 'Copied');
  } catch {
    getSelection().selectAllChildren(by_id('version'));
  }
  setTimeout(() => show_text(by_id('copy'), 'Copy'), 1500);
});
by_id('more-terms').addEventListener('click', () => {
  detail.terms_shown += 4 * most_terms;
  draw_terms(detail.history, detail.terms_shown);
});
by_id('all-members').addEventListener('click', () => {
  detail.members_shown = Infinity;
  draw_members(detail.now, detail.members_shown);
});
