// drawLoad shows what was to be sent and what was, and how late it was.
const drawLoad = () => {
  const group = 4, width = data.width * group;
  const grouped = (row, join) => Array.from({ length: Math.ceil(data.columns / group) }, (_, i) => row.slice(i * group, (i + 1) * group).reduce(join, 0));
  const sum = (a, b) => a + b, planned = grouped(data.planned, sum), sent = grouped(data.sent, sum), late = grouped(data.late, (a, b) => Math.max(a, b));
  const rate = (n) => n / (width / 1e9), most = 1.06 * rate(Math.max(1, ...planned, ...sent));
  const xt = ticks(0, data.end, room(1240) / 110), yt = ticks(0, most, 4);
  const p = plot({
    width: room(1240), height: 230, x: linear(0, data.end), y: linear(0, most), left: 60, xName: 'time since the run began', yName: 'requests a second',
    xTicks: xt.all.map((t) => [t, moment(t, xt.step)]), yTicks: yt.all.map((v) => [v, number(v)]), label: 'Requests planned and sent',
  });
  const steps = (row) => row.flatMap((n, i) => [[i * width, rate(n)], [(i + 1) * width, rate(n)]]);
  const area = p.line([[0, 0], ...steps(sent), [data.end, 0]], { style: 'fill:var(--admitted);stroke:none', opacity: 0.35 });
  area.removeAttribute('fill');
  p.line(steps(planned), { style: 'stroke:var(--ink)', 'stroke-width': 1.4 });
  const worst = Math.max(...late);
  const box = $('load').querySelector('.plot');
  box.append(p.svg, keyed([['ink', '', 'planned'], ['admitted', '', 'sent']]));
  if (worst > 0) {
    const lt = ticks(0, worst * 1.1, 2);
    const q = plot({ width: room(1240), height: 140, x: linear(0, data.end), y: linear(0, worst * 1.1), left: 60, xName: 'time since the run began', yName: 'latest request, sent behind its moment', xTicks: xt.all.map((t) => [t, moment(t, xt.step)]), yTicks: lt.all.map((v) => [v, span(v, 3)]), label: 'How late requests were sent' });
    q.line(late.flatMap((n, i) => [[i * width, Math.max(0, n)], [(i + 1) * width, Math.max(0, n)]]), { style: 'stroke:var(--unknown)', 'stroke-width': 1.6 });
    box.append(q.svg);
  }
  $('load').hidden = false;
};
