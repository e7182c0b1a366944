package scripted

import (
	"cmp"
	"encoding/json"
	"hash/fnv"
	"io"
	"math"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/footnote/footnote/agent/llm"
)

// maxBody is the maximum size of a request in bytes, 32 MiB; larger ones are refused.
const maxBody = 32 << 20

// Config configures a server's replies. The zero value is a Librarian that replies at once and records no requests.
type Config struct {
	Script Script        // nil: Librarian
	Delay  time.Duration // before each chunk, unless the reply has its own
	Tokens int           // number of chunks of each text reply; 0: as in the script
	Model  string        // the name in /v1/models; empty: "scripted"
	Owner  string        // likewise; empty: "footnote"
	Room   int           // context size in tokens, as in llama.cpp's field; 0: not reported
	Judge  Judge         // of yes-or-no questions, which do not reach the script; nil: yes to all
	Record int           // maximum number of recorded requests: the last ones
}

// Server is a server for OpenAI's protocol, with streamed chat completions, embeddings and the list of models, and
// for Anthropic's, with streamed messages. Serve it with net/http or httptest. It is safe for concurrent use.
type Server struct {
	config Config
	// mux handles both protocols; mu guards the fields below it. count is the number of chat requests, seen the
	// last of them.
	mux   *http.ServeMux
	mu    sync.Mutex
	count int
	seen  []Request
}

// NewServer returns a server. Each path is also served with the prefix /v1.
func NewServer(c Config) *Server {
	if c.Script == nil {
		c.Script = Librarian
	}
	if c.Model == "" {
		c.Model = "scripted"
	}
	s := &Server{config: c, mux: http.NewServeMux()}
	// Clients differ in whether their base URL ends with /v1.
	for _, prefix := range []string{"", "/v1"} {
		s.mux.HandleFunc("POST "+prefix+"/chat/completions", s.serveChat)
		s.mux.HandleFunc("POST "+prefix+"/messages", s.serveMessages)
		s.mux.HandleFunc("POST "+prefix+"/embeddings", s.serveEmbeddings)
		s.mux.HandleFunc("GET "+prefix+"/models", s.serveModels)
	}
	return s
}

// ServeHTTP implements http.Handler. A body is limited to 32 MiB, and an unknown path gets 404.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	s.mux.ServeHTTP(w, r)
}

// Requests returns the last requests, oldest first, up to Config.Record. The elements of the copy must not be
// modified.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.seen)
}

// Count returns the number of chat requests, without refused ones.
func (s *Server) Count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.count
}

// noteRequest numbers a request, and records it if Config.Record is set.
func (s *Server) noteRequest(r Request) Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.N = s.count
	s.count++
	if s.config.Record > 0 {
		s.seen = append(s.seen, r)
		s.seen = s.seen[max(0, len(s.seen)-s.config.Record):]
	}
	return r
}

// serveChat handles a request in OpenAI's protocol. Config.Tokens applies to text replies without a fault.
func (s *Server) serveChat(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		writeRefusal(w, http.StatusRequestEntityTooLarge, "too_large", err.Error())
		return
	}
	asked, err := readRequest(body)
	if err != nil {
		writeRefusal(w, http.StatusBadRequest, "invalid_request_error", err.Error())
		return
	}
	if asked.TopLogprobs > 0 {
		writeVerdict(w, s.config.Judge.odds(asked.Request))
		return
	}
	asked = s.noteRequest(asked)
	reply := s.config.Script(asked).fillReply(asked.N)
	// Errors and broken streams are left unchanged.
	if len(reply.Calls) == 0 && reply.Fault.isNone() {
		reply.Chunks = exactChunks(reply.Chunks, s.config.Tokens)
	}
	if reply.Delay == 0 {
		reply.Delay = s.config.Delay
	}
	streamReply(w, r, reply)
}

// serveModels lists the one model. n_ctx is the field in which llama.cpp's server reports the context size in
// tokens.
func (s *Server) serveModels(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]any{"object": "list", "data": []any{
		map[string]any{"id": s.config.Model, "object": "model", "created": 0,
			"owned_by": cmp.Or(s.config.Owner, "footnote"), "meta": map[string]any{"n_ctx": s.config.Room}},
	}})
}

// writeRefusal writes an error in OpenAI's format.
func writeRefusal(w http.ResponseWriter, status int, code, message string) {
	writeJSON(w, status, map[string]any{"error": map[string]any{"message": message, "type": code, "code": code}})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client has disconnected
}

// wireRequest is a chat request, with the fields that this server uses.
type wireRequest struct {
	Model    string `json:"model"`
	Messages []struct {
		Role       llm.Role        `json:"role"`
		Content    json.RawMessage `json:"content"`
		ToolCallID string          `json:"tool_call_id"`
		// A call's arguments are JSON encoded as a string, as in the real protocol.
		ToolCalls []struct {
			ID       string `json:"id"`
			Function struct {
				Name      string `json:"name"`
				Arguments string `json:"arguments"`
			} `json:"function"`
		} `json:"tool_calls"`
	} `json:"messages"`
	Tools []struct {
		Function struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Parameters  json.RawMessage `json:"parameters"`
		} `json:"function"`
	} `json:"tools"`
	ToolChoice  json.RawMessage `json:"tool_choice"`
	Temperature *float64        `json:"temperature"`
	Seed        *int64          `json:"seed"`
	MaxTokens   int             `json:"max_tokens"`
	TopLogprobs int             `json:"top_logprobs"`
}

// readRequest decodes a request for scripts.
func readRequest(body []byte) (Request, error) {
	var wire wireRequest
	if err := json.Unmarshal(body, &wire); err != nil {
		return Request{}, err
	}
	r := Request{Model: wire.Model}
	r.Temperature, r.Seed, r.MaxTokens, r.TopLogprobs = wire.Temperature, wire.Seed, wire.MaxTokens, wire.TopLogprobs
	r.NoTools = string(wire.ToolChoice) == `"none"`
	for _, m := range wire.Messages {
		msg := llm.Message{Role: m.Role, Text: contentText(m.Content), CallID: m.ToolCallID}
		for _, c := range m.ToolCalls {
			msg.Calls = append(
				msg.Calls, llm.Call{ID: c.ID, Name: c.Function.Name, Arguments: json.RawMessage(c.Function.Arguments)},
			)
		}
		r.Messages = append(r.Messages, msg)
	}
	for _, t := range wire.Tools {
		r.Tools = append(r.Tools, llm.ToolSpec{
			Name: t.Function.Name, Description: t.Function.Description, Schema: t.Function.Parameters,
		})
	}
	return r, nil
}

// contentText decodes a content that is a string or a list of text parts.
func contentText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var parts []struct {
		Text string `json:"text"`
	}
	_ = json.Unmarshal(raw, &parts) // null and other types are not text
	var b strings.Builder
	for _, part := range parts {
		b.WriteString(part.Text)
	}
	return b.String()
}

// Dimensions is the size of the server's embeddings, that of all-MiniLM-L6-v2, the embedding model that the product
// can run itself.
const Dimensions = 384

// serveEmbeddings returns embeddings of hashed words: texts with common words are similar, and the same text always
// has the same vector.
//
// The input is a text or a list of texts, and the response has floats, whatever encoding was requested. It refuses
// any other input with 400. The requested model is named in the response and has no effect.
func (s *Server) serveEmbeddings(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Model string          `json:"model"`
		Input json.RawMessage `json:"input"`
	}
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
		writeRefusal(w, http.StatusBadRequest, "invalid_request_error", err.Error())
		return
	}
	var texts []string
	var one string
	if json.Unmarshal(asked.Input, &one) == nil {
		texts = []string{one}
	} else if err := json.Unmarshal(asked.Input, &texts); err != nil {
		writeRefusal(w, http.StatusBadRequest, "invalid_request_error", "input must be a string or a list of strings")
		return
	}
	data := make([]any, len(texts))
	words := 0
	for i, text := range texts {
		data[i] = map[string]any{"object": "embedding", "index": i, "embedding": Vector(text)}
		words += len(strings.Fields(text))
	}
	writeJSON(w, http.StatusOK, map[string]any{
		"object": "list", "model": asked.Model, "data": data,
		"usage": map[string]int{"prompt_tokens": words, "total_tokens": words},
	})
}

// Vector returns the unit vector of a text: each word, truncated to five letters as a simple stemmer, adds to three
// dimensions.
//
// Words are letters and digits, case-insensitive. Two texts have a high cosine if they share words; it does not
// model meaning. A text without words has a vector too, so that none has length 0.
func Vector(text string) []float32 {
	v := make([]float32, Dimensions)
	notLetter := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	for _, word := range strings.FieldsFunc(strings.ToLower(text), notLetter) {
		// Five letters make “roofs” and “roof” different but “condition” and “conditions” equal.
		runes := []rune(word)
		h := fnv.New64a()
		_, _ = h.Write([]byte(string(runes[:min(5, len(runes))]))) // writing to a hash can't fail
		sum := h.Sum64()
		for range 3 {
			sign := float32(1)
			if sum&1 == 1 {
				sign = -1
			}
			v[(sum>>1)%Dimensions] += sign
			sum = sum>>20 | sum<<44
		}
	}
	var norm float64
	for _, x := range v {
		norm += float64(x) * float64(x)
	}
	if norm == 0 {
		v[0], norm = 1, 1
	}
	for i := range v {
		v[i] = float32(float64(v[i]) / math.Sqrt(norm))
	}
	return v
}
