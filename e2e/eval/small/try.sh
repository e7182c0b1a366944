#!/bin/bash
# Starts a trial model on loopback and asks it every nth answerable question of e2e/eval/real/open.tsv; make try-model says how.
# MODEL names a file of this directory; TRY=5 asks five. FOOTNOTE_* settings hold as everywhere and THREADS is of the model.
# The server ends with the script.
set -eu
have=$PWD/.cache/try-model
model=${MODEL:-qwen2.5-coder-1.5b}
asked=$(mktemp) && log=$(mktemp) && address=$(mktemp)
trap 'kill $server 2>/dev/null; wait $server 2>/dev/null || true; rm -f $asked $address' EXIT
awk -F'\t' -v count="${TRY:-20}" '
  !/^#/ && $2 != "-" { line[++n] = $0 }
  END { for (i = 0; i < count; i++) print line[int(i * n / count) + 1] }' e2e/eval/real/open.tsv > "$asked"
# Threads that wait for each other without sleeping stand still where other work has the processors.
OMP_WAIT_POLICY=passive PYTHONPATH=$have/server python3 e2e/eval/small/serve.py "$have/$model.gguf" "$model" "${THREADS:-2}" \
  > "$address" 2> "$log" & server=$!
for _ in $(seq 120); do
  grep -q ^http "$address" && break
  kill -0 $server || { tail "$log"; exit 1; }
  sleep 1
done
FOOTNOTE_MODEL=openai OPENAI_BASE_URL=$(grep -m1 ^http "$address")/v1 OPENAI_MODEL=$model \
  bin/footnote eval agent --with settings --questions "$asked" --documents .cache/real/documents
rm -f "$log"
