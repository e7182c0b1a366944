package main

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"regexp"
	"strconv"
	"time"
)

// supported is a text of the document that a run cites: an unsupported answer would be retried. The answer's claim
// consists of words of smallLibrary's survey.
var supported = []string{" the", " roof", " is", " in", " fair", " condition", " four", " slipped"}

// closing are the words before the ends of the sentences. Each is unique, so that no sentence is repeated.
var closing = [tokens / 20]string{
	" the", " roof", " is", " in", " fair", " condition", " four", " slipped", " survey", " found",
}

// tokens is the number of tokens of the answer, about a long paragraph. The value is arbitrary.
const tokens = 200

// dimensions is the size of the fake embeddings, that of small local embedding models such as all-MiniLM-L6-v2.
const dimensions = 384

// docID matches the first document id in the result of a search. The result is JSON inside JSON, hence the
// backslashes.
var docID = regexp.MustCompile(`doc_id\\":\s*\\"([^"\\]+)`)

// serveModel is the fake model server: two tool calls, then an answer of 200 tokens, three requests for each run.
//
// args are the address to listen on and the delay: ms before each token, or if negative ms before each turn. It
// determines the turn of a run by counting the tool results in the history, and is stateless, so any number of runs
// can be concurrent. It returns only on an error.
func serveModel(args []string) error {
	delay, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	pace := time.Duration(max(delay, 0)) * time.Millisecond
	wait := time.Duration(max(-delay, 0)) * time.Millisecond // a negative delay is for each turn
	mux := http.NewServeMux()
	mux.HandleFunc("GET /ready", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"object":"list","data":[{"id":"bench","object":"model"}]}`)
	})
	mux.HandleFunc("POST /v1/chat/completions", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		time.Sleep(wait)
		w.Header().Set("Content-Type", "text/event-stream")
		switch bytes.Count(body, []byte(`"role":"tool"`)) {
		case 0:
			toolCall(w, "search_documents", `{\"query\":\"roof condition survey\"}`)
		case 1:
			id := "none"
			if found := docID.FindSubmatch(body); found != nil {
				id = string(found[1])
			}
			toolCall(w, "read_document", `{\"doc_id\":\"`+id+`\",\"focus_query\":\"roof\"}`)
		default:
			answerChat(w, r, pace)
		}
	})
	mux.HandleFunc("POST /v1/embeddings", answerEmbeddings)
	return http.ListenAndServe(args[0], mux) //nolint:gosec // a fake on loopback, ended by its parent
}

// chunk is the prefix of each event of a stream, in the format of OpenAI's chat completions.
const chunk = `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"bench","choices":[{"index":0,` +
	`"delta":`

// toolCall writes a whole reply that calls one tool. arguments is JSON escaped for a JSON string. The token counts
// are invented.
func toolCall(w io.Writer, name, arguments string) {
	fmt.Fprintf(
		w,
		chunk+`{"role":"assistant","tool_calls":[{"index":0,"id":"call_%s","type":"function","function":{"name":"%s",`+
			`"arguments":"%s"}}]},"finish_reason":null}]}`+"\n\n",
		name, name, arguments,
	)
	fmt.Fprint(
		w,
		chunk+`{},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":900,"completion_tokens":20,`+
			`"total_tokens":920}}`+"\n\ndata: [DONE]\n\n",
	)
}

// answerChat streams the answer and flushes each token, like a real server. Two of the 200 have a footnote, and
// every twentieth one ends a sentence. The word before it is different in each sentence (closing): a model that
// repeats itself is stopped, and the run would end with it.
func answerChat(w http.ResponseWriter, r *http.Request, pace time.Duration) {
	flush := http.NewResponseController(w)
	var tick *time.Ticker
	if pace > 0 {
		tick = time.NewTicker(pace)
		defer tick.Stop()
	}
	for i := range tokens {
		if tick != nil {
			select {
			case <-tick.C:
			case <-r.Context().Done():
				return
			}
		}
		word := supported[i%len(supported)]
		switch {
		case i%100 == 60:
			word = " roof [1]"
		case i%20 == 18:
			word = closing[i/20]
		case i%20 == 19:
			word = " slates."
		}
		fmt.Fprintf(w, chunk+`{"content":"%s"},"finish_reason":null}]}`+"\n\n", word)
		if flush.Flush() != nil {
			return
		}
	}
	fmt.Fprint(
		w,
		chunk+`{},"finish_reason":"stop"}],"usage":{"prompt_tokens":2000,"completion_tokens":200,"total_tokens":2200}}`+
			"\n\ndata: [DONE]\n\n",
	)
}

// answerEmbeddings returns unit vectors that depend only on the text, encoded as base64 on request. Equal texts
// have equal vectors and all others are nearly orthogonal, so semantic search has meaningless results. Only its
// time is measured: an index of such vectors is a hard case, since they have no clusters.
func answerEmbeddings(w http.ResponseWriter, r *http.Request) {
	var req struct {
		Input          json.RawMessage `json:"input"`
		EncodingFormat string          `json:"encoding_format"`
	}
	if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var texts []string
	if json.Unmarshal(req.Input, &texts) != nil {
		texts = []string{string(req.Input)}
	}
	type item struct {
		Object    string `json:"object"`
		Index     int    `json:"index"`
		Embedding any    `json:"embedding"`
	}
	items := make([]item, len(texts))
	for i, text := range texts {
		items[i] = item{Object: "embedding", Index: i, Embedding: textVector(text)}
		if req.EncodingFormat == "base64" {
			raw := make([]byte, 0, 4*dimensions)
			// OpenAI's base64 encoding is float32 in little-endian order.
			for _, x := range textVector(text) {
				raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(x))
			}
			items[i].Embedding = base64.StdEncoding.EncodeToString(raw)
		}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{
		"object": "list", "model": "bench", "data": items,
		"usage": map[string]int{"prompt_tokens": 1, "total_tokens": 1},
	})
}

// textVector returns a vector of normal distribution, seeded by the text's hash, normalised to length 1. So its
// direction is uniform.
func textVector(text string) []float32 {
	h := fnv.New64a()
	_, _ = io.WriteString(h, text)
	random := rand.New(rand.NewPCG(h.Sum64(), 1)) //nolint:gosec // repeatable, not secret
	v := make([]float32, dimensions)
	var sum float64
	for i := range v {
		x := random.NormFloat64()
		v[i] = float32(x)
		sum += x * x
	}
	norm := float32(1 / math.Sqrt(sum))
	for i := range v {
		v[i] *= norm
	}
	return v
}
