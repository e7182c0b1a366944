package s3_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/blobs/s3"
	"github.com/footnote/footnote/corpus/blobs/s3/s3test"
	"github.com/footnote/footnote/corpus/corpustest"
)

func TestMain(m *testing.M) {
	for _, setting := range s3test.Env() {
		name, value, _ := strings.Cut(setting, "=")
		if err := os.Setenv(name, value); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

func open(t *testing.T, s *s3test.Storage) *s3.Store {
	t.Helper()
	bs, err := s3.Open(t.Context(), s.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := bs.Close(); err != nil {
			t.Error(err)
		}
	})
	return bs
}

func TestBlobs(t *testing.T) {
	t.Parallel()
	corpustest.TestBlobs(t, func(t *testing.T) corpus.Blobs { return open(t, s3test.New(t)) })
}

func TestLargeFileIsUploadedInParts(t *testing.T) {
	t.Parallel()
	bs := open(t, s3test.New(t))
	body := bytes.Repeat([]byte("0123456789abcdef"), 12<<16) // 12 MiB
	hash, size, err := bs.Put(t.Context(), bytes.NewReader(body), 1<<30)
	if err != nil || size != int64(len(body)) {
		t.Fatalf("Put = %d, %v; want %d", size, err, int64(len(body)))
	}
	f, err := bs.Open(t.Context(), hash)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var back bytes.Buffer
	if _, err := back.ReadFrom(f); err != nil || !bytes.Equal(back.Bytes(), body) {
		t.Errorf("%d bytes came back, %v; want %d", back.Len(), err, len(body))
	}
}

func TestStorageErrorIsReportedAndRecovers(t *testing.T) {
	t.Parallel()
	answer := func(status int, code string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			if code != "" {
				fmt.Fprintf(w, `<?xml version="1.0"?><Error><Code>%s</Code><Message>canary</Message></Error>`, code)
			}
		}
	}
	for name, row := range map[string]struct {
		fault http.HandlerFunc
		code  chat.Code
		says  string
	}{
		"down": {s3test.HangUp, chat.CodeUnavailable, "is not responding"},
		"busy": {answer(503, "SlowDown"), chat.CodeUnavailable, "is not responding"},
		"full": {func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodHead {
				answer(404, "")(w, r)
				return
			}
			answer(507, "XMinioStorageFull")(w, r)
		}, chat.CodeDiskFull, "full"},
		"keys": {func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodHead {
				answer(404, "")(w, r)
				return
			}
			answer(403, "AccessDenied")(w, r)
		}, chat.CodeUnavailable, "Access denied"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := s3test.New(t)
			bs := open(t, s)
			kept, _, err := bs.Put(t.Context(), strings.NewReader("kept"), 100)
			if err != nil {
				t.Fatal(err)
			}
			s.Fail(row.fault)
			_, _, err = bs.Put(t.Context(), strings.NewReader("bytes"), 100)
			if err == nil || chat.CodeOf(err) != row.code ||
				!strings.Contains(chat.MessageOf(err).String(), row.says) ||
				strings.Contains(chat.MessageOf(err).String(), "canary") {
				t.Errorf("Put: %v, want %s with %q", err, row.code, row.says)
			}
			if name != "full" && name != "keys" {
				if _, err := bs.Open(t.Context(), kept); chat.CodeOf(err) != row.code {
					t.Errorf("Open: %v, want %s", err, row.code)
				}
				if err := bs.Ping(t.Context()); chat.CodeOf(err) != chat.CodeUnavailable {
					t.Errorf("Ping: %v, want %v", err, chat.CodeUnavailable)
				}
			}
			s.Heal()
			if _, _, err := bs.Put(t.Context(), strings.NewReader("bytes"), 100); err != nil {
				t.Errorf("Put after it healed: %v, want no error", err)
			}
			if err := bs.Ping(t.Context()); err != nil {
				t.Errorf("Ping after it healed: %v, want no error", err)
			}
		})
	}
}

func TestFailedRequestIsRetried(t *testing.T) {
	t.Parallel()
	s := s3test.New(t)
	bs := open(t, s)
	s.Fail(func(w http.ResponseWriter, _ *http.Request) { s.Heal(); w.WriteHeader(http.StatusServiceUnavailable) })
	hash, _, err := bs.Put(t.Context(), strings.NewReader("bytes"), 100)
	if err != nil {
		t.Fatalf("Put: %v, want no error", err)
	}
	before := s.Calls()
	if again, _, err := bs.Put(t.Context(), strings.NewReader("bytes"), 100); err != nil || again != hash {
		t.Errorf("Put again = %s, %v; want %s", again, err, hash)
	}
	if n := s.Calls() - before; n != 1 {
		t.Errorf("the same bytes took %d requests, want the question alone", n)
	}
}

func TestSilentStorageEndsWithContext(t *testing.T) {
	t.Parallel()
	s := s3test.New(t)
	bs := open(t, s)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond) // whenever it ends, Put must
	defer cancel()
	s.Fail(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	if _, _, err := bs.Put(ctx, strings.NewReader("bytes"), 100); err == nil || ctx.Err() == nil {
		t.Errorf("Put: %v", err)
	}
}

func TestInvalidAddressIsReported(t *testing.T) {
	t.Parallel()
	for _, address := range []string{
		"s3://", "http://bucket", "s3://bucket?use_path_style=perhaps", "s3://bucket?unknown=1",
		"s3://key:canary@bucket", ":",
	} {
		_, err := s3.Open(t.Context(), address)
		if chat.CodeOf(err) != chat.CodeInvalid || !strings.Contains(chat.MessageOf(err).String(), "FOOTNOTE_BLOBS") ||
			strings.Contains(chat.MessageOf(err).String(), "canary") {
			t.Errorf("Open(%q): %v, want %v", address, err, chat.CodeInvalid)
		}
	}
}
