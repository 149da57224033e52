// A token bucket for each X-Api-Key, 4 tokens, 4 a second. CLOCK=wall measures time with
// Date.now(), CLOCK=monotonic with performance.now(). The body tells the wall clock, and
// so does Date, unless DATE=no: then only the bucket asks for the time.
import { createServer } from 'node:http';

const CAPACITY = 4, PER_SECOND = 4;
const now = process.env.CLOCK === 'wall' ? () => Date.now() : () => performance.now();
const buckets = new Map();

createServer((req, res) => {
  res.sendDate = process.env.DATE !== 'no';
  const key = req.headers['x-api-key'] ?? '', t = now();
  let b = buckets.get(key);
  if (!b) buckets.set(key, b = { tokens: CAPACITY, at: t });
  b.tokens = Math.min(CAPACITY, b.tokens + (t - b.at) / 1000 * PER_SECOND);
  b.at = t;
  if (b.tokens < 1) {
    res.writeHead(429, { 'Retry-After': String(Math.max(1, Math.ceil((1 - b.tokens) / PER_SECOND))) });
  } else {
    b.tokens -= 1;
  }
  res.end(res.sendDate ? String(Date.now()) : '');
}).listen(Number(process.env.PORT), '127.0.0.1');
