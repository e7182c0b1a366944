package corpustest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
)

// TestBlobs tests the contract of corpus.Blobs. open returns an empty store, once per subtest. Blobs are named by
// SHA-256, so equal bytes are stored once and names can't be guessed.
func TestBlobs(t *testing.T, open func(*testing.T) corpus.Blobs) {
	// A one-byte reader detects stores that expect the whole body in one Read. Browsers seek when they resume a
	// download.
	t.Run("blob is opened by hash", func(t *testing.T) {
		t.Parallel()
		bs := open(t)
		for _, body := range []string{"", "short", strings.Repeat("0123456789", 50_000)} {
			hash, size, err := bs.Put(t.Context(), iotest.OneByteReader(strings.NewReader(body)), 1<<20)
			if err != nil || hash != hashOf(body) || size != int64(len(body)) {
				t.Fatalf("Put = %s, %d, %v; want %s, %d", hash, size, err, hashOf(body), len(body))
			}
			if got := readBlob(t, bs, hash, 0); got != body {
				t.Errorf("%d bytes came back, want %d", len(got), len(body))
			}
			if got := readBlob(t, bs, hash, int64(len(body)/2)); got != body[len(body)/2:] {
				t.Errorf("after Seek %d bytes came back, want %d", len(got), len(body)-len(body)/2)
			}
		}
	})
	// Rejected bytes must not be stored: no removal would delete them.
	t.Run("limit is inclusive", func(t *testing.T) {
		t.Parallel()
		bs := open(t)
		if _, size, err := bs.Put(t.Context(), strings.NewReader("12345"), 5); err != nil || size != 5 {
			t.Errorf("5 bytes with a limit of 5: got %d, %v", size, err)
		}
		_, _, err := bs.Put(t.Context(), strings.NewReader("123456"), 5)
		wantCode(t, "6 bytes of 5", err, chat.CodeTooLarge)
		_, err = bs.Open(t.Context(), hashOf("123456"))
		wantCode(t, "Open of what was refused", err, chat.CodeNotFound)
	})
	// One byte more must be read to detect that the limit is exceeded.
	t.Run("endless body is read up to the limit", func(t *testing.T) {
		t.Parallel()
		bs := open(t)
		read := &counter{}
		_, _, err := bs.Put(t.Context(), read, 100_000)
		wantCode(t, "Put", err, chat.CodeTooLarge)
		if read.n > 100_001 {
			t.Errorf("read %d bytes, want at most one more than the limit", read.n)
		}
	})
	// The error is the uploader's and must be distinguishable from a disk error.
	t.Run("truncated body stores nothing and returns its error", func(t *testing.T) {
		t.Parallel()
		bs := open(t)
		broken := errors.New("the line went dead")
		_, _, err := bs.Put(t.Context(), io.MultiReader(strings.NewReader("half"), iotest.ErrReader(broken)), 100)
		if !errors.Is(err, broken) {
			t.Errorf("Put: %v, want %v", err, broken)
		}
		_, err = bs.Open(t.Context(), hashOf("half"))
		wantCode(t, "Open", err, chat.CodeNotFound)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, _, err := bs.Put(ctx, strings.NewReader("x"), 100); !errors.Is(err, context.Canceled) {
			t.Errorf("Put with a cancelled context: got %v, want context.Canceled", err)
		}
	})
	// Concurrent uploads of one file race for the same name. One Delete removes the blob for all:
	// Documents.BytesInUse reports whether it is still in use.
	t.Run("concurrent puts of the same bytes are one blob", func(t *testing.T) {
		t.Parallel()
		bs := open(t)
		body := bytes.Repeat([]byte("same"), 10_000)
		errs := make(chan error)
		for range 8 {
			go func() {
				_, _, err := bs.Put(t.Context(), bytes.NewReader(body), 1<<20)
				errs <- err
			}()
		}
		for range 8 {
			mustDo(t, "Put", <-errs)
		}
		if got := readBlob(t, bs, hashOf(string(body)), 0); got != string(body) {
			t.Errorf("%d bytes came back, want %d", len(got), len(body))
		}
		mustDo(t, "Delete", bs.Delete(t.Context(), hashOf(string(body))))
		_, err := bs.Open(t.Context(), hashOf(string(body)))
		wantCode(t, "Open after one Delete", err, chat.CodeNotFound)
		mustDo(t, "Delete again", bs.Delete(t.Context(), hashOf(string(body))))
	})
	// Names come from databases, but path traversal must fail nevertheless. Deleting a missing blob is not an
	// error, since a removal may be retried.
	t.Run("blob names are hashes", func(t *testing.T) {
		t.Parallel()
		bs := open(t)
		for _, name := range []string{
			"", "..", "../../etc/passwd", "/etc/passwd", strings.Repeat("a", 64), strings.Repeat("A", 64),
			strings.Repeat("../", 21) + "x", "a\x00b",
		} {
			_, err := bs.Open(t.Context(), name)
			wantCode(t, name, err, chat.CodeNotFound)
			mustDo(t, "Delete "+name, bs.Delete(t.Context(), name))
		}
	})
}

// counter is an infinite body that counts the bytes read.
type counter struct{ n int }

func (c *counter) Read(p []byte) (int, error) {
	clear(p)
	c.n += len(p)
	return len(p), nil
}

// readBlob returns a blob's bytes from an offset on.
func readBlob(t *testing.T, bs corpus.Blobs, hash string, from int64) string {
	t.Helper()
	f, err := bs.Open(t.Context(), hash)
	if err != nil {
		t.Fatalf("Open(%s): %v", hash, err)
	}
	defer f.Close()
	if _, err := f.Seek(from, io.SeekStart); err != nil {
		t.Fatalf("Seek: %v", err)
	}
	body, err := io.ReadAll(f)
	if err != nil {
		t.Fatalf("read %s: %v", hash, err)
	}
	return string(body)
}
