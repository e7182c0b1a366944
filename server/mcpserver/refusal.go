package mcpserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"mime"
	"net/http"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/footnote/footnote/server/httpio"
)

// plainFailures captures plain-text failures and passes other responses through. The protocol's library sends such
// failures for input that it can't decode, and clients must get errors in one form.
//
// It serves one request. keptFailure returns the captured failure once the library is done, and the error handler
// sends it.
type plainFailures struct {
	http.ResponseWriter
	status int // of the captured failure; 0: none
	text   bytes.Buffer
}

// WriteHeader captures a plain failure of the SDK, to be sent in our form.
func (w *plainFailures) WriteHeader(status int) {
	kind, _, err := mime.ParseMediaType(w.Header().Get("Content-Type"))
	if status >= http.StatusBadRequest && err == nil && kind == httpio.TypeText {
		w.status = status
		return
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write captures the text of such a failure, up to maxRefusal bytes.
func (w *plainFailures) Write(p []byte) (int, error) {
	if w.status == 0 {
		return w.ResponseWriter.Write(p)
	}
	w.text.Write(p[:min(len(p), max(0, maxRefusal-w.text.Len()))])
	return len(p), nil
}

// Unwrap supports http.ResponseController.
func (w *plainFailures) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// maxRefusal is the maximum number of bytes of a failure's text: one sentence.
const maxRefusal = 300

// keptFailure returns the captured failure as one of our errors; nil if none was captured.
func (w *plainFailures) keptFailure() error {
	switch {
	case w.status == 0:
		return nil
	case w.status == http.StatusBadRequest:
		reason := strings.ToValidUTF8(strings.TrimSpace(w.text.String()), "")
		if strings.Contains(reason, "unmarshal") {
			reason = "a field has the wrong type, or the message is incomplete" // the library's text contains Go types
		}
		return httpio.Invalid(
			"This is not a message of the Model Context Protocol ({1}). Send one JSON-RPC message.",
			reason,
		)
	case w.status < http.StatusInternalServerError:
		return httpio.StatusError(w.status)
	}
	return errors.New("model context protocol: " + w.text.String())
}

// maxBatch is the maximum number of messages in a request. Each is answered, "tools/list" with 150 times its size.
const maxBatch = 50

// checkBatch refuses a body that is not JSON or has too many messages.
//
// A body with a single message passes.
func checkBatch(body []byte) error {
	if !json.Valid(body) {
		return httpio.Invalid("This is not a message of the Model Context Protocol (it is not valid JSON). " +
			"Send one JSON-RPC message.")
	}
	var messages []json.RawMessage
	if json.Unmarshal(body, &messages) == nil && len(messages) > maxBatch {
		return httpio.Invalid(
			"A request may contain at most {1} messages, but this one contains {2}. Split it.",
			maxBatch, len(messages),
		)
	}
	return nil
}

// checkCallParams refuses a call with parameters of the wrong types.
//
// The library reports all other errors of a message; for these its error contains names of Go types.
func checkCallParams(body []byte) error {
	var message struct {
		Method string                `json:"method"`
		Params sdk.CallToolParamsRaw `json:"params"`
	}
	wrong, ok := errors.AsType[*json.UnmarshalTypeError](json.Unmarshal(body, &message))
	if ok && message.Method == "tools/call" && strings.HasPrefix(wrong.Field, "params") {
		return httpio.Invalid(
			`The params of tools/call must be an object such as {"name": "search", "arguments": {"query": "roof"}}.`,
		)
	}
	return nil
}
