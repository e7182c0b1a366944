"""Serves a folder by WebDAV on loopback, as user ada with the password "secret", until its input ends."""

import os
import sys
import threading

from cheroot import wsgi
from wsgidav.wsgidav_app import WsgiDAVApp

app = WsgiDAVApp({
    "provider_mapping": {"/dav": {"root": sys.argv[1], "readonly": True}},
    "simple_dc": {"user_mapping": {"*": {"ada": {"password": "secret"}}}},
    "http_authenticator": {"accept_basic": True, "accept_digest": False, "default_to_digest": False},
    "verbose": 0,
    "logging": {"enable": False},
})
server = wsgi.Server(("127.0.0.1", 0), app)
server.prepare()


def end_with_input():
    sys.stdin.read()
    os._exit(0)


threading.Thread(target=end_with_input, daemon=True).start()
print(server.bind_addr[1], flush=True)
server.serve()
