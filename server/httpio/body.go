package httpio

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/footnote/footnote/chat"
)

// Bodies decodes the JSON and forms of requests, up to a size.
//
// It is a stateless value and safe for concurrent use. Its errors are chat.Errors: CodeUnsupported for another media
// type, CodeTooLarge over Max, CodeInvalid for the rest.
type Bodies struct {
	Max int64 // bytes of one body
}

// ReadJSON decodes one JSON object of at most b.Max bytes into v. An unknown field is refused by name.
func (b Bodies) ReadJSON(c Context, v any) error {
	return b.decodeJSON(c, v, (*json.Decoder).DisallowUnknownFields)
}

// ReadOpenJSON is ReadJSON for APIs defined by others: unknown fields are accepted.
func (b Bodies) ReadOpenJSON(c Context, v any) error {
	return b.decodeJSON(c, v, func(*json.Decoder) {})
}

// decodeJSON decodes a whole body, within its limit, into v.
func (b Bodies) decodeJSON(c Context, v any, set func(*json.Decoder)) error {
	body, err := b.ReadRaw(c)
	if err != nil {
		return err
	}
	return Decode(body, v, set)
}

// ReadRaw reads a body of at most b.Max bytes with the content type JSON, in UTF-8.
func (b Bodies) ReadRaw(c Context) ([]byte, error) {
	if !SendsJSON(c) {
		return nil, &chat.Error{
			Code:    chat.CodeUnsupported,
			Message: "This address takes JSON. Send it with the header Content-Type: application/json.",
		}
	}
	if err := LimitBody(c, b.Max); err != nil {
		return nil, err
	}
	body, err := io.ReadAll(c.Request().Body)
	if err != nil {
		return nil, jsonError(err)
	}
	return body, LegibleJSON(body)
}

// Decode decodes a body returned by ReadRaw into v, with the strict checks that encoding/json lacks.
func Decode(body []byte, v any, set func(*json.Decoder)) error {
	decoder := json.NewDecoder(bytes.NewReader(plainNumbers(body)))
	set(decoder)
	if err := decoder.Decode(v); err != nil {
		return jsonError(err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return Invalid("The body must be one JSON object with nothing after it.")
	}
	return CheckStrict(body, reflect.TypeOf(v))
}

// plainNumbers rewrites whole numbers such as 5.0 and 5e1 without point and exponent. JSON Schema and clients with
// one number type consider them whole, but the decoder parses them as fractions.
//
// A float64 holds every whole number up to 1<<53.
func plainNumbers(body []byte) []byte {
	var out []byte
	done := 0
	for i := 0; i < len(body); i++ {
		switch b := body[i]; {
		case b == '"':
			for i++; i < len(body) && body[i] != '"'; i++ {
				if body[i] == '\\' {
					i++
				}
			}
		case b == '-' || b >= '0' && b <= '9':
			end := i + 1
			for end < len(body) && strings.IndexByte("0123456789.eE+-", body[end]) >= 0 {
				end++
			}
			token := body[i:end]
			if n, err := strconv.ParseFloat(string(token), 64); err == nil && bytes.ContainsAny(token, ".eE") &&
				json.Valid(token) && n == math.Trunc(n) && math.Abs(n) < 1<<53 {
				out = strconv.AppendInt(append(out, body[done:i]...), int64(n), 10)
				done = end
			}
			i = end - 1
		}
	}
	if done == 0 {
		return body
	}
	return append(out, body[done:]...)
}

// LimitBody refuses a body whose Content-Length exceeds limit, and stops reading others at the limit.
func LimitBody(c Context, limit int64) error {
	r := c.Request()
	c.Set(wholeBody, r.Body)
	if r.ContentLength > limit {
		return bodyTooLarge(limit)
	}
	r.Body = http.MaxBytesReader(c.Response(), r.Body, limit)
	return nil
}

// FileTooLarge returns the error for an uploaded file over the limit in bytes.
func FileTooLarge(name string, limit int64) error {
	return &chat.Error{Code: chat.CodeTooLarge, Message: name + " is larger than " +
		humanize.IBytes(uint64(limit)) + ", the limit for one file. Split it, or raise FOOTNOTE_MAX_UPLOAD_MIB."}
}

// wholeBody is the context key of a request's body without the limit.
const wholeBody = "whole body"

// Limits for draining a refused body, in bytes and time. Clients that send the whole body before they read would
// otherwise get a broken connection instead of the response.
const (
	// Both are estimates: enough for the data that clients have in flight, and too little to keep the server busy.
	discardBytes = 8 << 20
	discardTime  = 2 * time.Second
)

// discardBody reads the rest of a body over its limit or without a route, up to discardBytes and discardTime. It
// reads nothing if the request has the header Expect: that client gets the response before it sends its body.
func discardBody(c Context) {
	whole := c.Get(wholeBody)
	if whole == nil {
		whole = c.Request().Body
	}
	body, ok := whole.(*pacedBody)
	if !ok || body.ended || c.Request().Header.Get("Expect") != "" {
		return
	}
	_ = body.control.SetReadDeadline(time.Now().Add(discardTime))
	body.ended = true                                          // this deadline is its last
	_, _ = io.CopyN(io.Discard, body.ReadCloser, discardBytes) // best effort: the refusal follows in any case
}

// bodyTooLarge returns the error for a body over the limit in bytes.
func bodyTooLarge(limit int64) error {
	return &chat.Error{Code: chat.CodeTooLarge, Message: "The request is larger than " + humanize.IBytes(
		uint64(limit),
	) + ", the limit here. Send less at once; long texts can be uploaded as documents."}
}

// jsonError returns a user-facing message for a decoding error, with the field's name.
func jsonError(err error) error {
	if tooLarge, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return bodyTooLarge(tooLarge.Limit)
	}
	if ours, ok := errors.AsType[*chat.Error](err); ok { // an error of the field's own decoder
		return ours
	}
	if kind, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		if kind.Field == "" {
			return Invalid("The body must be a JSON object, not " + withArticle(kind.Value) + ".")
		}
		if kind.Type == reflect.TypeFor[Moment]() {
			return Invalid(fmt.Sprintf(
				"The field %q must be a day such as 2026-01-31 or a time such as 2026-01-31T12:00:00Z.", kind.Field,
			))
		}
		field := strings.TrimPrefix(kind.Field, "Question.") // the decoder includes the embedded struct's name
		return Invalid(fmt.Sprintf(
			"The field %q can't be %s here. Look up its type in the API's description.", field, withArticle(kind.Value),
		))
	}
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return Invalid(
			fmt.Sprintf("The body is not valid JSON: it breaks off or goes wrong at byte %d.", syntax.Offset),
		)
	}
	if errors.Is(err, io.EOF) {
		return Invalid("The body is empty. Send a JSON object.")
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return Invalid("The body is not valid JSON: it breaks off before its end.")
	}
	if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok { // the decoder has no error type for it
		return Invalid("The field " + name + " is not known here. Check its spelling or leave it out.")
	}
	return &chat.Error{
		Code: chat.CodeInvalid, Message: "The body could not be read. Check its form and try again.", Err: err,
	}
}

// withArticle prefixes the decoder's name of a JSON value, such as "number" or "number 1.5", with "a" or "an".
func withArticle(value string) string {
	if strings.HasPrefix(value, "a") || strings.HasPrefix(value, "o") {
		return "an " + value
	}
	return "a " + value
}

// ReadForm parses an HTML form of at most b.Max bytes; files in it are refused.
func (b Bodies) ReadForm(c Context) error {
	if err := LimitBody(c, b.Max); err != nil {
		return err
	}
	r := c.Request()
	var err error
	switch MediaType(c) {
	case TypeMultipart:
		err = r.ParseMultipartForm(b.Max)
	case TypeForm:
		err = r.ParseForm()
	default:
		return &chat.Error{
			Code: chat.CodeUnsupported, Message: "Send a form, or JSON with the header Content-Type: application/json.",
		}
	}
	if tooLarge, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return bodyTooLarge(tooLarge.Limit)
	}
	if err != nil {
		return &chat.Error{
			Code: chat.CodeInvalid, Message: "The form could not be read. Reload the page and try again.", Err: err,
		}
	}
	if err := legibleValues(r.PostForm, notUTF8); err != nil {
		return err
	}
	return withoutNUL(r.PostForm)
}
