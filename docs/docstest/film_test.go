package docstest

import (
	"encoding/binary"
	"os"
	"testing"
	"time"
)

// The film of the README is an animated WebP: its frames say how long each is shown (RFC 9649, section 2.7).
func TestTheFilmIsShortAndSmall(t *testing.T) {
	body, err := os.ReadFile("../footnote.webp")
	if err != nil {
		t.Fatal(err)
	}
	if len(body) > 2<<20 || string(body[:4]) != "RIFF" || string(body[8:12]) != "WEBP" {
		t.Fatalf("the film has %d bytes and begins with %q, want WebP of at most 2 MiB", len(body), body[:12])
	}
	var frames int
	var shown time.Duration
	for at := 12; at+8 <= len(body); {
		size := int(binary.LittleEndian.Uint32(body[at+4:]))
		if string(body[at:at+4]) == "ANMF" {
			head := body[at+8:]
			frames++
			shown += time.Duration(int(head[12])|int(head[13])<<8|int(head[14])<<16) * time.Millisecond
		}
		at += 8 + size + size%2
	}
	if frames < 30 || shown < 10*time.Second || shown > 20*time.Second {
		t.Errorf("the film has %d frames and lasts %s, want at least 30 and 10 to 20 s", frames, shown)
	}
}
