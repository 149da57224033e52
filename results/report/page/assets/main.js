const place = (e) => { const box = canvas.getBoundingClientRect(); return [e.clientX - box.left, e.clientY - box.top]; };

canvas.addEventListener('pointerdown', (e) => { const [x] = place(e); if (x >= gutter()) { drag = { from: x, to: x }; canvas.setPointerCapture(e.pointerId); } });
canvas.addEventListener('pointermove', (e) => {
  const [x, y] = place(e);
  if (drag) { drag.to = clamp(x, gutter(), canvas.clientWidth); tip.hidden = true; drawTimeline(); } else look(x, y, e.clientX, e.clientY);
});
canvas.addEventListener('pointerup', (e) => {
  const d = drag;
  drag = null;
  if (d && Math.abs(d.to - d.from) >= 4) view.set(timeAt(Math.min(d.from, d.to)), timeAt(Math.max(d.from, d.to)));
  else { const [x, y] = place(e); chosenRow = Math.max(0, rowAt(y)); look(x, y, e.clientX, e.clientY); drawTimeline(); }
});
canvas.addEventListener('pointerleave', () => { if (!drag) { tip.hidden = true; chosen = null; drawTimeline(); } });
canvas.addEventListener('pointercancel', () => { drag = null; drawTimeline(); });
canvas.addEventListener('dblclick', () => view.whole());
canvas.addEventListener('wheel', (e) => { if (e.ctrlKey || e.metaKey) { e.preventDefault(); view.zoom(e.deltaY > 0 ? 1.25 : 0.8, timeAt(place(e)[0])); } }, { passive: false });
canvas.addEventListener('focus', () => drawTimeline());
canvas.addEventListener('blur', () => { tip.hidden = true; drawTimeline(); });

// step goes to the next request of the chosen row, and shows it.
const step = (by) => {
  const row = visible()[chosenRow] || everything;
  if (row.requests.length === 0) return;
  let i = row.requests.indexOf(chosen);
  i = i < 0 ? row.requests.findIndex((r) => r[SENT] >= view.from) : i + by;
  const r = row.requests[clamp(i, 0, row.requests.length - 1)];
  chosen = r;
  const length = view.to - view.from;
  if (r[SENT] < view.from || r[SENT] > view.to) view.set(r[SENT] - length / 2, r[SENT] + length / 2);
  else drawTimeline();
  const box = canvas.getBoundingClientRect();
  $('said').textContent = tell('request ' + r[SEQ], factsOf(r), box.left + placeX(r[SENT]), box.top + head + (chosenRow + 0.7) * rowHeight);
};

canvas.addEventListener('keydown', (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey) return;
  const act = {
    ArrowLeft: () => view.move(-0.2), ArrowRight: () => view.move(0.2), '+': () => view.zoom(0.5), '=': () => view.zoom(0.5), '-': () => view.zoom(2), 0: () => view.whole(), Home: () => view.whole(),
    ArrowUp: () => { chosenRow = Math.max(0, chosenRow - 1); chosen = null; drawTimeline(); }, ArrowDown: () => { chosenRow = Math.min(visible().length - 1, chosenRow + 1); chosen = null; drawTimeline(); },
    n: () => step(1), p: () => step(-1), Escape: () => { tip.hidden = true; chosen = null; drawTimeline(); },
  }[e.key];
  if (act) { e.preventDefault(); act(); }
});

$('earlier').onclick = () => view.move(-0.5);
$('later').onclick = () => view.move(0.5);
$('closer').onclick = () => view.zoom(0.5);
$('wider').onclick = () => view.zoom(2);
$('whole').onclick = () => view.whole();

const foldable = rows.length - few;
$('fold').hidden = foldable <= 0;
const foldText = () => { $('fold').textContent = unfolded ? 'Show fewer keys' : 'Show ' + count(foldable, 'more key'); $('fold').setAttribute('aria-expanded', unfolded); };
$('fold').onclick = () => { unfolded = !unfolded; foldText(); drawTimeline(); };

// jump shows a finding in the timeline.
const jump = (f) => {
  if (f.lane >= few && !unfolded) { unfolded = true; foldText(); }
  chosenRow = f.lane + 1;
  view.show(f);
  $('timeline').scrollIntoView({ block: 'nearest' });
};
const jumps = (data.findings || []).filter((f) => f.must).slice(0, 4);
for (const f of jumps) {
  const b = make('button', { type: 'button', title: f.text }, f.check);
  b.onclick = () => jump(f);
  $('jumps').append(b);
}
$('legend-own').hidden = holdups.length === 0;
$('legend-action').hidden = actions.length === 0;
$('legend-breach').hidden = (data.findings || []).length === 0;
if ($('show') && jumps.length) { $('show').hidden = false; $('show').onclick = () => jump(jumps[0]); }
if ($('copy') && navigator.clipboard) {
  $('copy').hidden = false;
  $('copy').onclick = () => navigator.clipboard.writeText($('recheck').textContent).then(() => { $('copy').textContent = 'Copied'; }, () => { $('copy').textContent = 'Select it by hand'; });
}

// On paper nothing can be opened: it all is, and is closed again behind it.
let opened = [];
addEventListener('beforeprint', () => { opened = [...document.querySelectorAll('details:not([open])')]; for (const d of opened) d.open = true; });
addEventListener('afterprint', () => { for (const d of opened) d.open = false; opened = []; });

if (data.hits > 0) {
  $('timeline').hidden = false;
  foldText();
  view.listeners.push(() => { tip.hidden = true; drawTimeline(); });
  new ResizeObserver(() => drawTimeline()).observe(canvas);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', drawTimeline);
  addEventListener('beforeprint', () => { paper = true; drawTimeline(); });
  addEventListener('afterprint', () => { paper = false; drawTimeline(); });
  drawTimeline();
  drawCurves();
  drawWaits();
  drawLatency();
  drawLoad();
}
