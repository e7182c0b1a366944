package question

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// TestSimilarQuestions reads pairs of questions with whether the same tools and words answer both, and prints how many
// are told rightly. A pair that is taken for the same and is not would lead to tools that do not fit: none may be.
// FOOTNOTE_TEST_PAIRS names another file of pairs, of which only the counts are printed.
func TestSimilarQuestions(t *testing.T) {
	t.Parallel()
	other := os.Getenv("FOOTNOTE_TEST_PAIRS")
	body, err := os.ReadFile(cmp.Or(other, filepath.Join("testdata", "similar_questions.json")))
	if err != nil {
		t.Fatal(err)
	}
	var pairs []struct {
		A, B string
		Same bool
		Why  string
	}
	if err := json.Unmarshal(body, &pairs); err != nil {
		t.Fatal(err)
	}
	right, wrong, missed, apart := 0, 0, 0, 0
	for _, p := range pairs {
		key := IntentOf(p.A).Key()
		switch hit := key != "" && key == IntentOf(p.B).Key(); {
		case hit && p.Same:
			right++
		case hit:
			if wrong++; other == "" {
				t.Errorf("taken for the same (%s): %q, %q", p.Why, p.A, p.B)
			}
		case p.Same:
			missed++
		default:
			apart++
		}
	}
	t.Logf("%d pairs: %d rightly the same, %d wrongly the same, %d missed, %d rightly apart", len(pairs), right, wrong,
		missed, apart)
	if other == "" && right < 15 {
		t.Errorf("%d pairs rightly taken for the same, want 15", right)
	}
}

func TestSimilarQuestionsHaveOneKey(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		a, b string
		same bool
	}{
		{"How do I mount an NFS share at boot?", "At boot, how can I mount an NFS share?", true},
		{"Which version of the manual is valid?", "What version of the manual is valid?", true},
		{"Could you please list the valid permits?", "List the valid permits", true},
		{"Welche Frist gilt für die Kündigung?", "Was für eine Frist gilt bitte für die Kündigung?", true},
		{`Where is "low tide" defined in the lease?`, `Where is "high tide" defined in the lease?`, false},
		{"Which repairs are due before winter?", "Which repairs are due after winter?", false},
		{"What does the lease allow tenants?", "What doesn't the lease allow tenants?", false},
		{"Wo steht die Frist mit Anzahlung?", "Wo steht die Frist ohne Anzahlung?", false},
		{"Quels animaux sont permis dans le bail ?", "Quels animaux ne sont pas permis dans le bail ?", false},
	} {
		a, b := IntentOf(tt.a).Key(), IntentOf(tt.b).Key()
		if a == "" || (a == b) != tt.same {
			t.Errorf("%q: %q\n%q: %q\nsame = %v, want %v", tt.a, a, tt.b, b, a == b, tt.same)
		}
	}
}
