"""A hub as `ubique pull` sees one, on this machine: it lists and serves files from memory, and misbehaves as told:
it cuts connections, ignores ranges, lies about sizes and digests, redirects to another host, or asks to wait."""

import hashlib
import http.server
import json
import re
import threading
import urllib.parse

COMMIT = "0123456789abcdef0123456789abcdef01234567"


def git_oid(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


class FakeHub:
    """`files` maps paths to contents; larger ones than `lfs_from` bytes are listed with their SHA-256."""

    def __init__(self, files: dict[str, bytes], lfs_from: int = 1000):
        self.files, self.lfs_from = files, lfs_from
        self.requests: list[tuple[str, dict]] = []  # path, headers
        self.entries = [self.entry(path, content) for path, content in files.items()]
        self.card = {"license": "apache-2.0"}
        self.gated = False
        self.page = 1000             # entries of one page of the listing
        self.token = None            # required, if set
        self.ranges = True
        self.cut_after = None        # bytes of each answer, then the connection ends
        self.cuts = 10**9            # how many answers are cut
        self.busy = []               # statuses of the next answers for files: (status, headers)
        self.redirect = None         # origin to which files redirect
        self.content = {}            # other content than was listed, by path
        self.wrong_range = False
        self.slow = 0.0              # seconds between pieces of 64 KiB
        self.asked_for = []          # origins of whole addresses, which proxies are asked for
        self.lock = threading.Lock()
        hub = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_GET(self):
                try:
                    hub.answer(self)
                except (BrokenPipeError, ConnectionResetError):
                    self.close_connection = True

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}"

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()

    def entry(self, path: str, content: bytes) -> dict:
        entry = {"type": "file", "path": path, "size": len(content), "oid": git_oid(content)}
        if len(content) > self.lfs_from:
            entry["lfs"] = {"oid": hashlib.sha256(content).hexdigest(), "size": len(content), "pointerSize": 130}
        return entry

    def listed(self, path: str) -> dict:
        return next(entry for entry in self.entries if entry["path"] == path)

    def answer(self, request) -> None:
        if request.path.startswith("http://"):
            origin, request.path = re.fullmatch(r"(http://[^/]+)(/.*)", request.path).groups()
            self.asked_for.append(origin)
        path = urllib.parse.unquote(request.path)
        with self.lock:
            self.requests.append((path, dict(request.headers)))
        if self.token and request.headers.get("Authorization") != f"Bearer {self.token}":
            return self.text(request, 401, b"Invalid credentials", {"X-Error-Code": "RepoNotFound"})
        if path.startswith("/api/models/owner/gated"):
            return self.text(request, 403, b"", {"X-Error-Code": "GatedRepo", "X-Error-Message": "Access is restricted"})
        if not path.startswith(("/api/models/owner/name/", "/owner/name/resolve/", "/other/")):
            return self.text(request, 404, b"Repository not found")
        if "/revision/" in path:
            if path.rsplit("/revision/")[1] not in ("main", "v1", COMMIT):
                return self.text(request, 404, b"", {"X-Error-Code": "RevisionNotFound"})
            body = {"id": "owner/name", "sha": COMMIT, "gated": self.gated, "cardData": self.card, "tags": []}
            return self.text(request, 200, json.dumps(body).encode())
        if "/tree/" in path:
            return self.tree(request, path)
        return self.file(request, path)

    def tree(self, request, path: str) -> None:
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(request.path).query)
        first = int(query.get("cursor", ["0"])[0])
        more = {}
        if first + self.page < len(self.entries):
            base = request.path.split("&cursor")[0]
            more["Link"] = f'<{self.url}{base}&cursor={first + self.page}>; rel="next"'
        self.text(request, 200, json.dumps(self.entries[first:first + self.page]).encode(), more)

    def file(self, request, path: str) -> None:
        with self.lock:
            status, headers = self.busy.pop(0) if self.busy else (None, None)
        if status:
            return self.text(request, status, b"busy", headers)
        if self.redirect and not path.startswith("/other/"):
            return self.text(request, 302, b"", {"Location": f"{self.redirect}/other/{path.split('/', 5)[5]}?signature=secret"})
        name = path.split("?")[0]
        name = name[len("/other/"):] if name.startswith("/other/") else name.split("/", 5)[5]
        content = self.content.get(name, self.files.get(name))
        if content is None:
            return self.text(request, 404, b"", {"X-Error-Code": "EntryNotFound"})
        begin, end, status = 0, len(content), 200
        wanted = request.headers.get("Range")
        if wanted and self.ranges:
            first, last = wanted.removeprefix("bytes=").split("-")
            begin, end, status = int(first), min(len(content), int(last or len(content)) + 1), 206
            if begin >= len(content):
                return self.text(request, 416, b"", {"Content-Range": f"bytes */{len(content)}"})
        request.send_response(status)
        request.send_header("Content-Length", str(end - begin))
        if status == 206:
            first = begin + (1 if self.wrong_range else 0)
            request.send_header("Content-Range", f"bytes {first}-{end - 1}/{len(content)}")
        request.end_headers()
        with self.lock:
            cut = self.cut_after is not None and self.cuts > 0
            self.cuts -= 1 if cut else 0
        stop = min(end, begin + self.cut_after) if cut else end
        for place in range(begin, stop, 1 << 16):
            request.wfile.write(content[place:min(stop, place + (1 << 16))])
            if self.slow:
                threading.Event().wait(self.slow)
        if stop < end:
            request.close_connection = True
            request.connection.shutdown(2)

    @staticmethod
    def text(request, status: int, body: bytes, headers: dict | None = None) -> None:
        request.send_response(status)
        for name, value in (headers or {}).items():
            request.send_header(name, value)
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body)
