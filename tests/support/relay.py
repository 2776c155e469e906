"""relay.py - stands before a server on loopback as a TLS end or as an HTTP proxy, while a command runs.

  relay.py tls CERT KEY URL -- COMMAND…    $RELAY: https, passed on to URL
  relay.py proxy URL -- COMMAND…           $RELAY: a proxy that passes everything on to URL; afterwards what it was asked
                                           for is told on standard error, a kind a line
COMMAND's exit code is the exit code. Every wait ends after 30 seconds.
"""
import os
import socket
import ssl
import subprocess
import sys
import threading
import urllib.parse

TIMEOUT_S = 30
asked = {}


def pump(source, target):
    try:
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        pass


def join(client, server):
    back = threading.Thread(target=pump, args=(server, client), daemon=True)
    back.start()
    pump(client, server)
    back.join(TIMEOUT_S)


def head_of(client):
    """The request's head, and what came with it."""
    data = b""
    while b"\r\n\r\n" not in data:
        more = client.recv(65536)
        if not more:
            break
        data += more
    return data


def serve_proxy(client, server):
    head = head_of(client)
    line, _, rest = head.partition(b"\r\n")
    method, _, target = line.decode("latin-1").partition(" ")
    kind = "CONNECT" if method == "CONNECT" else method + " of " + urllib.parse.urlsplit(target.split(" ")[0]).path
    asked[kind] = asked.get(kind, 0) + 1
    if method == "CONNECT":
        client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
    else:
        url = urllib.parse.urlsplit(target.split(" ")[0])
        first = f"{method} {url.path} HTTP/1.1\r\nConnection: close\r\n"
        server.sendall(first.encode() + rest)
    join(client, server)


def handle(client, mode, context, to):
    client.settimeout(TIMEOUT_S)
    try:
        with socket.create_connection(to, TIMEOUT_S) as server:
            if mode == "tls":
                with context.wrap_socket(client, server_side=True) as secure:
                    join(secure, server)
            else:
                with client:
                    serve_proxy(client, server)
    except OSError:
        client.close()


def accept(listener, *how):
    while True:
        client, _ = listener.accept()
        threading.Thread(target=handle, args=(client, *how), daemon=True).start()


def main():
    split = sys.argv.index("--")
    mode, *files, url = sys.argv[1:split]
    context = None
    if mode == "tls":
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*files)
    place = urllib.parse.urlsplit(url)
    listener = socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=accept, args=(listener, mode, context, (place.hostname, place.port)), daemon=True).start()
    port = listener.getsockname()[1]
    relay = f"https://127.0.0.1:{port}{place.path}" if mode == "tls" else f"http://127.0.0.1:{port}"
    code = subprocess.run(sys.argv[split + 1:], env={**os.environ, "RELAY": relay}).returncode
    for kind in sorted(asked):
        print(f"the proxy was asked for: {kind}", file=sys.stderr)
    sys.exit(code)


main()
