package support_test

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"footnote/corpus/support"
)

// TestJudgedPairs reads pairs of a passage and a claim with what the passage says of it, and prints how many claims of each label and kind are taken
// for supported. The counts may only get better. FOOTNOTE_TEST_SUPPORT names another file of pairs, of which only the counts by label are printed.
func TestJudgedPairs(t *testing.T) {
	t.Parallel()
	other := os.Getenv("FOOTNOTE_TEST_SUPPORT")
	body, err := os.ReadFile(cmp.Or(other, filepath.Join("testdata", "support.json")))
	if err != nil {
		t.Fatal(err)
	}
	var pairs []struct{ Passage, Claim, Label, Kind string }
	if err := json.Unmarshal(body, &pairs); err != nil {
		t.Fatal(err)
	}
	all, accepted := map[string]int{}, map[string]int{}
	for _, p := range pairs {
		all[p.Label]++
		supported := support.Supports(p.Claim, p.Passage)
		if supported {
			accepted[p.Label]++
		}
		if other == "" && supported != (p.Label == "supported") {
			t.Logf("%s, %s: %q is judged wrongly", p.Label, p.Kind, p.Claim)
		}
	}
	for _, label := range []string{"supported", "contradicted", "not_stated"} {
		t.Logf("%-12s %d of %d taken for supported", label, accepted[label], all[label])
	}
	if other == "" && (accepted["supported"] < 10 || accepted["contradicted"] > 16 || accepted["not_stated"] > 0) {
		t.Error("the counts have become worse")
	}
}

// Each claim has the words of its passage, bound to one another in another way, or one of them replaced, or a clause more.
func TestTheWordsOfAPassageDoNotMakeAClaimTrue(t *testing.T) {
	t.Parallel()
	const (
		models = "Model A weighs 5 kg and has a red handle. Model B weighs 7 kg and has a blue handle."
		dose   = "The dose is 5 mg, never 50."
		party  = "The meeting is on 3 May in the large hall, not on 5 March."
		fired  = "Anna fired Bert in June."
		table  = "| | Aero 300 | Calma S |\n|---|---|---|\n| Weight | 1.4 kg | 2.1 kg |\n| Noise | 74 dB | 61 dB |"
	)
	for _, tt := range []struct {
		passage, claim string
		want           bool
	}{
		{"The warranty does not cover the filter. It lasts two years.", "The warranty covers the filter.", false},
		{"The warranty excludes the filter.", "The warranty covers the filter.", false},
		{models, "Model A weighs 7 kg and Model B weighs 5 kg.", false},
		{models, "Model A has a blue handle.", false},
		{models, "Model A has a red handle.", true},
		{models, "Model B weighs 7 kg and Model A weighs 5 kg.", true},
		{dose, "The dose is 50 mg.", false},
		{dose, "The dose is 5 mg.", true},
		{dose, "The dose is 5 g.", false},
		{"Nobody may enter the hall.", "Everybody may enter the hall.", false},
		{party, "The meeting is on 5 March.", false},
		{party, "The meeting is on 3 May.", true},
		{fired, "Bert fired Anna.", false},
		{fired, "Anna was fired by Bert in June.", false},
		{fired, "Bert was fired by Anna in June.", true},
		{"The landlord must notify the tenant.", "The tenant must notify the landlord.", false},
		{"The sky is green on Mars.", "On Mars, the sky is blue.", false},
		{"The sky is green on Mars.", "On Mars, the sky is green.", true},
		{"Every employee is entitled to 28 days of paid holiday.", "Every employee is entitled to 28 days of paid holiday, and the moon is made of cheese.", false},
		{"The tank holds 40 kilograms.", "The tank holds 40 kg.", true},
		{table, "The Aero 300 has a weight of 2.1 kg.", false},
		{table, "The Aero 300 has a weight of 1.4 kg.", true},
		{"Der Vertrag endet am 3. Mai 2031.", "Der Vertrag beginnt am 3. Mai 2031.", false},
		{"La garantía no cubre el filtro.", "La garantía cubre el filtro.", false},
		{"保修不覆盖滤芯。", "保修覆盖滤芯。", false},
	} {
		if got := support.Supports(tt.claim, tt.passage); got != tt.want {
			t.Errorf("Supports(%q, %q) = %v, want %v", tt.claim, tt.passage, got, tt.want)
		}
	}
}

// A passage of 10,000 words and 200 claims that it holds in part; and the same words without a stop.
func BenchmarkBackedByALongPassage(b *testing.B) {
	long := strings.Repeat(hours+" "+survey+" ", 32)
	var claims []string
	for _, s := range strings.Split(hours, ". ") {
		for _, claim := range []string{s, "In May, " + s + ", and the gate is shut", "The " + strings.ReplaceAll(s, "museum", "library"), "On Mondays " + s, "Miller says that " + s} {
			claims = append(claims, claim)
		}
	}
	claims = append(claims, claims...)[:200]
	for name, passage := range map[string]string{"sentences": long, "one": strings.NewReplacer(".", "", "\n", " ", "?", "").Replace(long)} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				j := support.NewJudge()
				for i, claim := range claims {
					j.Backed(claim, "The museum"+strings.Repeat(" ", i), passage) // each is judged anew
				}
			}
		})
	}
}
