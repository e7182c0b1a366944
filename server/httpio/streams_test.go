package httpio

import (
	"testing"

	"github.com/footnote/footnote/chat"
)

func TestPlacesOfStreamsComeBack(t *testing.T) {
	s := NewStreams(Limits{Streams: 3}, chat.Limits{chat.StreamsAtOnce: 2})
	for _, user := range []string{"anna", "anna", "bert"} {
		if err := s.Enter(user); err != nil {
			t.Fatalf("a stream of %s: %v, want no error", user, err)
		}
	}
	if err := s.Check("carl"); chat.CodeOf(err) != chat.CodeTooMany {
		t.Errorf("a fourth of three: %v, want %s", err, chat.CodeTooMany)
	}
	s.Leave("bert")
	if err := s.Check("anna"); chat.CodeOf(err) != chat.CodeTooMany {
		t.Errorf("a third of a user who has two: %v, want %s", err, chat.CodeTooMany)
	}
	if err := s.Check("bert"); err != nil {
		t.Errorf("another user: %v, want a place", err)
	}
	s.Leave("anna")
	s.Leave("anna")
	if n := s.Count(); n != 0 || len(s.openOf) != 0 {
		t.Errorf("%d streams are open, places of %v are kept; want none", n, s.openOf)
	}
}
