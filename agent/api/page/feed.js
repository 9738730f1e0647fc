// Asks the agent, and decides whether its answers can be believed now.

const every_ms = 2000;
const patience_ms = 4000;
const stream_again_ms = 30000;

// Milliseconds since an instant, by the clock that has advanced further: the monotonic one may stop
// while the machine sleeps, the wall clock may be set back. Time left is rather too short.
function elapsed(instant) {
  return Math.max(performance.now() - instant.steady, Date.now() - instant.wall);
}
const instant = () => ({ steady: performance.now(), wall: Date.now() });

// { body } of a good answer, {} if it is unchanged, { problem } in the agent's words.
async function get(path, signal, headers = {}) {
  const answer = await fetch(path, {
    signal,
    headers: { Accept: 'application/json', ...headers },
    cache: 'no-store',
    redirect: 'error',
  });
  if (answer.status === 304) return {};
  const body = await answer.json();
  if (answer.ok) return { body, etag: answer.headers.get('ETag') };
  return { problem: body.error?.message ?? `The agent answers ${answer.status}.` };
}

// Follows one view at a time: { reads, heartbeat, events, take(body, sent), heard(body), store() }.
// Events report changes at once; reads show the time left of the lease, and that the agent still
// answers. A hidden page follows nothing: browsers share a few connections among all tabs.
const feed = {
  view: null,
  etag: null,
  stream: null,
  streaming: false,
  lost: false,
  answered: null, // when the last answer was asked for
  problem: '',
  reading: null,
  again: false, // read once more as soon as this one is done
  timer: 0,
  stream_timer: 0,

  follow(view) {
    this.stop();
    this.view = view;
    this.etag = null;
    if (!document.hidden) this.read();
  },

  stop() {
    clearTimeout(this.timer);
    clearTimeout(this.stream_timer);
    this.reading?.abort();
    this.reading = null;
    this.stream?.close();
    this.stream = null;
    this.streaming = false;
  },

  open_stream() {
    clearTimeout(this.stream_timer);
    const stream = this.stream = new EventSource(this.view.events);
    stream.onopen = () => {
      this.streaming = true;
      refresh();
    };
    stream.onerror = () => {
      this.streaming = false;
      // The browser reconnects by itself, unless the agent said that there is no stream.
      if (stream.readyState === EventSource.CLOSED) {
        this.stream_timer = setTimeout(() => this.open_stream(), stream_again_ms);
      }
      this.read();
    };
    stream.addEventListener('election', (event) => {
      this.view.heard(JSON.parse(event.data));
    });
  },

  async read() {
    clearTimeout(this.timer);
    this.again = this.reading !== null;
    if (this.again) return;
    const { view } = this, mine = this.reading = new AbortController();
    const sent = instant(), path = this.streaming && view.heartbeat ? view.heartbeat : view.reads;
    const deadline = setTimeout(() => mine.abort(), view.patience ?? patience_ms);
    try {
      // An unchanged list is not sent again; the time left of a lease always changes.
      const is_known = view.heartbeat && path === view.reads && this.etag;
      const got = await get(path, mine.signal, is_known ? { 'If-None-Match': this.etag } : {});
      if (this.reading !== mine) return;
      const is_back = this.lost && this.stream?.readyState === EventSource.CLOSED;
      this.lost = false;
      this.answered = sent;
      this.problem = got.problem ?? '';
      if (got.body && path === view.reads) {
        this.etag = got.etag;
        view.take(got.body, sent);
      }
      // Not before the first answer, which may have switched to another view.
      if (this.view === view && !this.problem && (!this.stream || is_back)) this.open_stream();
    } catch {
      if (this.reading !== mine) return;
      this.lost = true;
    } finally {
      clearTimeout(deadline);
      if (this.reading === mine) {
        this.reading = null;
        // An agent with very many elections takes long to list them: ask it less often.
        const pause = this.again ? 0 : Math.max(every_ms, 5 * elapsed(sent));
        this.timer = setTimeout(() => this.read(), pause);
        refresh();
      }
    }
  },

  // False if nobody confirms what is shown.
  vouched() {
    return !this.lost && !this.problem && this.answered !== null &&
      elapsed(this.answered) < 2 * Math.max(every_ms, this.view.patience ?? patience_ms);
  },
};

document.addEventListener('visibilitychange', () => {
  if (document.hidden) feed.stop();
  else if (feed.view) feed.read();
});

function draw_link() {
  const said = feed.vouched();
  document.documentElement.classList.toggle('stale', feed.answered !== null && !said);
  // The agent answers, but what it says may be old.
  const silent = said && feed.view.store?.()?.reachable === false;
  by_id('link').className = !said || silent ? '' : feed.streaming ? 'live' : 'polling';
  show_text(by_id('link'), feed.lost ? 'Not connected' : !said ? 'Asking the agent'
    : silent ? 'The agent answers, its store does not'
      : feed.streaming ? 'Live' : `Polling every ${every_ms / 1000} s`);
  // Written once, not at each tick: screen readers read every change here aloud.
  const what = feed.lost ? `lost ${feed.answered?.wall ?? ''}` : feed.problem;
  const banner = by_id('lost');
  if (banner.dataset.what === what) return;
  banner.dataset.what = what;
  if (!feed.lost) return show(banner, feed.problem);
  if (!feed.answered) return show(banner, 'The agent does not answer.');
  const last = new Date(feed.answered.wall).toISOString();
  show(banner, 'The agent has not answered since ', time(last),
    '. Grey values are from then, and may have changed.');
}
