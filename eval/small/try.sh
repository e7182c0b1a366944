#!/bin/bash
# Starts the trial model on loopback and asks it every nth answerable question of eval/real/open.tsv; make try-model says how.
# TRY=5 asks five. FOOTNOTE_* settings hold as everywhere. The server ends with the script.
set -eu
cache=$PWD/.cache
have=$cache/try-model
count=${TRY:-20}
asked=$(mktemp) && log=$(mktemp)
trap 'kill $server 2>/dev/null; wait $server 2>/dev/null; rm -f $asked' EXIT
awk -F'\t' -v count="$count" '
  !/^#/ && $2 != "-" { line[++n] = $0 }
  END { for (i = 0; i < count; i++) print line[int(i * n / count) + 1] }' eval/real/open.tsv > "$asked"
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
LD_LIBRARY_PATH=$have/bin "$have/bin/llama-server" --model "$have/model.gguf" --alias qwen2.5-coder-1.5b --jinja \
  --ctx-size 8192 --parallel 1 --threads "${THREADS:-2}" --host 127.0.0.1 --port "$port" > "$log" 2>&1 & server=$!
for _ in $(seq 120); do
  python3 -c "import urllib.request; urllib.request.urlopen('http://127.0.0.1:$port/health')" 2>/dev/null && break
  kill -0 $server || { tail "$log"; exit 1; }
  sleep 1
done
FOOTNOTE_MODEL=openai OPENAI_BASE_URL=http://127.0.0.1:$port/v1 OPENAI_MODEL=qwen2.5-coder-1.5b \
  bin/footnote eval agent --with settings --questions "$asked" --documents .cache/real/documents
rm -f "$log"
