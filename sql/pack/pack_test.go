package pack

import (
	"strings"
	"testing"
)

// TestFirst checks that pieces packed one after another are unpacked one at a time, and that a truncated piece is an
// error.
func TestFirst(t *testing.T) {
	t.Parallel()
	pieces := []string{strings.Repeat("one piece ", 5000), "", strings.Repeat("and another ", 5000), "x"}
	var packed []byte
	for _, piece := range pieces {
		p, err := Pack(piece)
		if err != nil {
			t.Fatalf("Pack: %v", err)
		}
		packed = append(packed, p...)
	}
	at := 0
	for i, want := range pieces {
		plain, n, err := First(packed[at:])
		if err != nil || string(plain) != want {
			t.Errorf("piece %d: %d bytes, %v; want %d, no error", i, len(plain), err, len(want))
		}
		if _, _, err := First(packed[at : at+n-1]); err == nil {
			t.Errorf("piece %d without its last byte: no error, want one", i)
		}
		at += n
	}
	if at != len(packed) {
		t.Errorf("the pieces take %d bytes, want %d", at, len(packed))
	}
}
