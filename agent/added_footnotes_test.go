package agent

import (
	"slices"
	"strings"
	"testing"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/e2e/scripted"
)

// A mail of the library, and a sentence of it as answers repeat it.
const (
	mail    = "# Mail of Tom Reed\n\nDear Ada,\n\n" + sanding + " Please clear the room by then.\n\nKind regards, Tom"
	sanding = "The parquet floor in the living room will be sanded on Monday 3 March."
)

// repeats answers with a text once it has searched in some words.
func repeats(words, said string) *scripted.Model {
	return scripted.NewScript(func(r scripted.Request) scripted.Reply {
		if r.Turn() == 0 {
			return calls(search(words))
		}
		return says(said)
	})
}

func TestAnswerThatRepeatsAMailGetsItsFootnote(t *testing.T) {
	t.Parallel()
	marked := strings.TrimSuffix(sanding, ".") + " [1]."
	for _, tt := range []struct {
		name, said, want string
		added            []bool // by citation
	}{
		{"nothing else", sanding, marked, []bool{true}},
		{"beside a cited sentence", sanding + "\n\nPlease clear the room by then [1].",
			marked + "\n\nPlease clear the room by then [2].", []bool{true, false}},
		{"behind one", "Please clear the room by then [1]. " + sanding,
			"Please clear the room by then [1]. " + strings.TrimSuffix(sanding, ".") + " [2].", []bool{false, true}},
	} {
		h := newHouse(t, repeats("parquet floor", tt.said))
		h.add("mail.md", mail)
		got := h.answer(asks("When is the parquet floor sanded?"))
		a := got.answer()
		var added []bool
		for _, c := range a.Citations {
			added = append(added, c.Added)
		}
		if a.Markdown != tt.want || !slices.Equal(added, tt.added) || len(a.Unsupported) > 0 || a.Confidence != 1 {
			t.Errorf("%s: got %q, added %v, unsupported %q, confidence %v (%s); want %q, %v, none, 1", tt.name,
				a.Markdown, added, a.Unsupported, a.Confidence, a.SelfEvaluation, tt.want, tt.added)
		}
		if got.text() != a.Markdown || len(all[chat.AnswerReset](got)) > 0 {
			t.Errorf("%s: got stream text %q:%s; want %q without a reset",
				tt.name, got.text(), dump(got.log), a.Markdown)
		}
		for i, c := range all[chat.Citation](got) {
			if c.Number != i+1 || c.Added != tt.added[i] {
				t.Errorf("%s: citation %d of the stream is %+v, want added %v", tt.name, i+1, c, tt.added[i])
			}
		}
	}
}

func TestAnswerGetsNoFootnoteThatDoesNotHold(t *testing.T) {
	t.Parallel()
	for name, said := range map[string]string{
		"negated":               strings.Replace(sanding, "will be", "will not be", 1),
		"another number":        strings.Replace(sanding, "3 March", "13 March", 1),
		"another word":          strings.Replace(sanding, "living room", "dining room", 1),
		"more than the mail":    strings.Replace(sanding, "Monday 3 March.", "Monday 3 March by two men.", 1),
		"a document not read":   "The roof was last renewed in 1987 by Harper & Sons.",
		"no footnotes in a row": "Kind regards, Tom.",
	} {
		h := newHouse(t, repeats("parquet floor", "Please clear the room by then [1]. "+said))
		h.add("mail.md", mail)
		a := h.answer(chat.RunRequest{Message: "When is the parquet floor sanded?", Config: chat.RunConfig{
			RetrievalTopK: new(1),
		}}).answer()
		if len(a.Citations) != 1 || a.Citations[0].Added {
			t.Errorf("%s: got %q with %+v, want no added footnote", name, a.Markdown, a.Citations)
		}
	}
	h := newHouse(t, repeats("parquet floor", sanding))
	h.add("mail.md", mail)
	a := h.answer(chat.RunRequest{Message: "When is the parquet floor sanded?", Config: chat.RunConfig{
		RequireCitations: new(false),
	}}).answer()
	if a.Markdown != sanding || len(a.Citations) > 0 {
		t.Errorf("without footnotes asked for: got %q with %+v, want none", a.Markdown, a.Citations)
	}
}
