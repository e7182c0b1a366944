package offline

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
)

// pileOfText is what a text is cut into when it is the only passage.
func pileOfText(s string) pile { return pileOf([]source{{passage: passage{N: 1, Text: s}}}) }

func TestALabelBelongsToWhatItNames(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		want     []string
	}{
		{"a day in a diary", "5 nov\nGarlic in, 28 cloves. Water is off now.",
			[]string{"5 nov\nGarlic in, 28 cloves.", "Water is off now."}},
		{"a number in the same line", "Rule 3. The gate must be locked.", []string{"Rule 3. The gate must be locked."}},
		{"a heading above an empty line", "Lost cards\n\nCall us at once.", []string{"Lost cards", "Call us at once."}},
		{"a label of three words", "Everybody pays it.\nWhat it costs\nNine pounds a month.",
			[]string{"Everybody pays it.", "What it costs", "Nine pounds a month."}},
		{"only the nearest", "Nov.\n5 nov\nGarlic in.", []string{"Nov.\n5 nov", "Garlic in."}},
	} {
		var got []string
		for _, u := range pileOfText(tt.in).units {
			got = append(got, u.text)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: units %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestNeighboursAreOneQuote(t *testing.T) {
	p := pileOfText("Shift to the smallest sprocket.\n\nTurn the bicycle over.\n\nOpen the axle with a key.\n\n" +
		"Lift the wheel out.\n\nTighten the axle again.")
	var units []scored
	for i, score := range []float64{0.5, 0.8, 0.7, 0.6, 0.9} {
		units = append(units, scored{unit: p.units[i], at: i, score: score})
	}
	var got [][2]int
	for _, q := range choose(p, units, nil) {
		got = append(got, [2]int{q.first, q.last})
	}
	if want := [][2]int{{3, 4}, {0, 2}}; !slices.Equal(got, want) {
		t.Errorf("quotes of the units %v, want %v", got, want)
	}
}

// A record is quoted as a whole, line by line, and by itself.
func TestARecordIsOneQuote(t *testing.T) {
	people := passage{N: 1, Text: "- name: Ben\n  height: 3\n- name: Ada\n  height: 4\n  of: 5\n- name: Eve"}
	q := turn{question: "How is the height of Ada?", results: []result{{tool: "search_documents", out: output{
		Documents: []document{{DocID: "d1", Passages: []passage{people}}},
	}}}}
	a, err := compose(t.Context(), q, nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := "> - name: Ada  \n> height: 4  \n> of: 5 "; !strings.Contains(a.text, want) {
		t.Errorf("the answer is %q, want %q in it", a.text, want)
	}
}

// What stands together in the question stands together in the answer.
func TestNeighbouringWordsOfAQuestionAreOnePhrase(t *testing.T) {
	p := pileOfText("Rule 6. Bonfires are allowed after 3 pm.\n\nRule 3. The gate must be locked.")
	words := topicOf(turn{question: "what does rule 3 say"}).weigh(p)
	units, _, err := rate(t.Context(), p, topic{}, words, nil)
	if err != nil {
		t.Fatal(err)
	}
	const want = "Rule 3. The gate must be locked."
	if len(units) != 2 || units[0].text != want || units[0].features.pairs <= units[1].features.pairs {
		t.Errorf("the best unit of %+v; want %q", units, want)
	}
}

// A comparison of meanings that fails, as one does that takes too long, leaves the answer that there is without one.
func TestWhatCouldNotBeComparedIsJudgedByItsWords(t *testing.T) {
	q := turn{question: "When was the boiler installed?", results: []result{{tool: "search_documents", out: output{
		Documents: []document{{DocID: "d1", Passages: []passage{
			{N: 1, Text: "The boiler was installed in 2016. It was serviced in May."},
			{N: 2, Text: "The garden has a pond."},
		}}},
	}}}}
	want, err := compose(t.Context(), q, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := compose(t.Context(), q, func(context.Context, string, []string) ([]float64, error) {
		return nil, errors.New("it took too long")
	})
	if err != nil || got.text != want.text || got.sure != want.sure || want.finding != answers {
		t.Errorf("got %q, %v and %v, want %q, %v and no error", got.text, got.sure, err, want.text, want.sure)
	}
}
