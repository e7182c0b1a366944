package httpio

import (
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text/locale"
)

// Bodies decodes the JSON and forms of requests, up to a size.
//
// It is a stateless value and safe for concurrent use. Its errors are chat.Errors: CodeUnsupported for another media
// type, CodeTooLarge over Max, CodeInvalid for the rest.
type Bodies struct {
	Max int64 // bytes of one body
}

// ReadJSON decodes one JSON object of at most b.Max bytes into v; see DecodeJSON.
func (b Bodies) ReadJSON(c Context, v any) error { return b.decode(c, v, DecodeJSON) }

// ReadOpenJSON is ReadJSON for APIs defined by others; see DecodeOpenJSON.
func (b Bodies) ReadOpenJSON(c Context, v any) error { return b.decode(c, v, DecodeOpenJSON) }

func (b Bodies) decode(c Context, v any, decode func([]byte, any) error) error {
	body, err := b.ReadRaw(c)
	if err != nil {
		return err
	}
	return decode(body, v)
}

// ReadRaw reads a body of at most b.Max bytes with the content type JSON, and does not validate it.
func (b Bodies) ReadRaw(c Context) ([]byte, error) {
	if !SendsJSON(c) {
		return nil, &chat.Error{
			Code:    chat.CodeUnsupported,
			Message: "This route requires JSON. Send it with the header Content-Type: application/json.",
		}
	}
	if err := LimitBody(c, b.Max); err != nil {
		return nil, err
	}
	body, err := io.ReadAll(c.Request().Body)
	if tooLarge, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, bodyTooLarge(tooLarge.Limit)
	}
	if err != nil {
		return nil, jsonError(body, err)
	}
	return body, nil
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
	return &chat.Error{Code: chat.CodeTooLarge, Message: locale.Say(
		"{1} exceeds the file size limit of {2}. Split it, or raise FOOTNOTE_MAX_UPLOAD_MIB.",
		name,
		humanize.IBytes(uint64(limit)),
	)}
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
	return &chat.Error{Code: chat.CodeTooLarge, Message: locale.Say(
		"The request exceeds the limit of {1}. Send less at once, or upload long texts as documents.", humanize.IBytes(
			uint64(limit),
		),
	)}
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
			Code: chat.CodeInvalid, Message: "Invalid form data. Reload the page and try again.", Err: err,
		}
	}
	if err := legibleValues(r.PostForm, notUTF8); err != nil {
		return err
	}
	return withoutNUL(r.PostForm)
}
