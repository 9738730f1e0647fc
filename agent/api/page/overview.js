// All elections of the agent, perhaps ten thousand: one page of them is drawn, and of the others
// only the searchable text is kept.

const overview = {
  all: new Map(),
  filter: 'all',
  page: 0,
  drawn: 0,

  filters: {
    all: ['all', () => true],
    here: ['held here', (one) => one.is_self],
    vacant: ['held by nobody', (one) => one.known && !one.holder],
    doubt: ['not known', (one) => !one.known],
    paused: ['paused', (one) => one.paused],
  },
  rows: 50,

  view(single) {
    by_id('json').href = '/v1/elections';
    show_text(by_id('json'), '/v1/elections');
    return {
      reads: '/v1/elections',
      heartbeat: '/livez',
      events: '/v1/events',
      store: () => this.store,
      patience: 20000,
      take: (body) => {
        if (body.elections.length === 1) return single(body.elections[0].election);
        this.all.clear();
        body.elections.forEach((one) => this.keep(one));
        this.draw();
      },
      heard: (body) => {
        this.keep(body);
        this.draw_soon();
      },
    };
  },

  keep(one) {
    this.identity = one.identity;
    this.store = one.store;
    this.read = instant();
    this.all.set(one.election, {
      name: one.election,
      holder: one.holder ?? '',
      known: one.holder_known,
      holders: one.holders.length,
      version: one.version_text,
      state: one.state,
      is_self: one.is_self,
      paused: one.paused,
      words: `${one.election}\n${one.holders.map((h) => h.identity).join('\n')}`.toLowerCase(),
    });
  },

  // Draws at most once in a while, however many events arrive.
  draw_soon() {
    this.drawn ||= setTimeout(() => this.draw(), 200);
  },

  leave() {
    clearTimeout(this.drawn);
    this.drawn = 0;
    by_id('overview').hidden = true;
  },

  // Updates what changes with time.
  tick() {
    if (by_id('overview').hidden || !this.all.size) return;
    const all = [...this.all.values()];
    draw_summary(summary_of_all(all, this.store, elapsed(this.read)), feed.vouched());
  },

  draw() {
    clearTimeout(this.drawn);
    this.drawn = 0;
    by_id('overview').hidden = false;
    document.title = `${this.all.size} elections \u00b7 Tenure`;
    const everything = [...this.all.values()];
    show(by_id('agent'), ...(everything.length
      ? ['As ', isolated(this.identity), ` sees them${this.store.kind ? `, in ${this.store.kind}` : ''}.`]
      : ['The agent has not started its elections yet.']));
    this.draw_filters(everything);
    const wanted = by_id('search').value.trim().toLowerCase();
    const [, passes] = this.filters[this.filter];
    const found = everything.filter((one) => passes(one) && one.words.includes(wanted));
    this.page = Math.max(0, Math.min(this.page, Math.ceil(found.length / this.rows) - 1));
    const first = this.page * this.rows, shown = found.slice(first, first + this.rows);
    this.draw_rows(shown);
    by_id('none').hidden = found.length > 0;
    by_id('search').hidden = this.all.size <= 5;
    by_id('pages').hidden = found.length <= this.rows;
    by_id('previous').disabled = !this.page;
    by_id('next').disabled = first + this.rows >= found.length;
    const of = found.length.toLocaleString('en');
    show_text(by_id('range'), `${first + 1} to ${first + shown.length} of ${of}`);
  },

  draw_filters(everything) {
    for (const [code, [label, passes]] of Object.entries(this.filters)) {
      let button = by_id(`filter-${code}`);
      if (!button) {
        button = make('button', { id: `filter-${code}`, type: 'button' });
        button.addEventListener('click', () => {
          this.filter = code;
          this.page = 0;
          this.draw();
        });
        by_id('filters').append(button);
      }
      const count = everything.filter(passes).length;
      button.hidden = code !== 'all' && code !== this.filter && !count;
      button.setAttribute('aria-pressed', String(code === this.filter));
      show_text(button, `${count.toLocaleString('en')} ${label}`);
    }
  },

  // Rows are changed, not replaced: the keyboard focus stays on its link.
  draw_rows(shown) {
    const rows = by_id('rows');
    while (rows.children.length > shown.length) rows.lastChild.remove();
    while (rows.children.length < shown.length) {
      rows.append(make('tr', {},
        make('th', { scope: 'row' }, make('a', {}, make('bdi', {}))),
        make('td', {}, make('bdi', {}), make('span', {})),
        make('td', { class: 'number' }),
        make('td', {})));
    }
    shown.forEach((one, i) => {
      const [name, holder, version, state] = rows.children[i].children;
      name.firstChild.href = `#${encodeURIComponent(one.name)}`;
      show_text(name.firstChild.firstChild, one.name);
      show_text(holder.firstChild, one.holder || (one.known ? 'nobody' : 'not known'));
      show_text(holder.lastChild, one.holders > 1 ? ` and ${one.holders - 1} more` : '');
      holder.className = one.holder && one.known ? '' : 'quiet';
      show_text(version, one.version ?? '\u2013');
      show_text(state, state_name(one.state) + (one.paused ? ', paused' : ''));
      state.className = one.is_self ? 'active' : 'quiet';
    });
  },
};

by_id('search').addEventListener('input', () => {
  overview.page = 0;
  overview.draw_soon();
});
for (const [id, by] of [['previous', -1], ['next', 1]]) {
  by_id(id).addEventListener('click', () => {
    overview.page += by;
    overview.draw();
  });
}
