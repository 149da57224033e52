const data = JSON.parse(document.getElementById('data').textContent);
const outcomes = ['unknown', 'admitted', 'limited', 'other'];
const $ = (id) => document.getElementById(id);

// make is an element with attributes and children; texts become text, never markup.
const make = (name, attributes = {}, ...children) => {
  const svg = ['svg', 'path', 'line', 'text', 'rect', 'circle', 'g', 'title', 'defs', 'pattern'].includes(name);
  const e = svg ? document.createElementNS('http://www.w3.org/2000/svg', name) : document.createElement(name);
  for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
  e.append(...children);
  return e;
};

// colour is one of the page's own, as it is now: light, dark, or on paper.
let paper = false;
const onPaper = { ink: '#000', soft: '#444', line: '#bbb', grid: '#e4e4e4', panel: '#fff', admitted: '#0069a8', limited: '#c26a00', other: '#7a4aa8', unknown: '#68707d', breach: '#a8093c', 'breach-wash': '#a8093c1f', accent: '#0069a8', select: '#0069a81c' };
let palette = {}; // those that were looked up; it takes long
const colour = (name) => paper ? onPaper[name] : (palette[name] ??= getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim());

// span is a length of time in the unit that suits it.
const span = (ns, digits = 4) => {
  const a = Math.abs(ns);
  const [unit, size] = a >= 1e9 ? ['s', 1e9] : a >= 1e6 ? ['ms', 1e6] : a >= 1e3 ? ['µs', 1e3] : ['ns', 1];
  return Number((ns / size).toPrecision(digits)) + ' ' + unit;
};

// moment is a moment in seconds, as fine as the step between two that are told apart.
const moment = (ns, step = 1) => {
  const digits = Math.min(9, Math.max(0, Math.ceil(-Math.log10(step / 1e9))));
  return (ns / 1e9).toFixed(digits) + ' s';
};

const count = (n, what) => n.toLocaleString('en') + ' ' + what + (n === 1 ? '' : 's');
const number = (n) => Number(n.toPrecision(5)).toLocaleString('en', { maximumFractionDigits: 3 });
const clamp = (x, low, high) => Math.min(Math.max(x, low), high);

// ticks are round numbers between two, about so many.
const ticks = (from, to, about) => {
  const raw = (to - from) / Math.max(about, 1);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw) || power;
  const all = [];
  for (let t = Math.ceil(from / step) * step; t <= to + step * 1e-9; t += step) all.push(t);
  return { step, all };
};
