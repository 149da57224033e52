// plot is an empty chart of SVG with two axes. x and y are functions from a value
// to a place; at() puts things into it.
const plot = ({ width = 620, height = 300, left = 52, right = 14, top = 30, bottom = 40, x, y, xTicks, yTicks, xName, yName, label }) => {
  const svg = make('svg', { viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': label });
  const px = (v) => left + x(v) * (width - left - right);
  const py = (v) => height - bottom - y(v) * (height - top - bottom);
  for (const [v, text] of yTicks) {
    svg.append(make('line', { class: 'gridline', x1: left, x2: width - right, y1: py(v), y2: py(v) }));
    svg.append(make('text', { x: left - 7, y: py(v) + 4, 'text-anchor': 'end' }, text));
  }
  for (const [v, text] of xTicks) {
    svg.append(make('line', { class: 'axis', x1: px(v), x2: px(v), y1: height - bottom, y2: height - bottom + 4 }));
    svg.append(make('text', { x: px(v), y: height - bottom + 17, 'text-anchor': 'middle' }, text));
  }
  svg.append(make('line', { class: 'axis', x1: left, x2: width - right, y1: height - bottom, y2: height - bottom }));
  svg.append(make('text', { x: (left + width - right) / 2, y: height - 4, 'text-anchor': 'middle' }, xName));
  svg.append(make('text', { x: 4, y: 12, 'text-anchor': 'start' }, yName));
  return {
    svg, px, py, left, right: width - right, top, bottom: height - bottom,
    add: (name, attributes, ...children) => { const e = make(name, attributes, ...children); svg.append(e); return e; },
    // note is a text at a point, moved so far that none of it is cut off.
    note: (at, y, anchor, words) => {
      const e = make('text', { class: 'bad', x: at, y, 'text-anchor': anchor }, words);
      svg.append(e);
      document.body.append(svg);
      const long = e.getComputedTextLength(), from = anchor === 'end' ? at - long : at;
      svg.remove();
      e.setAttribute('x', at + clamp(from, 2, Math.max(2, width - long - 2)) - from);
      return e;
    },
    line: (points, attributes) => {
      const d = points.map(([a, b], i) => (i ? 'L' : 'M') + px(a).toFixed(1) + ' ' + py(b).toFixed(1)).join('');
      const e = make('path', { d, fill: 'none', 'stroke-linejoin': 'round', ...attributes });
      svg.append(e);
      return e;
    },
  };
};

// room is how wide a chart may be drawn, so that its words keep their size.
const room = (most) => clamp(document.body.clientWidth - 76, 260, most);

// linear maps from..to onto 0..1.
const linear = (from, to) => (v) => clamp((v - from) / (to - from || 1), -0.02, 1.02);

// keyed is a legend below a chart: pairs of how a line is drawn, and its words.
const keyed = (entries) => {
  const list = make('ul', { class: 'legend' });
  for (const [stroke, dash, words] of entries) {
    const mark = make('svg', { viewBox: '0 0 24 8', style: 'width:24px;display:inline-block;vertical-align:2px;margin-right:6px', 'aria-hidden': 'true' },
      make('line', { x1: 0, x2: 24, y1: 4, y2: 4, style: `stroke:var(--${stroke})`, 'stroke-width': 3, 'stroke-dasharray': dash }));
    list.append(make('li', {}, mark, words));
  }
  return list;
};
