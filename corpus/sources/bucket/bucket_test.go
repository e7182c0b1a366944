package bucket_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus/sources"
	"github.com/footnote/footnote/corpus/sources/bucket"
	"github.com/footnote/footnote/corpus/sources/placestest"
)

func settings(address, prefix string) sources.Settings {
	return sources.Settings{
		"bucket": "contracts", "prefix": prefix, "endpoint": address, "region": "us-east-1",
		"key": "key", "secret": "secret",
	}
}

func TestBucketFiles(t *testing.T) {
	backend := s3mem.New()
	if err := backend.CreateBucket("contracts"); err != nil {
		t.Fatal(err)
	}
	keys := []string{
		"in/a.txt", "in/with space.txt", "in/100%25.txt", "in/Größe/日本語.md", "in/a+b&c?d#e.txt",
		"in/" + strings.Repeat("x", 300),
	}
	put := func(key, text string) {
		t.Helper()
		about := map[string]string{"Last-Modified": "Fri, 02 Jan 2026 10:00:00 GMT"}
		_, err := backend.PutObject("contracts", key, about, strings.NewReader(text), int64(len(text)), nil)
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, key := range append(keys, "in/", "out/b.txt") {
		put(key, "text of "+key)
	}
	for i := range 1500 { // more than one page of the list
		put(fmt.Sprintf("many/%04d.txt", i), "x")
	}
	address, n := placestest.Serve(t, gofakes3.New(backend).Server())
	p := placestest.Open(t, bucket.Kind(), settings(address, "/in/"), n)
	if err := p.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	items, err := placestest.List(t, p)
	if err != nil || len(items) != len(keys) {
		t.Fatalf("items = %v, %v, want %d", items, err, len(keys))
	}
	for _, key := range keys {
		item := items[key]
		if item.Name != strings.TrimPrefix(key, "in/") || item.Version == "" ||
			item.Size != int64(len("text of "+key)) {
			t.Errorf("%q: item = %+v", key, item)
		}
		text, content, err := placestest.Read(t, p, item, "")
		if err != nil || text != "text of "+key || content.Version != item.Version {
			t.Errorf("%q = %q, %+v, %v", key, text, content, err)
		}
		if _, _, err := placestest.Read(t, p, item, item.Version); !errors.Is(err, sources.ErrSame) {
			t.Errorf("%q again: %v, want ErrSame", key, err)
		}
	}
	if _, _, err := placestest.Read(t, p, sources.Item{Key: "in/none"}, ""); !errors.Is(err, sources.ErrGone) {
		t.Errorf("an object that is not there: %v, want ErrGone", err)
	}
	many := placestest.Open(t, bucket.Kind(), settings(address, "many/"), n)
	if items, err := placestest.List(t, many); err != nil || len(items) != 1500 {
		t.Errorf("%d items, %v, want 1,500", len(items), err)
	}
	other := settings(address, "")
	other["bucket"] = "nothing"
	err = placestest.Open(t, bucket.Kind(), other, n).Check(t.Context())
	placestest.WantCode(t, "no such bucket", err, chat.CodeInvalid)
}

func TestStorageErrorsAreOneSentence(t *testing.T) {
	says := func(status int, code string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/xml")
			w.WriteHeader(status)
			_, _ = io.WriteString(w, "<Error><Code>"+code+"</Code><Message>canary</Message></Error>")
		}
	}
	page := `<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>x</NextContinuationToken>` +
		`<Contents><Key>a.txt</Key></Contents></ListBucketResult>`
	large := func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "<ListBucketResult><Contents><Key>")
		for range 33 << 10 {
			_, _ = io.WriteString(w, strings.Repeat("x", 1<<10))
		}
		_, _ = io.WriteString(w, "</Key></Contents></ListBucketResult>")
	}
	again := func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, page) }
	for name, test := range map[string]struct {
		handler http.HandlerFunc
		code    chat.Code
	}{
		"wrong key":       {says(403, "InvalidAccessKeyId"), chat.CodeUnauthorized},
		"wrong secret":    {says(403, "SignatureDoesNotMatch"), chat.CodeUnauthorized},
		"no right":        {says(403, "AccessDenied"), chat.CodeForbidden},
		"clocks differ":   {says(403, "RequestTimeTooSkewed"), chat.CodeUnavailable},
		"no storage":      {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(404) }, chat.CodeInvalid},
		"a list of loops": {again, chat.CodeInvalid},
		"a large list":    {large, chat.CodeTooLarge},
	} {
		address, n := placestest.Serve(t, test.handler)
		_, err := placestest.List(t, placestest.Open(t, bucket.Kind(), settings(address, ""), n))
		placestest.WantCode(t, name, err, test.code)
		if strings.Contains(chat.MessageOf(err).String(), "canary") {
			t.Errorf("%s: message %q has the server's text", name, chat.MessageOf(err).String())
		}
	}
	inside := placestest.Open(t, bucket.Kind(), settings("http://169.254.169.254", ""), placestest.Net(t))
	placestest.WantCode(t, "an address inside", inside.Check(t.Context()), chat.CodeForbidden)
}

func TestInvalidSettingsAreRejected(t *testing.T) {
	for _, change := range []sources.Settings{
		{"endpoint": "minio"}, {"endpoint": "https://a:b@minio.example"}, {"endpoint": "https://minio.example/path"},
		{"endpoint": "ftp://minio.example"}, {"bucket": "a/b/c"}, {"bucket": ""},
	} {
		s := settings("https://minio.example", "")
		for name, value := range change {
			s[name] = value
		}
		_, err := bucket.Kind().Open(s, placestest.Net(t))
		placestest.WantCode(t, fmt.Sprint(change), err, chat.CodeInvalid)
	}
}
