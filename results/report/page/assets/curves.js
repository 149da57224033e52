// admissions are the moments by which a row had surely admitted one more, of the
// requests that were sent from a moment on. Where too little is admitted it is what
// may have spent a token since that moment, from when it was sent. Sums stand for
// what is not here one by one.
const admissions = (row, from, to, least) => {
  if (least && (data.exact || row.requests.length > 0)) {
    return row.requests.filter((r) => r[OUTCOME] !== 2 && r[SENT] <= to && (r[TOOK] < 0 || r[SENT] + r[TOOK] + data.slack >= from)).map((r) => [Math.max(r[SENT], from), r[COST] || 1]).sort((a, b) => a[0] - b[0]);
  }
  const single = row.requests.filter((r) => r[OUTCOME] === 1 && r[SENT] >= from && r[TOOK] >= 0 && r[SENT] + r[TOOK] <= to);
  if (data.exact || single.length > 0) {
    return single.map((r) => [r[SENT] + r[TOOK], r[COST] || 1]).sort((a, b) => a[0] - b[0]);
  }
  return row.sums[1].map((n, c) => [(c + 1) * data.width, n]).filter(([t, n]) => n && t >= from && t <= to);
};

const drawCurve = (c, index, all) => {
  const row = c.lane < 0 ? everything : rows[c.lane], f = c.finding < 0 ? null : data.findings[c.finding];
  const end = Math.min(c.from + c.step * (c.allowed.length - 1), Math.max(data.end, c.to));
  const least = Boolean(f && f.check === 'bound.lower');
  const steps = [[c.from, 0]];
  let n = 0;
  for (const [t, cost] of admissions(row, c.from, end, least)) { steps.push([t, n]); n += cost; steps.push([t, n]); }
  steps.push([end, n]);
  const promise = c.allowed.map((a, i) => [c.from + i * c.step, a]).filter(([t]) => t <= end);
  const most = 1.08 * Math.max(n, ...promise.map((p) => p[1]), 1);
  const yt = ticks(0, most, 5), xt = ticks(c.from, end, room(600) / 100);
  const p = plot({
    width: room(all.length > 1 ? 600 : 820), height: all.length > 1 ? 300 : 280, x: linear(c.from, end), y: linear(0, most), xName: 'time since the run began', yName: 'requests admitted since ' + moment(c.from, 1e6),
    yTicks: yt.all.map((v) => [v, number(v)]), xTicks: xt.all.map((t) => [t, moment(t, xt.step)]),
    label: 'Requests admitted on ' + row.name + ' against what the promise allows',
  });
  if (f) {
    p.add('rect', { x: p.px(f.from), width: Math.max(1, p.px(f.to) - p.px(f.from)), y: p.top, height: p.bottom - p.top, style: 'fill:var(--breach-wash)' });
    p.add('line', { x1: p.px(f.to), x2: p.px(f.to), y1: p.top, y2: p.bottom, style: 'stroke:var(--breach)', 'stroke-dasharray': '4 3' });
  }
  for (const r of row.requests) {
    if (r[OUTCOME] !== 2 || r[SENT] < c.from || r[SENT] > end) continue;
    const named = f && (proofs.get(r[SEQ]) || []).includes(f) || f && f.seqs && f.seqs.includes(r[SEQ]);
    p.add('line', { x1: p.px(r[SENT]), x2: p.px(r[SENT]), y1: p.bottom, y2: p.bottom - (named ? 22 : 9), style: `stroke:var(--${named ? 'breach' : 'limited'})`, 'stroke-width': named ? 2.5 : 1.2 });
  }
  p.line(promise, { style: 'stroke:var(--ink)', 'stroke-width': 2, 'stroke-dasharray': '7 4' });
  p.line(steps, { style: 'stroke:var(--admitted)', 'stroke-width': 2.5 });
  const at = (t) => steps.filter(([u]) => u <= t).pop()[1];
  if (f) {
    p.add('circle', { cx: p.px(f.to), cy: p.py(at(f.to)), r: 5, style: 'fill:var(--breach);stroke:var(--panel)', 'stroke-width': 2 });
    const late = p.px(f.to) > (p.left + p.right) / 2;
    p.add('text', { class: 'bad', x: p.px(f.to) + (late ? -9 : 9), y: Math.max(p.top + 12, p.py(at(f.to)) - 9), 'text-anchor': late ? 'end' : 'start' }, least ? 'refused after ' + number(at(f.to)) : number(at(f.to)) + ' admitted');
  }
  const figure = make('figure', {}, p.svg, keyed([['admitted', '', 'admitted'], ['ink', '7 4', 'the most that the promise allows'], ['limited', '', 'refusals, on the axis'], ...(f ? [['breach', '', 'the window that proves it']] : [])]));
  figure.append(make('figcaption', {}, make('b', {}, (f ? f.check + ' on ' : '') + row.name), ': ' + (f ? f.text : 'the run as it went, on the key with the most requests')));
  return figure;
};

const drawCurves = () => {
  if (data.curves.length === 0) return;
  $('curves').hidden = false;
  $('curves').querySelector('.grid').append(...data.curves.map(drawCurve));
};
