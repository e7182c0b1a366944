package offline

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// papersIn reads the documents of a folder: a line with # is their title, those with ## begin sections.
func papersIn(t *testing.T, folder string) []paper {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(folder, "*.md"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no documents in %s: %v", folder, err)
	}
	var out []paper
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		parts := strings.Split(string(raw), "\n## ")
		p := paper{
			id: filepath.Base(path), file: filepath.Base(path),
			title: strings.TrimSpace(strings.TrimPrefix(parts[0], "# ")),
		}
		for _, part := range parts[1:] {
			section, body, _ := strings.Cut(part, "\n")
			p.passages = append(p.passages, passage{Section: section, Text: strings.TrimSpace(body)})
		}
		out = append(out, p)
	}
	return out
}

// Questions of two steps are answered with a sentence for each, and refused where either is missing or the first leads
// to two things.
func TestQuestionsOfTwoSteps(t *testing.T) {
	papers := papersIn(t, filepath.Join("testdata", "hops"))
	// held: 4 when they were first asked
	least := map[string]map[string]int{
		"hops.tsv": {"two-hop": 9, "near-miss": 7}, "hops-held.tsv": {"two-hop": 7, "near-miss": 7},
	}
	for file, want := range least {
		raw, err := os.ReadFile(filepath.Join("testdata", file))
		if err != nil {
			t.Fatal(err)
		}
		good := map[string]int{}
		for line := range strings.Lines(string(raw)) {
			fields := strings.Split(strings.TrimSpace(line), "\t")
			if strings.HasPrefix(line, "#") || len(fields) != 3 {
				continue
			}
			got, _ := askIn(t, papers, fields[2])
			right := strings.HasPrefix(got, Refusal)
			if fields[0] == "two-hop" {
				right = !right
				for quote := range strings.SplitSeq(fields[1], " + ") {
					right = right && strings.Contains(got, quote)
				}
			}
			if right {
				good[fields[0]]++
			} else {
				t.Logf("%s: %s\n\t%s", fields[0], fields[2], got)
			}
		}
		for class, n := range want {
			t.Logf("%s: %d of class %s", file, good[class], class)
			if good[class] < n {
				t.Errorf("%s: %d of class %s, want %d", file, good[class], class, n)
			}
		}
	}
}
