package main_test

import (
	"os"
	"strconv"
	"testing"
)

// numberFrom is how much of a test is done: as much as a variable of the environment says, which must be a number from
// least, or the usual.
func numberFrom(t *testing.T, name string, usual, least int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return usual
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < least {
		t.Fatalf("%s = %q, want a number from %d", name, text, least)
	}
	return n
}
