'use strict';
// Everything that an agent says is shown as plain text: strings become text nodes, and the policy
// of this page forbids anything else.

const by_id = (id) => document.getElementById(id);

// Skips null content.
function make(tag, traits, ...content) {
  const out = document.createElement(tag);
  for (const [name, value] of Object.entries(traits)) {
    if (value) out.setAttribute(name, value);
  }
  out.append(...content.filter((one) => one !== null));
  return out;
}

// Names may be in any script and direction; they must not affect the text around them.
const isolated = (name) => make('bdi', {}, name);

function show(element, ...content) {
  element.replaceChildren(...content.filter((one) => one !== null));
}

function show_text(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

const zoned = (options) => new Intl.DateTimeFormat('en-GB', { hourCycle: 'h23', ...options });
const of_today = zoned({ timeStyle: 'medium' });
const of_this_year = zoned({ day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' });
const of_any = zoned({ dateStyle: 'medium', timeStyle: 'short' });

function time_text(ms) {
  const then = new Date(ms), today = new Date();
  if (then.toDateString() === today.toDateString()) return of_today.format(then);
  return (then.getFullYear() === today.getFullYear() ? of_this_year : of_any).format(then);
}

function time(rfc3339) {
  const utc = rfc3339.replace('T', ' ').replace('Z', ' UTC');
  return make('time', { datetime: rfc3339, title: utc }, time_text(Date.parse(rfc3339)));
}

function duration(ms) {
  const s = Math.max(0, Math.floor(ms / 1000));
  const pair = (most, unit, rest, part) => `${most} ${unit}${rest ? ` ${rest} ${part}` : ''}`;
  if (s < 60) return `${s} s`;
  if (s < 3600) return pair(Math.floor(s / 60), 'min', s % 60, 's');
  if (s < 86400) return pair(Math.floor(s / 3600), 'h', Math.floor(s / 60) % 60, 'min');
  return pair(Math.floor(s / 86400), 'd', Math.floor(s / 3600) % 24, 'h');
}

// As log and commands say it: "480 ms", "5.2 s".
function exact(ms) {
  return ms < 1000 ? `${ms} ms` : ms < 60000 ? `${Math.round(ms / 100) / 10} s` : duration(ms);
}

const at_most = (outage, text) => (outage.at_most ? `at most ${text}` : text);

// How a term ended, by the API's reason code.
const reasons = {
  __proto__: null,
  resigned: ['gave it up', 'told to resign'],
  preempted: ['gave it up', 'a member of higher priority was ready'],
  shutdown: ['gave it up', 'shut down'],
  unhealthy: ['gave it up', 'its workload was unhealthy'],
  workload_exited: ['gave it up', 'its workload had ended'],
  guard_gone: ['gave it up', 'its guard had ended'],
  container_died: ['gave it up', 'its container had ended'],
  renew_timeout: ['lost it', 'it could not renew its lease in time'],
  taken_over: ['lost it', 'another member had taken it'],
  session_invalid: ['lost it', 'the store had ended its session'],
  revoked: ['lost it', 'its lease was revoked in the store'],
  suspended: ['lost it', 'its machine had slept through the lease'],
  version_regressed: ['lost it', 'the store had gone back to an older state'],
  ttl_too_short: ['gave it up', 'the lease was too short for its settings'],
  expired: ['lost it', 'its lease ran out or was deleted; it left no release record'],
};

const verb_of = (code) => (reasons[code] ?? ['lost it'])[0];
const reason_text = (code) => (reasons[code] ?? ['', code])[1];

// "b gave it up at 21:04:11: told to resign."
function ending(term) {
  const who = isolated(term.holder), at = term.to ? [' at ', time(term.to)] : [];
  const after = outage_text(term.outage_after), then = after && ` ${after}.`;
  if (!term.reason) return [who, ' held it before; it ended', ...at, `, and why is not known.${then}`];
  return [who, ` ${verb_of(term.reason)}`, ...at, `: ${reason_text(term.reason)}.${then}`];
}

// Empty for an orderly hand-over, which takes milliseconds.
function outage_text(outage) {
  const shortest_ms = 1000;
  if (!outage) return '';
  if (outage.lasted_ms === null) {
    const lasts = duration(Date.now() - Date.parse(outage.from));
    return `No member has been active for ${at_most(outage, lasts)}`;
  }
  if (outage.lasted_ms < shortest_ms) return '';
  return `No member was active for ${at_most(outage, exact(outage.lasted_ms))}`;
}

// "Gave it up: told to resign"
function why(term) {
  if (!term.reason) return 'Why it ended is not known';
  const verb = verb_of(term.reason);
  return `${verb[0].toUpperCase()}${verb.slice(1)}: ${reason_text(term.reason)}`;
}

// States of members, by the API's code: a name and its meaning.
const states = {
  __proto__: null,
  observer: ['Observer', 'watches only'],
  candidate: ['Standby', 'waits for its turn'],
  standby: ['Standby', 'waits for its turn'],
  pending: ['Pending', 'waits until the previous term is surely over'],
  active: ['Active', 'its workload may run'],
  vanished: ['Vanished', 'its lease has not ended yet'],
  draining: ['Draining', 'stops its workload'],
  stopped: ['Stopped', 'no longer takes part'],
  unknown: ['Not known', ''],
};

const state_name = (code) => (states[code] ?? [code])[0];
