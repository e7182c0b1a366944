"""Serves a model on loopback: serve.py FILE NAME THREADS. It prints its address, and ends at a signal."""
import signal
import sys

import xllamacpp

file, name, threads = sys.argv[1:]
params = xllamacpp.CommonParams()
params.model.path, params.model_alias = file, {name}
params.hostnames, params.port = ["127.0.0.1"], 0
params.n_ctx, params.n_parallel, params.use_jinja = 8192, 1, True
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = int(threads)
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
signal.pause()
