package request_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus/sources"
	"github.com/footnote/footnote/corpus/sources/request"
)

func TestPartsAreBounded(t *testing.T) {
	spaces := strings.NewReader(strings.Repeat(" ", 100))
	p := request.NewParts(spaces, 10)
	for range 3 {
		n, err := io.ReadFull(p, make([]byte, 10))
		if n != 10 || err != nil {
			t.Fatalf("a part has %d bytes, %v; want 10", n, err)
		}
		p.Next()
	}
	if rest, err := io.ReadAll(p); len(rest) != 10 || !errors.Is(err, sources.ErrTooLarge) {
		t.Errorf("the last part has %d bytes, %v; want 10 and %v", len(rest), err, sources.ErrTooLarge)
	}
	for range 10 * sources.MaxItems {
		p.Next()
	}
	if n, err := p.Read(make([]byte, 10)); n != 0 || !errors.Is(err, sources.ErrTooLarge) {
		t.Errorf("a part after a million has %d bytes, %v; want %v", n, err, sources.ErrTooLarge)
	}
}

func TestStreamsTellWhatWentWrong(t *testing.T) {
	wrong := &chat.Error{Code: chat.CodeInvalid, Message: "This is no list."}
	own := errors.New("the caller's own")
	for _, test := range []struct {
		body string
		fail error
		code chat.Code
	}{
		{`[{"a":1},{"a":2}]`, nil, ""},
		{`null`, nil, ""},
		{` [] `, nil, ""},
		{`[{"a":1},{"a"`, nil, chat.CodeUnavailable},
		{`[{"a":1}`, nil, chat.CodeUnavailable},
		{`[{"a":1} {"a":2}]`, nil, chat.CodeUnavailable},
		{`{"a":1}`, nil, chat.CodeInvalid},
		{`[{"a":"text"}]`, nil, chat.CodeInvalid},
		{`<html>`, nil, chat.CodeInvalid},
		{``, nil, chat.CodeInvalid},
		{`[] []`, nil, chat.CodeInvalid},
		{`[{"a":1}]`, own, ""},
		{`[{"b":"` + strings.Repeat("b", 2*request.MaxPart) + `"}]`, nil, chat.CodeTooLarge},
		{`[` + strings.Repeat("[", request.MaxPart), nil, chat.CodeUnavailable},
	} {
		resp := request.Response{Status: http.StatusOK, Body: io.NopCloser(strings.NewReader(test.body))}
		err := resp.ReadStream(func(s *request.Stream) error {
			return s.Array(func() error {
				var v struct{ A int }
				if err := s.Value(&v); err != nil {
					return err
				}
				return test.fail
			})
		}, wrong)
		switch {
		case test.code == "" && !errors.Is(err, test.fail),
			test.code != "" && (err == nil || chat.CodeOf(err) != test.code):
			t.Errorf("%.60s: error = %v, want %q %v", test.body, err, test.code, test.fail)
		}
	}
}
