// view is the stretch of time that the timeline shows.
const view = {
  from: 0, to: data.end, listeners: [],
  set(from, to) {
    const least = Math.min(1000, data.end); // a microsecond
    const length = clamp(to - from, least, data.end);
    this.from = clamp(from, 0, data.end - length);
    this.to = this.from + length;
    for (const f of this.listeners) f();
  },
  zoom(factor, around = (this.from + this.to) / 2) {
    this.set(around - (around - this.from) * factor, around + (this.to - around) * factor);
  },
  move(share) {
    const by = (this.to - this.from) * share;
    this.set(this.from + by, this.to + by);
  },
  whole() { this.set(0, data.end); },
  // show puts a finding into the middle, with as much on either side.
  show(f) {
    const [from, to] = extent(f);
    const margin = Math.max((to - from) * 0.6, 2e6);
    this.set(from - margin, to + margin);
  },
};

// extent is when a finding is: its window, or its requests where it has none.
const extent = (f) => {
  if (f.to > f.from) return [f.from, f.to];
  const named = new Set(f.seqs || []);
  const sent = data.requests.filter((r) => named.has(r[1])).map((r) => r[2]);
  return sent.length ? [Math.min(...sent), Math.max(...sent)] : [0, data.end];
};
