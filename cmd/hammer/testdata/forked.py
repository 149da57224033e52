# Two workers on one port, and a token bucket for each X-Api-Key, 4 tokens, 4 a second, in
# memory that they share. CLOCK=wall measures time with time.time(), by the clock of
# whoever answers, and takes less than nothing for nothing; CLOCK=monotonic with
# time.monotonic().
import mmap, os, socket, struct, time

CAPACITY, PER_SECOND, PLACES = 4.0, 4, 65536
now = time.time if os.environ["CLOCK"] == "wall" else time.monotonic
shared = mmap.mmap(-1, PLACES * 16)
turn_in, turn_out = os.pipe()  # holds one byte: whoever has read it has the turn
os.write(turn_out, b".")


def allowed(key):
    place = sum((i + 1) * 257 * c for i, c in enumerate(key)) % PLACES * 16
    os.read(turn_in, 1)
    tokens, at = struct.unpack("dd", shared[place : place + 16])
    t = now()
    tokens, at = (tokens, at) if at else (CAPACITY, t)
    tokens = min(CAPACITY, tokens + max(0.0, t - at) * PER_SECOND)
    yes = tokens >= 1
    shared[place : place + 16] = struct.pack("dd", tokens - yes, t)
    os.write(turn_out, b".")
    return yes


def answer(connection):
    head = b""
    while b"\r\n\r\n" not in head:
        more = connection.recv(4096)
        if not more:
            return
        head += more
    key = b"".join(l for l in head.split(b"\r\n") if l.lower().startswith(b"x-api-key:"))
    status = b"200 OK" if allowed(key) else b"429 Too Many Requests"
    date = time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime()).encode()
    connection.sendall(b"HTTP/1.1 " + status + b"\r\nDate: " + date + b"\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")


listener = socket.socket()
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listener.bind(("127.0.0.1", int(os.environ["PORT"])))
listener.listen(128)
parent = os.getpid()
for _ in range(2):
    if os.fork():
        continue
    while os.getppid() == parent:  # so that no worker is left behind
        listener.settimeout(1)
        try:
            connection, _ = listener.accept()
        except socket.timeout:
            continue
        connection.settimeout(5)
        answer(connection)
        connection.close()
    os._exit(0)
while True:
    time.sleep(60)
