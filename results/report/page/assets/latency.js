// drawLatency shows how long answers took, by outcome, from when a request was
// sent and from when it was due.
const drawLatency = () => {
  const all = data.latency || [];
  if (all.length === 0) return;
  const shares = data.shares, far = Math.max(...all.map((l) => l.count));
  const place = (share) => Math.min(-Math.log10(1 - share / 100), Math.log10(Math.max(far, 10)) + 0.15);
  const most = place(100), values = all.flatMap((l) => l.ns).filter((v) => v > 0);
  const low = Math.floor(Math.log10(Math.min(...values))), high = Math.ceil(Math.log10(Math.max(...values)));
  const powers = Array.from({ length: high - low + 1 }, (_, i) => 10 ** (low + i));
  const p = plot({
    width: room(600),
    x: (share) => place(share) / most, y: (v) => (Math.log10(Math.max(v, 1)) - low) / (high - low || 1), xName: 'share of the requests, %', yName: 'time to the answer',
    xTicks: [0, 50, 90, 99, 99.9, 99.99].filter((s) => place(s) < most - 0.05).map((s) => [s, String(s)]), yTicks: powers.map((v) => [v, span(v)]), label: 'Time to the answer by share of the requests',
  });
  for (const l of all) p.line(l.ns.map((v, i) => [shares[i], v]), { style: `stroke:var(--${l.outcome})`, 'stroke-width': l.planned ? 1.6 : 2.4, 'stroke-dasharray': l.planned ? '5 4' : '' });
  const names = [...new Set(all.map((l) => l.outcome))];
  const box = $('latency').querySelector('.plot');
  box.append(p.svg, keyed([...names.map((n) => [n, '', n + ', from when it was sent']), ['ink', '5 4', 'from when it was due: late sending counts too']]), table(all, shares));
  $('latency').hidden = false;
};

const table = (all, shares) => {
  const told = [50, 90, 99, 99.9, 100];
  const cell = (name, text) => make(name, {}, text);
  const rowsOf = all.map((l) => make('tr', {}, make('td', { class: 'text' }, l.outcome + (l.planned ? ', from due' : ', from sent')), cell('td', l.count.toLocaleString('en')), ...told.map((s) => cell('td', span(l.ns[shares.indexOf(s)], 3)))));
  const head = make('tr', {}, cell('th', ''), cell('th', 'requests'), ...told.map((s) => cell('th', s === 100 ? 'most' : s + ' %')));
  return make('details', {}, make('summary', {}, 'In numbers'), make('div', { class: 'scroll' }, make('table', {}, make('thead', {}, head), make('tbody', {}, ...rowsOf))));
};
