package question

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestAnalyse(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		question string
		follows  bool
		want     Type
	}{
		{"What is the value of Highlands?", false, Factual},
		{"Explain how damp gets into walls", false, Exploratory},
		{"What does Survey.pdf say about the roof?", false, SpecificDocument},
		{"Find documents from 2024", false, Metadata},
		{"Show papers by Smith", false, Metadata},
		{"What's in document ID 123?", false, SpecificDocument},
		{"Which reports were written by Ada Brown?", false, Metadata},
		{"List all papers tagged roof", false, Metadata},
		{"Find documents about damp", false, Factual},
		{"What does the report say about the roof?", false, Factual},
		{"How many days of holiday are there?", false, Factual},
		{"How much does clearing the gutter cost?", false, Factual},
		{"How does damp get into walls?", false, Exploratory},
		{"Which documents were written by Ada Brown?", false, Metadata},
		{"Compare the valuations of 2023 and 2024", false, Comparison},
		{"12.5 * (3 + 4)", false, Calculation},
		{"What is 15% of 200?", false, Factual}, // the model decides
		{"what is 3 + 4?", false, Calculation},
		{"Calculate 9/11", false, Calculation},
		{"What is 978-3-16-148410-0?", false, Factual},
		{"030 555-0134", false, Factual},
		{"Hello there!", false, General},
		{"Thanks a lot", true, General},
		{"Translate that into German", true, General},
		{"Translate that into German", false, Factual},
		{"And when was it renewed?", true, FollowUp},
		{"Tell me more", true, FollowUp},
	} {
		if got := Analyse(tt.question, tt.follows); got.Type != tt.want {
			t.Errorf("analyse(%q, %v) = %s, want %s", tt.question, tt.follows, got.Type, tt.want)
		}
	}
	if got := Analyse("How many days of holiday are there?", false); got.Complexity != "simple" {
		t.Errorf("a question for a number is %s, want %q", got.Complexity, "simple")
	}
	a := Analyse(`What did Ada Brown write about "lead flashing" in Survey.pdf on 2024-03-03?`, false)
	for _, want := range []string{"lead flashing", "Survey.pdf", "2024-03-03", "Ada Brown"} {
		if !slices.Contains(a.Entities, want) {
			t.Errorf("entities = %q, want %q among them", a.Entities, want)
		}
	}
	if got := Analyse("What's in Survey.pdf?", false).Entities; !slices.Equal(got, []string{"Survey.pdf"}) {
		t.Errorf("entities = %q, want the file alone", got)
	}
	if got := Analyse("Where do I sign?", false).Entities; len(got) > 0 {
		t.Errorf("entities = %q, want none: the asker is no entity", got)
	}
	if got := Analyse("Compare the value of Highlands with Oak House. Translate into German: This is it.",
		false).Entities; !slices.Equal(got, []string{"Highlands", "Oak House", "German"}) {
		t.Errorf("entities = %q, want the names and no verb that begins a sentence", got)
	}
	if !slices.Contains(a.Keywords, "flashing") || slices.Contains(a.Keywords, "what") {
		t.Errorf("keywords = %q; want %q in it and no %q in it", a.Keywords, "flashing", "what")
	}
	if s := a.Step("c1", 1); s.Message == "" || s.Details["complexity"] != "simple" {
		t.Errorf("step = %+v; want something and %q", s, "simple")
	}
}

func BenchmarkAnalyse(b *testing.B) {
	q := strings.Repeat("Which of the documents that Ada Brown wrote about roofs compares slate with lead? ", 30)
	for b.Loop() {
		Analyse(q, true)
	}
}

func TestParseFootnoteToOpen(t *testing.T) {
	t.Parallel()
	for asked, want := range map[string]int{
		"Open citation 2": 2, "Open [3], please": 3, "Open the first citation": 1, "show me the second footnote": 2,
		"Please open the last source.": LastCitation, "Open the source": 1, "Öffne die dritte Quelle": 3,
		"zeig mir die letzte Fußnote": LastCitation, "Open the 4th reference": 4, "open that citation please": 1,
		"Open the source of the river": 0, "What is the first source of income?": 0, "Open the first document": 0,
		"Does the last footnote mention dogs?": 0,
	} {
		number, ok := CitationToOpen(asked)
		if number != want || ok != (want != 0) {
			t.Errorf("%q opens footnote %d (%v), want %d", asked, number, ok, want)
		}
	}
}

func TestGivenTextIsRecognizedByGrammar(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]struct{ ordered, undecided, talk bool }{
		"Rewrite this more formally: gonna be late, traffic sucks":              {ordered: true},
		"Make this friendlier: Send me the report by Friday.":                   {ordered: true},
		"Turn this into bullet points: We met, we ate, we left.":                {ordered: true},
		"Translate into German: Good morning, neighbours.":                      {ordered: true},
		"Please make this friendlier:\nSend me the report.":                     {ordered: true},
		`Reserve them, please. #call reserve {"what":"slates"}`:                 {},
		"Mach das freundlicher: Schick mir den Bericht bis Freitag.":            {ordered: true},
		"Explain this: The tenant shall keep the gutters clear.":                {ordered: true},
		"Fix the spelling: teh cat sat":                                         {undecided: true},
		"Translate into German: where is the station?":                          {undecided: true},
		"Explain in simple terms: the deposit clause":                           {undecided: true},
		"Find this in the lease: roof damage":                                   {undecided: true},
		"Question: what is the capital of France?":                              {undecided: true},
		"What does the lease say about this: pets?":                             {},
		"How many days of holiday are there?":                                   {},
		"When was the survey made, and by whom?":                                {},
		"Hello, how are you?":                                                   {talk: true},
		"Hi, can you help me?":                                                  {talk: true},
		"Hello! Thanks.":                                                        {talk: true},
		"Can you sing?":                                                         {undecided: true},
		"Do you smoke?":                                                         {undecided: true},
		"Can you help me find the clause on damp in the lease of 12 Mill Lane?": {},
	} {
		a := Analyse(message, false)
		if OrdersOwnText(message) != want.ordered || a.Undecided != want.undecided || IsTalk(message) != want.talk ||
			a.NeedsDocuments() == (want.ordered || want.talk) {
			t.Errorf("%s: ordered %v, undecided %v, talk %v, %s; want %+v", message, OrdersOwnText(message),
				a.Undecided, IsTalk(message), a.Type, want)
		}
	}
}

func TestReplyRevealsNeedForDocuments(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		message, reply string
		claims         []string
		want           bool
	}{
		{"Fix the spelling: teh cat sat", "The cat sat.", []string{"The cat sat."}, true},
		{"Fix the spelling: teh cat sat", "The 7 cats sat.", nil, false},
		{"List the steps: mix and bake", "1. Mix.\n2. Bake.", nil, true},
		{"Question: what is the capital of France?", "Paris is the capital.", nil, false},
		{"Translate into German: where is the station?", "Wo ist der Bahnhof?", nil, true},
		{"Can you sing?", "No, I can't sing.", []string{"No, I can't sing."}, true},
		{"Do you allow pets?", "Yes, pets are allowed.", []string{"Yes, pets are allowed."}, false},
	} {
		if got := NeedsNone(tt.message, tt.reply, tt.claims); got != tt.want {
			t.Errorf("%s: %q needs none: %v, want %v", tt.message, tt.reply, got, tt.want)
		}
	}
}

// TestSimilarQuestions compares pairs of questions labelled by whether the same tools and words answer both, and
// prints how many are classified correctly. No different pair may count as similar, since its tools would not fit.
// FOOTNOTE_TEST_PAIRS names another file of pairs. For those it only prints the counts.
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
				t.Errorf("same question (%s): got true for %q, %q, want false", p.Why, p.A, p.B)
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

func TestSimilarQuestionsShareKey(t *testing.T) {
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
