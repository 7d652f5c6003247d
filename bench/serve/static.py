#!/usr/bin/env python3
"""The first page with keep-alive, from `ubique serve` and from nginx with the same packed file; the server's memory; the
application's weight. Needs nginx and wrk. Turns alternate; medians are compared.

    bench/serve/static.py build/cpu/bin/ubique build/web/studio [TURNS [SECONDS]]
"""

import gzip
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests/cli/helpers"))
from studio import Studio  # noqa: E402

NGINX = """daemon off; worker_processes 2; pid {folder}/nginx.pid; error_log {folder}/error.log;
events {{ worker_connections 256; }}
http {{
  access_log off; keepalive_requests 1000000; gzip_static on; sendfile on; tcp_nopush on; types {{ text/html html; }}
  client_body_temp_path {folder}/a; proxy_temp_path {folder}/b; fastcgi_temp_path {folder}/c; uwsgi_temp_path {folder}/d;
  scgi_temp_path {folder}/e;
  server {{ listen 127.0.0.1:{port}; root {folder}/pages; }}
}}
"""


def requests_per_second(port, seconds):
    done = subprocess.run(["wrk", "-t", "1", "-c", "8", "-d", f"{seconds}s", "-H", "Accept-Encoding: gzip", f"http://127.0.0.1:{port}/"],
                          capture_output=True, text=True, check=True)
    assert "Non-2xx" not in done.stdout and "Socket errors" not in done.stdout, done.stdout
    return float(re.search(r"Requests/sec:\s*([\d.]+)", done.stdout)[1])


def start_nginx(folder, page, port):
    pages = folder / "pages"
    pages.mkdir()
    (pages / "index.html").write_bytes(page)
    (pages / "index.html.gz").write_bytes(gzip.compress(page, 9))
    (folder / "nginx.conf").write_text(NGINX.format(folder=folder, port=port))
    for path in [folder, pages, *pages.iterdir()]:
        path.chmod(0o755)
    process = subprocess.Popen(["nginx", "-c", folder / "nginx.conf"], stderr=subprocess.DEVNULL)
    time.sleep(1)
    return process


def resident(process):
    return int(re.search(r"VmRSS:\s*(\d+)", Path(f"/proc/{process.pid}/status").read_text())[1]) / 1024


def weight(folder):
    """Compressed bytes of what the first page names, of all scripts and styles, and of the largest files."""
    sizes = {path.name: len(gzip.compress(path.read_bytes(), 9)) for path in folder.rglob("*") if path.is_file() and path.suffix != ".map"}
    first = (folder / "index.html").read_text()
    named = sum(size for name, size in sizes.items() if name in first or name == "index.html")
    print(f"compressed: the first page with what it names {named / 1e3:.0f} kB, everything {sum(sizes.values()) / 1e3:.0f} kB")
    for name, size in sorted(sizes.items(), key=lambda item: -item[1])[:8]:
        print(f"  {size / 1e3:7.1f} kB  {name}")


def main():
    program, pages = os.path.abspath(sys.argv[1]), Path(sys.argv[2])
    turns, seconds = (int(text) for text in (sys.argv[3:] + ["5", "3"][len(sys.argv) - 3:])[:2])
    weight(pages)
    with tempfile.TemporaryDirectory() as name:
        studio = Studio(program, Path(name) / "data")
        studio.start()
        time.sleep(3)
        print(f"idle server: {resident(studio.process):.0f} MB resident")
        if not shutil.which("nginx") or not shutil.which("wrk"):
            sys.exit("nginx and wrk are missing; nothing was compared")
        nginx = start_nginx(Path(name), (pages / "index.html").read_bytes(), 8099)
        ours, theirs = [], []
        for _ in range(turns):
            ours.append(requests_per_second(studio.port, seconds))
            theirs.append(requests_per_second(8099, seconds))
        print(f"ubique serve {statistics.median(ours):.0f}/s {[round(n) for n in ours]}")
        print(f"nginx        {statistics.median(theirs):.0f}/s {[round(n) for n in theirs]}")
        print(f"ratio {statistics.median(ours) / statistics.median(theirs):.2f}, with {resident(studio.process):.0f} MB resident afterwards")
        nginx.terminate()
        nginx.wait()
        studio.stop()


main()
