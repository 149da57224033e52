// A request is an array; these are the places of what it holds.
const LANE = 0, SEQ = 1, SENT = 2, TOOK = 3, LATE = 4, OUTCOME = 5, STATUS = 6, PHASE = 7, RETRY = 8, ERR = 9, HEADERS = 10, OBEYED = 11, COST = 12;

// proofs are the findings that a request proves, by its number.
const proofs = new Map();
for (const f of data.findings || []) {
  for (const seq of f.seqs || []) {
    if (!proofs.has(seq)) proofs.set(seq, []);
    proofs.get(seq).push(f);
  }
}

// rows are what the timeline can show below each other: all keys together first.
const rows = data.lanes.map((lane, i) => ({
  name: lane.key, lane: i, n: lane.n, rest: lane.rest, requests: [], findings: (data.findings || []).filter((f) => f.lane === i), sums: lane.sums.map(unpack),
}));
for (const r of data.requests || []) rows[r[LANE]].requests.push(r);
const everything = {
  name: 'all keys', lane: -1, n: [0, 1, 2, 3].map((o) => rows.reduce((a, row) => a + row.n[o], 0)), requests: data.requests || [],
  findings: (data.findings || []).filter((f) => f.lane < 0), sums: [0, 1, 2, 3].map((o) => rows.reduce((a, row) => a.map((n, i) => n + row.sums[o][i]), new Array(data.columns).fill(0))),
};

// unpack is a row of sums, from pairs of a column and what is in it.
function unpack(pairs) {
  const row = new Array(data.columns).fill(0);
  for (let i = 0; i < pairs.length; i += 2) row[pairs[i]] = pairs[i + 1];
  return row;
}

// within are a row's requests that were on their way between two moments. They
// are in the order in which they were sent.
const within = (row, from, to) => {
  let low = 0, high = row.requests.length;
  const longest = 60e9;
  while (low < high) {
    const mid = (low + high) >> 1;
    if (row.requests[mid][SENT] < from - longest) low = mid + 1; else high = mid;
  }
  const found = [];
  for (let i = low; i < row.requests.length && row.requests[i][SENT] <= to; i++) {
    const r = row.requests[i];
    if (r[SENT] + Math.max(r[TOOK], 0) >= from) found.push(r);
  }
  return found;
};

// complete reports whether all requests of a row between two moments are here one
// by one, and not only in sums.
const complete = (row, found, from, to) => {
  if (data.exact) return true;
  const first = Math.floor(from / data.width), last = Math.min(data.columns - 1, Math.floor(to / data.width));
  let n = 0;
  for (let c = first; c <= last; c++) for (let o = 0; o < 4; o++) n += row.sums[o][c];
  const sent = first === last ? found.length : row.requests.filter((r) => r[SENT] >= first * data.width && r[SENT] < (last + 1) * data.width).length;
  return first === last ? found.length > 0 : sent >= n;
};

// What was done to the server on purpose, and what kept hammer itself from running.
const actions = (data.marks || []).filter((m) => ['clock', 'fault', 'undone'].includes(m.kind));
const holdups = (data.marks || []).filter((m) => m.kind !== 'phase' && !actions.includes(m));
const named = (m) => m.text || (m.kind === 'clock' && m.size ? 'clock ' + (m.size > 0 ? '+' : '') + span(m.size) : m.kind);

// folded are the rows that are shown at first: all together, and those of the findings.
let unfolded = false;
const few = Math.max(5, Math.min(7, rows.filter((r) => r.findings.length > 0).length));
const visible = () => [everything, ...(unfolded ? rows : rows.slice(0, few))];
