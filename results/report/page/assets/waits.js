// drawWaits shows for each refusal what Retry-After said, against until when the
// key was refused again and when a request on it was next admitted.
const drawWaits = () => {
  const all = data.waits || [];
  if (all.length === 0) return;
  const kinds = { early: 0, again: 0, late: 0, fits: 0 };
  const proven = new Set((data.findings || []).filter((f) => f.check.startsWith('retry-after')).flatMap((f) => f.seqs || []));
  const kind = ([seq, said, refused, opened]) => refused > said ? (proven.has(seq) ? 'early' : 'again') : opened >= 0 && opened < said - 1e9 ? 'late' : 'fits';
  for (const w of all) kinds[kind(w)]++;
  const most = 1.12 * Math.max(1e9, ...all.map((w) => w[1])), high = 1.1 * Math.min(4 * most, Math.max(most, ...all.map((w) => Math.max(w[2], w[3]))));
  const low = Math.min(0, ...all.map((w) => w[1])) - 0.06 * most;
  const xt = ticks(Math.min(0, low + 0.06 * most), most, 7), yt = ticks(0, high, 6);
  const p = plot({
    width: room(600),
    x: linear(low, most), y: linear(0, high), xName: 'Retry-After said', yName: 'seen on the key',
    xTicks: xt.all.map((v) => [v, number(v / 1e9) + ' s']), yTicks: yt.all.map((v) => [v, number(v / 1e9) + ' s']), label: 'What Retry-After said against what was seen',
  });
  p.add('path', { d: `M${p.px(0)} ${p.py(0)}L${p.px(1e9)} ${p.py(0)}L${p.px(most)} ${p.py(most - 1e9)}L${p.px(most)} ${p.py(most)}Z`, style: 'fill:var(--grid)' });
  p.line([[0, 0], [most, most]], { style: 'stroke:var(--ink)', 'stroke-width': 1.5, 'stroke-dasharray': '7 4' });
  const style = { early: 'breach', again: 'limited', late: 'other', fits: 'admitted' };
  for (const k of ['fits', 'again', 'late', 'early']) {
    for (const w of all.filter((a) => kind(a) === k)) {
      const jitter = ((w[0] * 0.618034) % 1 - 0.5) * Math.min(0.7e9, most / 10), x = p.px(w[1] + jitter);
      const upper = w[3] < 0 ? w[2] : w[3];
      const mark = make('g', { style: `stroke:var(--${style[k]});fill:var(--${style[k]})`, opacity: k === 'fits' ? 0.55 : 0.9 },
        make('title', {}, `request ${w[0]}: said ${span(w[1])}, refused again until ${span(w[2])}, ${w[3] < 0 ? 'not admitted again' : 'admitted by ' + span(w[3])}`),
        make('line', { x1: x, x2: x, y1: p.py(Math.min(w[2], high)), y2: p.py(Math.min(upper, high)) }));
      if (w[3] >= 0) mark.append(make('circle', { cx: x, cy: p.py(Math.min(w[3], high)), r: k === 'fits' ? 2 : 3, stroke: 'none' }));
      p.svg.append(mark);
    }
  }
  const box = $('waits').querySelector('.plot');
  box.append(p.svg, keyed([
    ['admitted', '', `as said, or not asked in between (${kinds.fits})`, true],
    ['breach', '', `refused again behind the wait, as a finding proves (${kinds.early})`, kinds.early],
    ['limited', '', `refused again later, others came between (${kinds.again})`, kinds.again],
    ['other', '', `admitted more than 1 s before it (${kinds.late})`, kinds.late],
    ['ink', '7 4', 'as said', true],
  ].filter((k) => k[3])),
    make('figcaption', {}, 'Each line goes from the last request on the same key that was refused again to the next that was admitted (dot): the true wait lies between. Requests between them may have taken tokens: only a finding proves.'));
  $('waits').hidden = false;
};
