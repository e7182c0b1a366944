package follow

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/footnote/footnote/chat"
)

// Secrets of deleted places are swept at the start. New files stay, as their place may not be in the store yet.
func TestSweepRemovesSecretsOfUnknownSources(t *testing.T) {
	t.Parallel()
	b := newHarness(t, false)
	b.follow(t)
	gone, begun := chat.NewID(), chat.NewID()
	for _, id := range []string{gone, begun} {
		if err := b.storeSecrets(id, "at", map[string]string{"password": "open sesame"}); err != nil {
			t.Fatal(err)
		}
	}
	half := filepath.Join(b.Secrets, "new-123")
	if err := os.WriteFile(half, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	kept := b.secretsFile(b.place.ID, b.place.SecretsAt)
	for _, file := range []string{kept, b.secretsFile(gone, "at"), half} {
		if err := os.Chtimes(file, time.Time{}, time.Now().Add(-sweepAge)); err != nil {
			t.Fatal(err)
		}
	}
	b.sweepSecrets(t.Context())
	files, err := filepath.Glob(filepath.Join(b.Secrets, "*"))
	want := []string{kept, b.secretsFile(begun, "at")}
	slices.Sort(want)
	if err != nil || !slices.Equal(files, want) {
		t.Errorf("files = %v, %v; want %v", files, err, want)
	}
}
