package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestKeyIsCreatedShownOnceAndRevoked(t *testing.T) {
	data := t.TempDir()
	call := func(args ...string) (int, string, string) {
		var out, errs bytes.Buffer
		code := runProgram(context.Background(), append(args, "--data", data), os.Getenv, strings.NewReader(""),
			&out, &errs)
		return code, strings.TrimSpace(out.String()), errs.String()
	}
	code, key, note := call("key", "new", "anna")
	if code != 0 || !strings.HasPrefix(key, "fn_") || strings.Contains(note, key) {
		t.Fatalf("%d %q %q; want 0, %q at its beginning, no %q in it", code, key, note, "fn_", key)
	}
	raw, err := os.ReadFile(filepath.Join(data, "keys"))
	if err != nil || strings.Contains(string(raw), key) {
		t.Errorf("%q, %v", raw, err)
	}
	if code, out, _ := call("key", "list"); code != 0 || out != "anna" {
		t.Errorf("%d %q; want 0 and %q", code, out, "anna")
	}
	if code, _, errs := call("key", "new", "Anna B"); code != 1 || !strings.Contains(errs, "a-z") {
		t.Errorf("%d %q; want 1 and %q in it", code, errs, "a-z")
	}
	if code, _, _ := call("key", "revoke", "anna"); code != 0 {
		t.Errorf("revoke: %d, want 0", code)
	}
	if code, _, errs := call("key", "revoke", "anna"); code != 1 || !strings.Contains(errs, "has no API key") {
		t.Errorf("%d %q; want 1 and %q in it", code, errs, "has no API key")
	}
}
