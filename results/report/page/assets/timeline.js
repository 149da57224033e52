const canvas = $('lanes');
const rowHeight = 46, head = actions.length ? 54 : 34, foot = 22;
let chosen = null;      // the request that is looked at
let chosenRow = 1;      // the row that keys act on
let drag = null;        // from where to where the pointer has been drawn
const gutter = () => canvas.clientWidth < 560 ? 92 : 190;
const placeX = (t) => gutter() + (t - view.from) / (view.to - view.from) * (canvas.clientWidth - gutter());
const timeAt = (x) => view.from + (x - gutter()) / (canvas.clientWidth - gutter()) * (view.to - view.from);
const rowAt = (y) => { const i = Math.floor((y - head) / rowHeight); return i >= 0 && i < visible().length ? i : -1; };

const drawTimeline = () => {
  palette = {};
  const shown = visible(), width = canvas.clientWidth, height = head + shown.length * rowHeight + foot;
  const ratio = window.devicePixelRatio || 1;
  canvas.style.height = height + 'px';
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const g = canvas.getContext('2d');
  g.scale(ratio, ratio);
  g.font = '12px ' + getComputedStyle(document.body).fontFamily;
  g.textBaseline = 'middle';
  drawAxis(g, width, height);
  drawMarks(g, width, height);
  shown.forEach((row, i) => drawRow(g, row, head + i * rowHeight, width, i === chosenRow && document.activeElement === canvas));
  drawDrag(g, height);
  $('range').textContent = moment(view.from, (view.to - view.from) / 1000) + ' to ' + moment(view.to, (view.to - view.from) / 1000) + (view.to - view.from < data.end ? ' of ' + span(data.end) : '');
};

const drawAxis = (g, width, height) => {
  const { step, all } = ticks(view.from, view.to, (width - gutter()) / 95);
  g.textAlign = 'center';
  for (const t of all) {
    const x = placeX(t);
    g.fillStyle = colour('grid');
    g.fillRect(x, head, 1, height - head - foot);
    g.fillStyle = colour('soft');
    if (x < width - 18) g.fillText(moment(t, step), x, height - foot / 2);
  }
};

// drawMarks shows when phases began, and what happened to the client's own clocks.
const drawMarks = (g, width, height) => {
  g.save();
  g.beginPath();
  g.rect(gutter(), 0, width - gutter(), height);
  g.clip();
  g.textAlign = 'left';
  let free = -1;
  for (const m of data.marks || []) {
    const x = placeX(m.at), x2 = placeX(m.to);
    if (x2 < gutter() || x > width) continue;
    if (m.kind === 'phase') {
      g.fillStyle = colour('line');
      g.fillRect(x, 12, 1, 22);
      if (x >= free) {
        g.fillStyle = colour('soft');
        g.fillText(m.text, x + 4, 12);
        free = x + 14 + g.measureText(m.text).width;
      }
      continue;
    }
    if (actions.includes(m)) continue;
    g.fillStyle = colour('unknown');
    g.globalAlpha = 0.28;
    g.fillRect(x, head - 10, Math.max(2, x2 - x), height - head - foot + 10);
    g.globalAlpha = 1;
    g.fillRect(x, head - 10, Math.max(2, x2 - x), 3);
  }
  drawActions(g, width, height);
  for (const c of data.causes || []) {
    const x = placeX(c.at);
    g.strokeStyle = g.fillStyle = colour('breach');
    g.setLineDash([5, 4]);
    g.beginPath(); g.moveTo(x, head - 8); g.lineTo(x, height - foot); g.stroke();
    g.setLineDash([]);
    g.beginPath(); g.moveTo(x - 5, head - 12); g.lineTo(x + 5, head - 12); g.lineTo(x, head - 3); g.fill();
  }
  g.restore();
};

// drawActions flags what was done to the server, below the phases.
const drawActions = (g, width, height) => {
  let free = -1;
  for (const m of actions) {
    const x = placeX(m.at);
    if (x < gutter() || x > width) continue;
    g.fillStyle = colour('other');
    g.fillRect(x - 0.75, head - 18, 1.5, height - head - foot + 18);
    g.beginPath(); g.moveTo(x, head - 18); g.lineTo(x + 9, head - 14); g.lineTo(x, head - 10); g.fill();
    if (x < free) continue;
    const words = named(m);
    g.fillStyle = colour('ink');
    g.fillText(words, x + 12, head - 14);
    free = x + 22 + g.measureText(words).width;
  }
};

const drawRow = (g, row, top, width, lit) => {
  const middle = top + rowHeight / 2, half = rowHeight / 2 - 4;
  if (lit) { g.fillStyle = colour('select'); g.fillRect(0, top, width, rowHeight); }
  g.fillStyle = colour('line');
  g.fillRect(0, top, width, 1);
  drawLabel(g, row, top, lit);
  g.save();
  g.beginPath();
  g.rect(gutter(), top, width - gutter(), rowHeight);
  g.clip();
  for (const f of row.findings) drawWindow(g, f, top);
  g.fillStyle = colour('line');
  g.fillRect(gutter(), middle, width - gutter(), 1);
  const found = within(row, view.from, view.to);
  if (complete(row, found, view.from, view.to) && found.length < (width - gutter()) / 1.5) drawSingles(g, found, middle, half, top);
  else drawSums(g, row, found, middle, half, width);
  g.restore();
};

const drawLabel = (g, row, top, lit) => {
  const room = gutter() - 14, broken = row.findings.some((f) => f.must);
  if (broken) { g.fillStyle = colour('breach'); g.fillRect(0, top + 5, 4, rowHeight - 10); }
  g.textAlign = 'left';
  g.fillStyle = colour('ink');
  const bold = broken || lit;
  const font = g.font;
  if (bold) g.font = '600 ' + font;
  g.fillText(fitted(g, row.rest ? row.rest.toLocaleString('en') + ' other keys' : row.name, room), 10, top + 16);
  g.font = font;
  g.fillStyle = colour('soft');
  const full = `${row.n[1].toLocaleString('en')} admitted, ${row.n[2].toLocaleString('en')} limited`;
  const short = (n) => n.toLocaleString('en', { notation: 'compact' });
  const words = [full, `${row.n[1].toLocaleString('en')} / ${row.n[2].toLocaleString('en')}`, `${short(row.n[1])} / ${short(row.n[2])}`];
  g.fillText(words.find((w) => g.measureText(w).width <= room) || fitted(g, words[2], room), 10, top + 32);
};

const fitted = (g, text, room) => {
  if (g.measureText(text).width <= room) return text;
  while (text.length > 1 && g.measureText(text + '…').width > room) text = text.slice(0, -1);
  return text + '…';
};

// drawWindow hatches a finding's window: it is told apart without its colour too.
const drawWindow = (g, f, top) => {
  const [from, to] = extent(f), x = placeX(from), w = Math.max(3, placeX(to) - x);
  g.fillStyle = colour('breach-wash');
  g.fillRect(x, top + 1, w, rowHeight - 2);
  g.strokeStyle = colour('breach');
  g.globalAlpha = f.must ? 0.5 : 0.2;
  g.save();
  g.beginPath(); g.rect(x, top + 1, w, rowHeight - 2); g.clip();
  g.beginPath();
  const left = Math.max(x, gutter()) - rowHeight, right = Math.min(x + w, canvas.clientWidth);
  for (let a = left - left % 8; a < right; a += 8) { g.moveTo(a, top + rowHeight); g.lineTo(a + rowHeight, top); }
  g.stroke();
  g.restore();
  g.globalAlpha = 1;
  g.strokeRect(x + 0.5, top + 1.5, w - 1, rowHeight - 3);
};

// drawSingles shows each request from when it was sent to when it was answered,
// those that overlap above each other.
const drawSingles = (g, found, middle, half, top) => {
  for (const up of [true, false]) {
    const some = found.filter((r) => (r[OUTCOME] === 1) === up);
    const ends = [];
    const levels = some.map((r) => {
      const x = placeX(r[SENT]), end = x + Math.max(3, placeX(r[SENT] + Math.max(r[TOOK], 0)) - x) + 1;
      let level = ends.findIndex((e) => e <= x);
      if (level < 0) level = ends.length;
      ends[level] = end;
      return level;
    });
    const h = clamp(half / Math.max(ends.length, 1), 1.2, 9);
    some.forEach((r, i) => {
      const level = Math.min(levels[i], Math.floor(half / h) - 1), x = placeX(r[SENT]);
      const y = up ? middle - 1 - (level + 1) * h : middle + 2 + level * h;
      drawSingle(g, r, x, y, Math.max(2.5, placeX(r[SENT] + Math.max(r[TOOK], 0)) - x), h);
      r.box = [x, y, h, top];
    });
  }
};

const drawSingle = (g, r, x, y, w, h) => {
  const inner = Math.max(1, h - (h > 3 ? 1 : 0));
  g.fillStyle = g.strokeStyle = colour(outcomes[r[OUTCOME]]);
  if (r[OUTCOME] === 0) g.strokeRect(x + 0.5, y + 0.5, Math.max(4, w), Math.max(3, inner - 1));
  else if (r[OUTCOME] === 3) { g.beginPath(); g.moveTo(x, y + 4); g.lineTo(x + 4, y); g.lineTo(x + 8, y + 4); g.lineTo(x + 4, y + 8); g.fill(); }
  else g.fillRect(x, y, w, inner);
  if (proofs.has(r[SEQ]) && h >= 2) { g.strokeStyle = colour('breach'); g.lineWidth = 1.5; g.strokeRect(x - 1, y - 1, w + 2, inner + 2); g.lineWidth = 1; }
  if (r === chosen) { g.strokeStyle = colour('ink'); g.lineWidth = 2; g.strokeRect(x - 2, y - 2, w + 4, inner + 4); g.lineWidth = 1; }
};

// drawSums shows how many requests each stretch holds; the root of the number, so
// that single ones are seen beside many.
const drawSums = (g, row, found, middle, half, width) => {
  const bars = data.exact ? counted(found, width) : summed(row);
  const most = Math.max(1, ...bars.map((b) => Math.max(b.n[1], b.n[0] + b.n[2] + b.n[3])));
  for (const b of bars) {
    const height = (n) => n ? Math.max(1.5, Math.sqrt(n / most) * half) : 0;
    g.fillStyle = colour('admitted');
    g.fillRect(b.x, middle - height(b.n[1]), b.w, height(b.n[1]));
    const low = b.n[0] + b.n[2] + b.n[3], whole = height(low);
    let y = middle + 1;
    for (const o of [2, 3, 0]) {
      if (!b.n[o]) continue;
      g.fillStyle = colour(outcomes[o]);
      const h = Math.max(1.5, whole * b.n[o] / low);
      g.fillRect(b.x, y, b.w, h);
      y += h;
    }
  }
};

// counted are single requests in bars of three pixels.
const counted = (found, width) => {
  const bars = new Map();
  for (const r of found) {
    const i = Math.floor((placeX(r[SENT]) - gutter()) / 3);
    if (i < 0) continue;
    if (!bars.has(i)) bars.set(i, { x: gutter() + 3 * i, w: 2.4, n: [0, 0, 0, 0] });
    bars.get(i).n[r[OUTCOME]]++;
  }
  return [...bars.values()];
};

const summed = (row) => {
  const bars = [];
  const last = Math.min(data.columns - 1, Math.floor(view.to / data.width));
  for (let c = Math.floor(view.from / data.width); c <= last; c++) {
    const n = [0, 1, 2, 3].map((o) => row.sums[o][c]);
    if (n[0] + n[1] + n[2] + n[3] === 0) continue;
    const x = placeX(c * data.width), w = placeX((c + 1) * data.width) - x;
    bars.push({ x, w: Math.max(1, w - (w > 3 ? 0.6 : 0)), n });
  }
  return bars;
};

const drawDrag = (g, height) => {
  if (!drag || Math.abs(drag.to - drag.from) < 4) return;
  g.fillStyle = colour('select');
  g.strokeStyle = colour('accent');
  g.fillRect(drag.from, head, drag.to - drag.from, height - head - foot);
  g.strokeRect(drag.from, head, drag.to - drag.from, height - head - foot);
};
