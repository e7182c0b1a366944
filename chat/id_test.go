package chat

import (
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestNewIDIsAUUIDv7(t *testing.T) {
	t.Parallel()
	form := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	seen := make(map[string]bool)
	for range 1000 {
		id := NewID()
		if !form.MatchString(id) || seen[id] {
			t.Fatalf("NewID() = %q: not a UUIDv7, or not the first of its kind", id)
		}
		seen[id] = true
	}
}

func TestNewIDsSortByTheMillisecond(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.UnixMilli(0x0198_0000_fffe))) // so that a carry is among them
		last := NewID()
		for range 1000 {
			time.Sleep(time.Millisecond)
			id := NewID()
			if id <= last {
				t.Fatalf("%s was made a millisecond before %s, but does not sort before it, want more than %s",
					last, id, last)
			}
			last = id
		}
	})
}

func TestNewIDHoldsTheTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.UnixMilli(0x0234_5678_9abc))) // in 2047: times of one process only go forward
		if got := NewID(); !strings.HasPrefix(got, "02345678-9abc-7") {
			t.Errorf("NewID() = %q, want the time 023456789abc first", got)
		}
	})
}

func TestCheckSessionID(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, id string
		ok       bool
	}{
		{"a UUID", NewID(), true},
		{"one letter", "a", true},
		{"every kind of character", "aZ09_-", true},
		{"128 characters", strings.Repeat("x", 128), true},
		{"129 characters", strings.Repeat("x", 129), false},
		{"nothing", "", false},
		{"a space", "a b", false},
		{"a letter that is not ASCII", "ü", false},
		{"a path", "../x", false},
		{"a line break at the end", "a\n", false},
		{"a NUL", "a\x00", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			err := CheckSessionID(tt.id)
			if tt.ok && err != nil {
				t.Errorf("CheckSessionID(%q) = %v, want nil", tt.id, err)
			}
			if !tt.ok && (err == nil || CodeOf(err) != CodeInvalid) {
				t.Errorf("CheckSessionID(%q) = %v, want %s", tt.id, err, CodeInvalid)
			}
		})
	}
}
