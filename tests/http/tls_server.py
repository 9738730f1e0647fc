"""A TLS server that is not ours: Python's, on OpenSSL.

usage: tls_server.py CERTIFICATE KEY PORT [--client-ca FILE] [--tls12]

Answers each request with "METHOD PATH BODY", keeps connections, and ends when its input ends. The
first line of its output is its port.
"""

import argparse
import http.server
import socketserver
import ssl
import sys
import threading


class Answer(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        out = f"{self.command} {self.path} ".encode() + body
        self.send_response(200)
        self.send_header("Content-Length", str(len(out)))
        self.end_headers()
        self.wfile.write(out)

    do_GET = do_POST = answer

    def log_message(self, *_):
        pass


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True

    def __init__(self, port, context):
        super().__init__(("127.0.0.1", port), Answer)
        self.context = context

    def finish_request(self, request, client_address):
        try:
            with self.context.wrap_socket(request, server_side=True) as secure:
                super().finish_request(secure, client_address)
        except OSError:
            pass  # the tests are about clients that give up


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("certificate")
    parser.add_argument("key")
    parser.add_argument("port", type=int)
    parser.add_argument("--client-ca")
    parser.add_argument("--tls12", action="store_true")
    asked = parser.parse_args()

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(asked.certificate, asked.key)
    if asked.tls12:
        context.maximum_version = ssl.TLSVersion.TLSv1_2
    if asked.client_ca:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(asked.client_ca)

    server = Server(asked.port, context)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_address[1], flush=True)
    sys.stdin.read()


main()
