package docstest

import (
	"encoding/binary"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

const root = "../.."

// The decision records stay few and short, have the same sections, and are all in the list.
func TestDecisionRecordsAreFewAndShort(t *testing.T) {
	const most, mostBytes = 20, 40_000
	list, err := os.ReadFile(filepath.Join(root, "docs/decisions/README.md"))
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(root, "docs/decisions/*.md"))
	if err != nil {
		t.Fatal(err)
	}
	records, size := 0, 0
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		size += len(raw)
		name := filepath.Base(file)
		if name == "README.md" {
			continue
		}
		records++
		title, _, _ := strings.Cut(strings.TrimPrefix(string(raw), "# "), "\n")
		if !strings.Contains(string(list), "- ["+title+"]("+name+")\n") {
			t.Errorf("docs/decisions/README.md lacks %s with its title, %q", name, title)
		}
		for _, section := range []string{"Decision", "Why", "Turned down", "Code"} {
			if !strings.Contains(string(raw), "\n## "+section+"\n") {
				t.Errorf("%s lacks the section %q", name, section)
			}
		}
	}
	if records == 0 || records > most || size > mostBytes {
		t.Errorf("%d records of %d bytes with their list, want at most %d of %d", records, size, most, mostBytes)
	}
}

// Comments of Go files refer only to existing decision records.
func TestCommentedDecisionsExist(t *testing.T) {
	named := regexp.MustCompile(`\bdocs/decisions[a-z/-]*\.md\b`)
	found := 0
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != root && strings.HasPrefix(entry.Name(), "."), entry.Name() == "node_modules":
			return filepath.SkipDir
		case entry.IsDir() || !strings.HasSuffix(path, ".go"):
			return nil
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(raw)) {
			_, comment, ok := strings.Cut(line, "//")
			if !ok {
				continue
			}
			for _, name := range named.FindAllString(comment, -1) {
				found++
				if _, err := os.Stat(filepath.Join(root, name)); err != nil {
					t.Errorf("%s: %s does not exist", path, name)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if found < 30 {
		t.Errorf("%d references were found, want 30 or more", found)
	}
}

// The film of the README is an animated WebP: its frame headers contain the duration of each (RFC 9649, section
// 2.7).
func TestDemoAnimationIsShortAndSmall(t *testing.T) {
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
