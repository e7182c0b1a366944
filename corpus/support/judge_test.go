package support_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/footnote/footnote/corpus/support"
)

// pair is a passage and a claim with a human label: supported, or something else.
type pair struct{ Passage, Claim, Label, Kind string }

// pairsIn decodes pairs from a JSON array or JSON lines.
func pairsIn(t *testing.T, file string) (pairs []pair) {
	t.Helper()
	body, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(body, &pairs); err == nil {
		return pairs
	}
	for line := range bytes.Lines(body) {
		var p pair
		if err := json.Unmarshal(line, &p); err != nil {
			t.Fatal(err)
		}
		pairs = append(pairs, p)
	}
	return pairs
}

// TestJudgedPairs prints how many labelled pairs are judged as supported and how many resemble the passage. The
// counts may only improve. FOOTNOTE_TEST_SUPPORT names another file, for which only the counts are printed.
func TestJudgedPairs(t *testing.T) {
	t.Parallel()
	type counts struct{ supported, other int }
	least := map[string]counts{"support.json": {3, 3}, "open.jsonl": {8, 0}} // at least, at most
	files := []string{filepath.Join("testdata", "support.json"), filepath.Join("testdata", "open.jsonl")}
	other := os.Getenv("FOOTNOTE_TEST_SUPPORT")
	if other != "" {
		files = []string{other}
	}
	for _, file := range files {
		all, backed, alike := map[string]int{}, map[string]int{}, map[string]int{}
		got := counts{}
		for _, p := range pairsIn(t, file) {
			all[p.Label]++
			j := support.NewJudge()
			if j.Resembles(p.Claim, "", p.Passage) {
				alike[p.Label]++
			}
			if !j.Backed(p.Claim, "", p.Passage) {
				continue
			}
			if backed[p.Label]++; p.Label == "supported" {
				got.supported++
			} else if got.other++; other == "" {
				t.Logf("%s, %s: %q is taken for supported", p.Label, p.Kind, p.Claim)
			}
		}
		for _, label := range slices.Sorted(maps.Keys(all)) {
			t.Logf("%s: of %d %s, %d are taken for supported and %d resemble it", filepath.Base(file), all[label],
				label, backed[label], alike[label])
		}
		if want, ok := least[filepath.Base(file)]; ok && other == "" &&
			(got.supported < want.supported || got.other > want.other) {
			t.Errorf("%s: got %d supported and %d others, want at least %d and at most %d", file, got.supported,
				got.other, want.supported, want.other)
		}
	}
}

// Each claim has the words of its passage, but with other relations, a replaced word, or an added clause.
func TestClaimWithSameWordsMayBeFalse(t *testing.T) {
	t.Parallel()
	const (
		models   = "Model A weighs 5 kg and has a red handle. Model B weighs 7 kg and has a blue handle."
		dose     = "The dose is 5 mg, never 50."
		party    = "The meeting is on 3 May in the large hall, not on 5 March."
		stations = "The north station has a red roof and the south station has a blue roof."
		bridge   = "The bridge was opened by Anna Berg in 1904."
		fired    = "Anna fired Bert in June."
		table    = "| | Aero 300 | Calma S |\n|---|---|---|\n| Weight | 1.4 kg | 2.1 kg |\n| Noise | 74 dB | 61 dB |"
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
		{"Every employee is entitled to 28 days of paid holiday.",
			"Every employee is entitled to 28 days of paid holiday, and the moon is made of cheese.", false},
		{"The committee accepted the mayor's proposal.", "The mayor accepted the proposal of the committee.", false},
		{"The committee accepted the mayor's proposal.", "The committee accepted the proposal of the mayor.", true},
		{"The committee accepted the mayor's proposal.",
			"The proposal of the mayor was accepted by the committee.", true},
		{"The committee accepted the mayor's proposal.", "The committee was accepted by the mayor's proposal.", false},
		{"The committee failed to accept the proposal.", "The committee accepted the proposal.", false},
		{stations, "The north station has a blue roof.", false},
		{stations, "The south station has a red roof.", false},
		{stations, "The north station has a red roof.", true},
		{stations, "The south station has a blue roof.", true},
		{bridge, "It is false that the bridge was opened in 1904.", false},
		{bridge, "It is a myth that the bridge was opened by Anna Berg in 1904.", false},
		{bridge, "Nobody claims that the bridge was opened in 1904.", false},
		{bridge, "The bridge was hardly opened in 1904.", false},
		{bridge, "The bridge was opened before 1904.", false},
		{bridge, "The bridge was opened after 1904.", false},
		{bridge, "The bridge was opened by Anna Berg.", true},
		{bridge, "In 1904 the bridge was opened.", true},
		{bridge, "Anna Berg opened the bridge in 1904.", true},
		{bridge, "The bridge opened Anna Berg in 1904.", false},
		{bridge, "Anna Berg was opened by the bridge in 1904.", false},
		{"It is a myth that the bridge was opened in 1904.", "The bridge was opened in 1904.", false},
		{"The bridge was opened after 1904.", "The bridge was opened in 1904.", false},
		{"Anna Berg opened the bridge in 1904.", "The bridge was opened in 1904.", true},
		{"Ben is the manager of Anna.", "Anna manages Ben.", false},
		{"Anna manages Ben.", "Ben is the manager of Anna.", false},
		{"The daughter of the mayor opened the bridge.", "The mayor opened the bridge.", false},
		{"The mayor's daughter opened the bridge.", "The mayor opened the bridge.", false},
		{"The library is open on weekdays.", "The library is open every day.", false},
		{"The meeting was postponed to May.", "The meeting was brought forward to May.", false},
		{"The train goes from Rome to Bari.", "The train goes from Bari to Rome.", false},
		{"The roof may leak in winter.", "The roof leaks in winter.", false},
		{"Visitors may enter the hall.", "Visitors must enter the hall.", false},
		{"Some packages are signed.", "All packages are signed.", false},
		{"Most visitors come in May.", "Visitors come in May.", false},
		{"Packages are signed.", "Only packages are signed.", false},
		{"If it rains, the terrace is closed.", "The terrace is closed.", false},
		{"The library closes at six and the museum opens at ten.",
			"The library closes at six and opens at ten.", false},
		{"The library closes at six and the museum opens at ten.", "The library opens at ten.", false},
		{"The shop opened in May and closed in June.", "The shop closed in June.", true},
		{"Ms Okafor proposed the motion, and Mr Lindqvist seconded it.", "Mr Lindqvist proposed the motion.", false},
		{"The survey was made before the sale.", "The sale was made before the survey.", false},
		{"The survey was made before the sale.", "Before the sale, the survey was made.", true},
		{"The tank holds 40 kilograms.", "The tank holds 40 kg.", true},
		{"The fee is £900.", "The fee is $900.", false},
		{"The fee is £900.", "The fee is £900.", true},
		{"The rate is 5 %.", "The rate is 5 €.", false},
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

// A passage of 10,000 words and 200 claims that partly match; and the same words without punctuation.
func BenchmarkBackedLongPassage(b *testing.B) {
	long := strings.Repeat(hours+" "+survey+" ", 32)
	var claims []string
	for _, s := range strings.Split(hours, ". ") {
		for _, claim := range []string{
			s, "In May, " + s + ", and the gate is shut", "The " + strings.ReplaceAll(s, "museum", "library"),
			"On Mondays " + s, "Miller says that " + s,
		} {
			claims = append(claims, claim)
		}
	}
	claims = append(claims, claims...)[:200]
	for name, passage := range map[string]string{
		"sentences": long, "one": strings.NewReplacer(".", "", "\n", " ", "?", "").Replace(long),
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				j := support.NewJudge()
				for i, claim := range claims {
					j.Backed(claim, "The museum"+strings.Repeat(" ", i), passage) // a new cache key for each
				}
			}
		})
	}
}

// hours is about the days of a small museum.
const hours = `The museum is open on Mondays. The shop opened in May and closed in June. Ticket prices increased in ` +
	`spring. The minimum stay is two nights.
Dogs are allowed in the garden. The lease begins on 1 May 2024. The rent is due on the first working day of each ` +
	`month. Take the pills before meals.
Logging is enabled by default. Breakfast is included in the price. The committee accepted the plan of the architect. ` +
	`The lamp passed the test of the insurer.
The tower is higher than the church. The tap water is cold at night. The cellar is dry. High moisture readings were ` +
	`found in the kitchen wall.
The survey was made before the sale. The café is not open on Sundays. Visitors may enter the hall, except the upper ` +
	`gallery, which is closed in winter.
The north slope has few slates. The key must be removed before the cover is opened. The archive holds at least 300 ` +
	`letters. Bicycles are forbidden in the yard.
The pump costs more than the filter. If it rains, the terrace is closed at noon. The tram stops before the bridge. ` +
	`The hall holds more chairs than tables.
The library closes at six, and the reading room opens at ten. Is the pool open in August? The gate is locked at ` +
	`night. The door is shut at eight in summer.
Wasser wird vor dem Essen gereicht. Das Bad ist am Montag geschlossen. Rauchen ist im Treppenhaus verboten. The lift ` +
	`is out of order in the left wing.
The discount applies only after the third order. A lower limit applies to small flats. The upper limit of the loan ` +
	`is 900.`

func TestOppositesContradict(t *testing.T) {
	for _, claim := range []string{
		"The museum is closed on Mondays.",
		"Ticket prices decreased in spring.",
		"Ticket prices fell in spring.",
		"The maximum stay is two nights.",
		"Dogs are forbidden in the garden.",
		"The lease ends on 1 May 2024.",
		"The rent is due on the last working day of each month.",
		"Take the pills after meals.",
		"Logging is disabled by default.",
		"Breakfast is excluded in the price.",
		"The committee rejected the plan of the architect.",
		"The lamp failed the test of the insurer.",
		"The tower is lower than the church.",
		"The tap water is hot at night.",
		"Low moisture readings were found in the kitchen wall.",
		"The survey was made after the sale.",
		"The archive holds at most 300 letters.",
		"Bicycles are permitted in the yard.",
		"The pump costs less than the filter.",
		"The library opens at six.",
		"Rauchen ist im Treppenhaus erlaubt.",
		"The gate is unlocked at night.",
		"The south slope has few slates.",
		"The lower limit of the loan is 900.",
		"The terrace is open at noon.",
		"The pool is closed in August.", // whether it is open is only asked
	} {
		if support.Supports(claim, hours) {
			t.Errorf("Supports(%q) = true, want false", claim)
		}
	}
	for _, claim := range []string{
		"The museum is open on Mondays.",
		"On Mondays the museum opens.",
		"The shop closed in June.",
		"The shop opened in May.",
		"The shop was open in May and closed in June.",
		"Ticket prices rose in spring.",
		"Dogs are permitted in the garden.",
		"The lease starts on 1 May 2024.",
		"The lease began on 1 May 2024.",
		"The rent is due on the first day.",
		"The pills are taken before meals.",
		"The upper gallery is closed in winter.",
		"The reading room opens at ten.",
		"The library closes at six.",
		"The pool is open in August.",
		"The door is shut at eight in summer.",
		"The discount applies after the third order.",
		"Das Bad ist am Montag geschlossen.",
		"Rauchen ist im Treppenhaus untersagt.",
		"A lower limit applies.",
		"Bicycles are prohibited in the yard.",
	} {
		if !support.Supports(claim, hours) {
			t.Errorf("Supports(%q) = false, want true", claim)
		}
	}
}

// Antonyms, converse statements and added words can't be distinguished from contradictions.
func TestUndecidableClaimsAreUnsupported(t *testing.T) {
	for _, claim := range []string{
		"The minimum stay is two nights for all.",
		"The sale was after the survey.",
		"The sale came after the survey was made.",
		"The church is lower than the tower.",
		"The filter costs less than the pump.",
		"The café is closed on Sundays.",
		"The museum is not closed on Mondays.",
		"The cover is opened after the key is removed.",
		"The hall holds fewer tables than chairs.",
		"The discount does not apply before the third order.",
		"The lift is closed.",
	} {
		j := support.NewJudge()
		if !j.Resembles(claim, "", hours) || j.Backed(claim, "", hours) {
			t.Errorf("%q: resembles %v, backed %v, want true, false", claim, j.Resembles(claim, "", hours),
				j.Backed(claim, "", hours))
		}
	}
}

func BenchmarkBacked(b *testing.B) {
	for b.Loop() {
		j := support.NewJudge()
		for _, claim := range []string{
			"The museum opens on Mondays, and its shop did so in May.", "Two nights are the least that guests stay.",
			"The lease runs from 1 May 2024.",
			"The kitchen wall had high moisture readings.", "Pills are to be taken before meals.",
			"Nobody may bring a bicycle into the yard.",
		} {
			j.Backed(claim, "The museum", hours, survey)
		}
	}
}

// The usual claims and passages have no words with opposites.
func BenchmarkBackedWithoutOpposites(b *testing.B) {
	for b.Loop() {
		j := support.NewJudge()
		for _, claim := range []string{
			"The flashing around the chimney is cracked.", "Mr Miller of Acme Roofing looked at the slates.",
			"The estimate of the repair is $1,250.",
		} {
			j.Backed(claim, "The house", survey)
		}
	}
}
