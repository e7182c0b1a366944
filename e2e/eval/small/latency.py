"""Measures how long the check of passages takes with a simulated model server: latency.py QUESTIONS DOCUMENTS.

The server reads READ tokens and writes WRITE tokens a second, one request after the other, and has a cache of the last prompt's beginning.
A token is four characters. It says yes to every check.
"""
import http.server
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
PROGRAM = os.environ.get("FOOTNOTE_BIN", os.path.join(ROOT, "bin", "footnote"))
READ, WRITE, TOKEN = 800, 40, 4
REPLY = "The documents hold no answer."


class Server(http.server.BaseHTTPRequestHandler):
    """Server is the simulated server of a model."""
    protocol_version, busy, cached = "HTTP/1.1", threading.Lock(), ""

    def do_GET(self):
        self.reply("application/json", json.dumps({"object": "list", "data": [{"id": "simulated", "object": "model"}]}))

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        prompt = "\n".join(str(m.get("content")) for m in body["messages"])
        judged = body.get("logprobs", False)
        said = "yes" if judged else REPLY
        with self.busy:
            new = len(prompt) - len(os.path.commonprefix([prompt, Server.cached]))
            Server.cached = prompt
            time.sleep(new / TOKEN / READ + max(1, len(said) / TOKEN) / WRITE)
        choice = {"index": 0, "delta": {"content": said}, "finish_reason": "stop"}
        if judged:
            first = [{"token": "yes", "logprob": -0.1}, {"token": "no", "logprob": -2.4}]
            choice["logprobs"] = {"content": [{**first[0], "top_logprobs": first}]}
        self.reply("text/event-stream", "data: " + json.dumps({"choices": [choice]}) + "\n\ndata: [DONE]\n\n")

    def reply(self, kind, text):
        """reply sends a whole response."""
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_):
        pass


def check(url, question):
    """check returns how many seconds the first check of passages took in a run, and how many passages it read; None without one."""
    request = urllib.request.Request(url + "/agent/query", json.dumps({"question": question}).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        for step in json.load(answer)["steps"]:
            if step.get("tool_name") == "check_passages":
                return step["duration_ms"] / 1000, len(step["tool_input"]["quotes"])
    return None


def main(questions, documents):
    """main prints p50, p95 and the longest."""
    model = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=model.serve_forever, daemon=True).start()
    with open(questions, encoding="utf-8") as file:
        asked = [line.rstrip("\n").split("\t")[4] for line in file if not line.startswith("#") and line.strip()]
    with tempfile.TemporaryDirectory() as data:
        environment = {**os.environ, "FOOTNOTE_CONFIG": "", "FOOTNOTE_DATA": data, "FOOTNOTE_ADDR": "127.0.0.1:0", "FOOTNOTE_MODEL": "openai",
                       "FOOTNOTE_AGENT_PROFILE": "small", "FOOTNOTE_AGENT_CHECK_PASSAGES": "quotes", "OPENAI_MODEL": "simulated",
                       "OPENAI_BASE_URL": f"http://127.0.0.1:{model.server_port}/v1"}
        subprocess.run([PROGRAM, "ingest", documents], env=environment, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        server = subprocess.Popen([PROGRAM, "serve"], env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            url = next(found.group() for line in server.stdout if (found := re.search(r"http://\S+", line)))
            took = sorted(took for question in asked if (took := check(url, question)))
        finally:
            server.terminate()
            server.wait()
    seconds = [t for t, _ in took]
    print(f"{len(took)} checks of {sum(n for _, n in took) / len(took):.1f} passages for {len(asked)} questions: "
          f"p50 {seconds[len(seconds) // 2]:.2f} s, p95 {seconds[int(len(seconds) * 0.95)]:.2f} s, longest {seconds[-1]:.2f} s")


if __name__ == "__main__":
    main(*sys.argv[1:])
