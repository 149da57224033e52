// The limiter of a small browser game in front of a language model, as a test
// subject: a token bucket for each client, 2 tokens, 2 a second. CLOCK=wall
// measures time with Date.now(), which a corrected clock can set back;
// CLOCK=monotonic with performance.now(), which nothing can.
import { createServer } from 'node:http';

const CAPACITY = 2, PER_SECOND = 2, MAX_BODY = 64 * 1024, MAX_PENDING = 32;
const now = process.env.CLOCK === 'wall' ? () => Date.now() : () => performance.now();
const backendAlive = process.env.BACKEND !== 'dead';
const buckets = new Map();
let pending = 0;

function take(client) {
  const t = now();
  let b = buckets.get(client);
  if (!b) buckets.set(client, b = { tokens: CAPACITY, at: t });
  b.tokens = Math.min(CAPACITY, b.tokens + (t - b.at) / 1000 * PER_SECOND);
  b.at = t;
  if (b.tokens < 1) return Math.max(1, Math.ceil((1 - b.tokens) / PER_SECOND));
  b.tokens -= 1;
  return 0;
}

function answer(res, status, body, headers = {}) {
  res.writeHead(status, { 'Content-Type': 'application/json', ...headers });
  res.end(JSON.stringify(body));
}

function turn(req, res, text) {
  try { JSON.parse(text); } catch { return answer(res, 400, { error: 'malformed' }); }
  const wait = take(req.headers['x-forwarded-for'] ?? req.socket.remoteAddress);
  if (wait) return answer(res, 429, { error: 'slow down' }, { 'Retry-After': String(wait), 'Cache-Control': 'no-store' });
  if (!backendAlive) return answer(res, 503, { error: 'the model is down' });
  if (pending >= MAX_PENDING) return answer(res, 429, { error: 'busy' }, { 'Retry-After': '1' });
  pending++;
  setImmediate(() => { pending--; answer(res, 200, { move: 'e4' }); });
}

createServer((req, res) => {
  if (req.method === 'GET') return answer(res, 200, { ok: true });
  let text = '', over = false;
  req.on('data', (d) => {
    if (over) return;
    text += d;
    if (text.length > MAX_BODY) { over = true; answer(res, 413, { error: 'too long' }, { Connection: 'close' }); }
  });
  req.on('end', () => { if (!over) turn(req, res, text); });
}).listen(Number(process.env.PORT), '127.0.0.1');
