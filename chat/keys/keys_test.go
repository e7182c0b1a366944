package keys

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/footnote/footnote/chat"
)

func TestKeyIsValidUntilRevoked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys")
	f, err := Open(path, false)
	if err != nil {
		t.Fatal(err)
	}
	if needed, err := f.Needed(); needed || err != nil {
		t.Fatalf("without a file: got %v, %v, want no key needed", needed, err)
	}
	anna, err := New(path, "anna")
	if err != nil {
		t.Fatal(err)
	}
	bert, err := New(path, "bert")
	if err != nil {
		t.Fatal(err)
	}
	name, valid, err := f.User(anna)
	if name != "anna" || err != nil {
		t.Fatalf("%q, %v; want %q", name, err, "anna")
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(raw), anna) || strings.Contains(string(raw), anna[len(prefix):]) {
		t.Error("file has the key in plain text")
	}
	for _, wrong := range []string{"", "anna", anna + " ", anna[:len(anna)-1], strings.ToUpper(anna)} {
		if _, _, err := f.User(wrong); chat.CodeOf(err) != chat.CodeUnauthorized {
			t.Errorf("%q: %v, want %v", wrong, err, chat.CodeUnauthorized)
		}
	}
	if n, err := Revoke(path, "anna"); n != 1 || err != nil {
		t.Fatalf("%d, %v; want 1", n, err)
	}
	if _, _, err := f.User(anna); chat.CodeOf(err) != chat.CodeUnauthorized {
		t.Errorf("revoked: %v, want %v", err, chat.CodeUnauthorized)
	}
	if valid.Err() == nil {
		t.Error("request of a revoked key still runs, want it cancelled")
	}
	if name, valid, err := f.User(bert); name != "bert" || err != nil || valid.Err() != nil {
		t.Errorf("%q, %v; want %q", name, err, "bert")
	}
	if names, err := List(path); len(names) != 1 || names[0] != "bert" || err != nil {
		t.Errorf("%q, %v; want 1 name and %q", names, err, "bert")
	}
	if _, err := Revoke(path, "bert"); err != nil {
		t.Fatal(err)
	}
	if needed, err := f.Needed(); !needed || err != nil {
		t.Errorf("with all keys revoked: got %v, %v, want a key needed", needed, err)
	}
}

func TestMissingOrInvalidKeysFileDeniesAccess(t *testing.T) {
	for name, spoil := range map[string]func(string) error{
		"removed": os.Remove,
		"broken":  func(path string) error { return os.WriteFile(path, []byte("anna nothing\n"), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "keys")
			key, err := New(path, "anna")
			if err != nil {
				t.Fatal(err)
			}
			f, err := Open(path, false)
			if err != nil {
				t.Fatal(err)
			}
			_, valid, err := f.User(key)
			if err != nil {
				t.Fatal(err)
			}
			if err := spoil(path); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if _, _, err := f.User(key); chat.CodeOf(err) != chat.CodeUnavailable {
					t.Errorf("User: %v, want %v", err, chat.CodeUnavailable)
				}
				if needed, _ := f.Needed(); !needed {
					t.Error("no key is needed, want one")
				}
			}
			if valid.Err() == nil {
				t.Error("request still runs, want it cancelled")
			}
		})
	}
}

func TestNamesOfUsers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys")
	for _, bad := range []string{"", "Anna", "a b", "#a", "a\nb", "-a", strings.Repeat("a", 65)} {
		if _, err := New(path, bad); chat.CodeOf(err) != chat.CodeInvalid {
			t.Errorf("%q: %v, want %v", bad, err, chat.CodeInvalid)
		}
	}
	if n, err := Revoke(path, "nobody"); n != 0 || err != nil {
		t.Errorf("%d, %v; want 0", n, err)
	}
}

func TestUserIsRevokedWithLastKey(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys")
	f, err := Open(path, false)
	if err != nil {
		t.Fatal(err)
	}
	want := func(when string, left map[string]bool) {
		t.Helper()
		for name, want := range left {
			if got := f.Revoked(name); got != want {
				t.Errorf("%s: Left(%s) = %v, want %v", when, name, got, want)
			}
		}
	}
	want("without keys", map[string]bool{chat.LocalUser: false, "anna": false})
	for _, name := range []string{"anna", "anna", "bert"} {
		if _, err := New(path, name); err != nil {
			t.Fatal(err)
		}
	}
	want("with keys", map[string]bool{chat.LocalUser: false, "anna": false, "bert": false, "carl": true})
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(raw), "\n")
	if err := replaceFile(path, []byte(lines[0]+lines[2]+lines[3])); err != nil { // anna's first key is revoked
		t.Fatal(err)
	}
	want("with one of two keys revoked", map[string]bool{"anna": false, "bert": false})
	if _, err := Revoke(path, "anna"); err != nil {
		t.Fatal(err)
	}
	want("with both revoked", map[string]bool{"anna": true, "bert": false})
	if _, err := New(path, chat.LocalUser); err != nil {
		t.Fatal(err)
	}
	want("with a key of local", map[string]bool{chat.LocalUser: false})
	if _, err := Revoke(path, chat.LocalUser); err != nil {
		t.Fatal(err)
	}
	want("with it revoked", map[string]bool{chat.LocalUser: true})
	if _, err := New(path, "anna"); err != nil {
		t.Fatal(err)
	}
	want("with a new key", map[string]bool{"anna": false})
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	want("with the file gone", map[string]bool{"anna": false, "bert": false})
}

// Work under a revoked key ends within five seconds: two for detecting the change of the file, and two for ending
// the runs (see agent).
func TestRevokedKeyIsNoticedInTime(t *testing.T) {
	if most := 2 * time.Second; every > most {
		t.Errorf("the file is looked at every %v, want every %v at least", every, most)
	}
}
