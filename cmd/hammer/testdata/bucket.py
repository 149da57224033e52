# A token bucket for each X-Api-Key, 4 tokens, 4 a second. CLOCK=wall measures time with
# time.time(), CLOCK=monotonic with time.monotonic().
import os, threading, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

now = time.time if os.environ['CLOCK'] == 'wall' else time.monotonic
buckets, lock = {}, threading.Lock()

class Limiter(BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def do_GET(self):
        with lock:
            t = now()
            tokens, at = buckets.get(self.headers['X-Api-Key'], (4, t))
            tokens = min(4, tokens + (t - at) * 4)
            admitted = tokens >= 1
            buckets[self.headers['X-Api-Key']] = (tokens - 1 if admitted else tokens, t)
        self.send_response(200 if admitted else 429)
        if not admitted:
            self.send_header('Retry-After', str(max(1, int((1 - tokens) / 4) + 1)))
        self.send_header('Content-Length', '0')
        self.end_headers()

    def log_message(self, *args):
        pass

ThreadingHTTPServer.request_queue_size = 128
ThreadingHTTPServer(('127.0.0.1', int(os.environ['PORT'])), Limiter).serve_forever()
