// drawCurve shows what a limit allows from a moment on, and what it admitted.
const drawCurve = (c, index, all) => {
  const row = c.lane < 0 ? everything : rows[c.lane], f = c.finding < 0 ? null : data.findings[c.finding];
  const end = Math.min(c.from + c.step * (c.allowed.length - 1), Math.max(data.end, c.to));
  const steps = [[c.from, 0]];
  let n = 0;
  for (const [t, cost] of c.admitted.filter(([t]) => t <= end)) { steps.push([t, n]); n += cost; steps.push([t, n]); }
  steps.push([end, n]);
  const promise = c.allowed.map((a, i) => [c.from + i * c.step, a]).filter(([t]) => t <= end);
  const most = 1.08 * Math.max(n, ...promise.map((p) => p[1]), 1);
  const yt = ticks(0, most, 5), xt = ticks(c.from, end, room(600) / 100);
  const p = plot({
    width: room(all.length > 1 ? 600 : 820), height: all.length > 1 ? 300 : 280, x: linear(c.from, end), y: linear(0, most), xName: 'time since the run began', yName: 'requests since ' + moment(c.from, 1e6),
    yTicks: yt.all.map((v) => [v, number(v)]), xTicks: xt.all.map((t) => [t, moment(t, xt.step)]),
    label: 'Requests admitted on ' + row.name + ' against what the promise allows',
  });
  if (f) {
    p.add('rect', { x: p.px(f.from), width: Math.max(1, p.px(f.to) - p.px(f.from)), y: p.top, height: p.bottom - p.top, style: 'fill:var(--breach-wash)' });
    p.add('line', { x1: p.px(f.to), x2: p.px(f.to), y1: p.top, y2: p.bottom, style: 'stroke:var(--breach)', 'stroke-dasharray': '4 3' });
  }
  for (const t of c.limited.filter((t) => t <= end)) p.add('line', { x1: p.px(t), x2: p.px(t), y1: p.bottom, y2: p.bottom - 9, style: 'stroke:var(--limited)', 'stroke-width': 1.2 });
  if (c.least) p.add('line', { x1: p.px(c.to), x2: p.px(c.to), y1: p.bottom, y2: p.bottom - 22, style: 'stroke:var(--breach)', 'stroke-width': 3 });
  p.line(promise, { style: 'stroke:var(--ink)', 'stroke-width': 2, 'stroke-dasharray': '7 4' });
  p.line(steps, { style: 'stroke:var(--admitted)', 'stroke-width': 2.5 });
  if (f) {
    p.add('circle', { cx: p.px(f.to), cy: p.py(c.got), r: 5, style: 'fill:var(--breach);stroke:var(--panel)', 'stroke-width': 2 });
    const late = p.px(f.to) > (p.left + p.right) / 2, allowed = c.due.toLocaleString('en', { maximumFractionDigits: 3 });
    const words = c.least ? `refused after ${number(c.got)}, where ${allowed} are allowed` : `${number(c.got)} admitted, ${allowed} allowed`;
    p.note(p.px(f.to) + (late ? -10 : 10), Math.max(p.top - 4, p.py(c.got) - 10), late ? 'end' : 'start', words);
  }
  const figure = make('figure', {}, p.svg, keyed([['admitted', '', c.least ? 'what may have taken a token' : 'admitted'], ['ink', '7 4', 'the most that the promise allows'], ['limited', '', 'refusals, on the axis'], ...(f ? [['breach', '', 'the window that proves it']] : [])]));
  figure.append(make('figcaption', {}, make('b', {}, (f ? f.check + ' on ' : '') + row.name), ': ' + (f ? f.text : 'the run as it went, on the key with the most requests')));
  return figure;
};

const drawCurves = () => {
  if (data.curves.length === 0) return;
  $('curves').hidden = false;
  $('curves').querySelector('.grid').append(...data.curves.map(drawCurve));
};
