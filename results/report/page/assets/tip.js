const tip = $('tip');

// tell shows facts beside a place on the screen, and says them to who does not see it.
const tell = (title, facts, x, y) => {
  tip.replaceChildren(make('b', {}, title), ...facts.map(([k, v]) => make('div', { class: 'row' }, make('span', {}, k), make('span', {}, v))));
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  tip.style.left = clamp(x + 14, 6, innerWidth - box.width - 6) + 'px';
  tip.style.top = (y + 18 + box.height > innerHeight ? Math.max(6, y - box.height - 12) : y + 18) + 'px';
  return title + ', ' + facts.map((f) => f.join(' ')).join(', ');
};

const factsOf = (r) => {
  const facts = [['answer', (r[STATUS] ? r[STATUS] + ' ' : '') + outcomes[r[OUTCOME]]], ['key', data.lanes[r[LANE]].key], ['phase', (data.phases || [])[r[PHASE]] || String(r[PHASE])],
    ['sent', moment(r[SENT], 1000)], ['answered', r[TOOK] < 0 ? 'never' : moment(r[SENT] + r[TOOK], 1000) + ', after ' + span(r[TOOK])]];
  if (r[LATE] > 1e6) facts.push(['late by', span(r[LATE])]);
  if (r[COST] > 1) facts.push(['cost', String(r[COST])]);
  if (r[RETRY]) facts.push(['Retry-After', data.texts[r[RETRY]]]);
  if (r[OBEYED]) facts.push(['waited', 'as request ' + r[OBEYED] + ' was told']);
  if (r[ERR]) facts.push(['error', data.texts[r[ERR]]]);
  if (r[HEADERS]) facts.push(['headers', data.texts[r[HEADERS]]]);
  for (const f of proofs.get(r[SEQ]) || []) facts.push(['proves', f.check]);
  return facts;
};

// nearest is the request of a row that is drawn nearest to a place; null: none is near.
const nearest = (row, x, y) => {
  let best = null, least = 12;
  for (const r of within(row, view.from, view.to)) {
    if (!r.box) continue;
    const end = Math.max(r.box[0] + 2.5, placeX(r[SENT] + Math.max(r[TOOK], 0)));
    const dx = x < r.box[0] ? r.box[0] - x : Math.max(0, x - end);
    const dy = Math.abs(y - (r.box[1] + r.box[2] / 2));
    if (dx + dy / 3 < least) { least = dx + dy / 3; best = r; }
  }
  return best;
};

// look tells what is at a place of the timeline.
const look = (x, y, screenX, screenY) => {
  const i = rowAt(y);
  const mark = y < head ? markAt(x) : null;
  const old = chosen;
  chosen = null;
  if (mark) tell(mark[0], mark[1], screenX, screenY);
  else if (i < 0) tip.hidden = true;
  else if (x < gutter()) lookAtRow(visible()[i], screenX, screenY);
  else {
    const row = visible()[i], found = within(row, view.from, view.to);
    const single = complete(row, found, view.from, view.to) && found.length < (canvas.clientWidth - gutter()) / 1.5;
    if (single) chosen = nearest(row, x, y);
    if (chosen) $('said').textContent = tell('request ' + chosen[SEQ], factsOf(chosen), screenX, screenY);
    else if (!single) lookAtSum(row, x, screenX, screenY);
    else tip.hidden = true;
  }
  if (old !== chosen) drawTimeline();
};

const lookAtRow = (row, x, y) => tell(row.rest ? row.rest + ' other keys' : row.name, [...[1, 2, 3, 0].filter((o) => row.n[o]).map((o) => [outcomes[o], row.n[o].toLocaleString('en')]), ...row.findings.map((f) => [f.check, f.text])], x, y);

const lookAtSum = (row, x, screenX, screenY) => {
  const t = timeAt(x), width = data.exact ? timeAt(x + 3) - t : data.width;
  const from = Math.floor(t / width) * width;
  const n = data.exact ? [0, 0, 0, 0] : [0, 1, 2, 3].map((o) => row.sums[o][clamp(Math.floor(t / data.width), 0, data.columns - 1)]);
  if (data.exact) for (const r of within(row, from, from + width)) if (r[SENT] >= from && r[SENT] < from + width) n[r[OUTCOME]]++;
  if (n[0] + n[1] + n[2] + n[3] === 0) { tip.hidden = true; return; }
  const facts = [1, 2, 3, 0].filter((o) => n[o]).map((o) => [outcomes[o], n[o].toLocaleString('en')]);
  facts.push(['', data.exact ? 'zoom in for single requests' : 'a sum: single requests are kept around findings']);
  tell(row.name + ', ' + moment(from, width) + ' to ' + moment(from + width, width), facts, screenX, screenY);
};

const markAt = (x) => {
  for (const c of data.causes || []) if (Math.abs(placeX(c.at) - x) < 6) return ['likely cause', [['at', moment(c.at, 1e6)], ['', c.text]]];
  for (const m of actions) if (x >= placeX(m.at) - 4 && x <= placeX(m.at) + 12) return ['done to the server: ' + named(m), [['at', moment(m.at, 1e6)], ...(m.size ? [['by', span(m.size)]] : [])]];
  let best = null;
  for (const m of data.marks || []) {
    if (m.kind !== 'phase' && x >= placeX(m.at) - 3 && x <= placeX(m.to) + 3) return [m.kind, [['at', moment(m.at, 1e6)], ['for', span(m.to - m.at)], ...(m.text ? [['', m.text]] : [])]];
    if (m.kind === 'phase' && placeX(m.at) <= x) best = m;
  }
  return best ? ['phase ' + best.text, [['from', moment(best.at, 1e6)]]] : null;
};
