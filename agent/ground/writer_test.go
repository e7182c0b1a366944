package ground

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
)

// noPages is a library of documents without pages, whose passages are all there is to know.
type noPages struct{ textLibrary }

func (noPages) Blocks(context.Context, chat.Scope, string) ([]corpus.Block, error) { return nil, nil }

func (noPages) Place(context.Context, chat.Scope, corpus.Document, []corpus.Block, int, int) (corpus.Place, error) {
	return corpus.Place{}, nil
}

// roofs are sources 1 to 3.
func roofs() *Citer {
	s := NewSources()
	doc := corpus.Document{ID: "d", Title: "Survey"}
	for i, text := range []string{"The roof leaks. It is old.", "The wall is damp.", "The boiler was made in 2016."} {
		s.Number(corpus.Passage{ID: string(rune('p' + i)), DocumentID: "d", Start: 100 * i, Text: text}, doc)
	}
	return NewCiter(s, NewTexts(noPages{}, chat.Scope{}), "r")
}

// spoken runs chunks through a writer and returns what was stored.
func spoken(t *testing.T, chunks []string) (text string, cites []chat.Citation) {
	t.Helper()
	w := NewWriter(func(_ context.Context, ps ...chat.Payload) error {
		for _, p := range ps {
			switch p := p.(type) {
			case chat.Citation:
				cites = append(cites, p)
			case chat.AnswerDelta:
				text += p.Text
				for _, digit := range outside(text) {
					if n := int(digit - '0'); n > len(cites) {
						t.Errorf("%q came before citation %d", p.Text, n)
					}
				}
			}
		}
		return nil
	}, roofs(), false)
	for _, c := range chunks {
		if err := w.Write(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	whole, err := w.Finish(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range w.Rest() {
		if d, ok := p.(chat.AnswerDelta); ok {
			text += d.Text
		} else if c, ok := p.(chat.Citation); ok {
			cites = append(cites, c)
		}
	}
	if whole != text {
		t.Errorf("the whole is %q, stored was %q, want %q", whole, text, text)
	}
	return text, cites
}

func TestMarkersAreRenumberedWhileTheTextStreams(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, in, want string
		quotes         []string
	}{
		{"in order of first appearance", "The wall is damp [2]. The roof leaks [1].",
			"The wall is damp [1]. The roof leaks [2].", []string{"The wall is damp.", "The roof leaks."}},
		{"the same words keep their number", "It leaks: the roof leaks [1]. Yes, the roof leaks [1].",
			"It leaks: the roof leaks [1]. Yes, the roof leaks [1].", []string{"The roof leaks."}},
		{"another sentence of the same passage is another footnote", "The roof leaks [1]. It is old [1].",
			"The roof leaks [1]. It is old [2].", []string{"The roof leaks.", "It is old."}},
		{"several in one", "Damp walls [2, 1]", "Damp walls [1][2]", []string{"The wall is damp.", "The roof leaks."}},
		{"other brackets", "The wall is damp【2】.", "The wall is damp[1].", []string{"The wall is damp."}},
		{"with a word", "Damp [doc2], damp [Document 2], damp [n=2], damp [ref. 2], damp [n: 2], damp【2:0†source】.",
			"Damp [1], damp [1], damp [1], damp [1], damp [1], damp[1].", []string{"The wall is damp."}},
		{"words alone are no markers", "See [doc], [no 2], [n] and [reference 2].",
			"See [doc], [no 2], [n] and [reference 2].", nil},
		{"unknown numbers go with their space", "A claim [9]. Another [8] one.", "A claim. Another one.", nil},
		{"links are no markers", "See [1](http://x) and [text].", "See [1](http://x) and [text].", nil},
		{"addresses have none", "The wall is damp, see https://x.org/a[2] [2].",
			"The wall is damp, see https://x.org/a[2] [1].", []string{"The wall is damp."}},
		{"nor have targets and titles",
			"[a](http://x/[2]) [a](x \"b [2]\") <https://x/[2]> ![a](b[2]) The wall is damp [2].",
			"[a](http://x/[2]) [a](x \"b [2]\") <https://x/[2]> ![a](b[2]) The wall is damp [1].",
			[]string{"The wall is damp."}},
		{"nor have names of code", "Set a[1] and max_size[2] = b[3].", "Set a[1] and max_size[2] = b[3].", nil},
		{"nor has indented code", "So:\n\n    b[2]  [2]\n\tx [1]\n\nThe wall is damp [2].",
			"So:\n\n    b[2]  [2]\n\tx [1]\n\nThe wall is damp [1].", []string{"The wall is damp."}},
		{"years are no markers", "In [2019] it was.", "In [2019] it was.", nil},
		{"code is left alone", "Use `a[1]` or\n```\nb[2]\n```\nThe wall is damp [2].",
			"Use `a[1]` or\n```\nb[2]\n```\nThe wall is damp [1].", []string{"The wall is damp."}},
		{"a range whose end has more digits", "The wall is damp [2-02].", "The wall is damp [1].",
			[]string{"The wall is damp."}},
		{"a formula behind one without an end", `\[$[1]0$ The wall is damp [2].`, `\[$[1]0$ The wall is damp [1].`,
			[]string{"The wall is damp."}},
		{"formulas are left alone", `With \( a [1] \), \[ b [1] \], $$ c [1] $$ and $x [1]$ the wall is damp [2].`,
			`With \( a [1] \), \[ b [1] \], $$ c [1] $$ and $x [1]$ the wall is damp [1].`, []string{"The wall is " +
				"damp."}},
		{"a formula without an end is none", `The wall is damp \( [2].`, `The wall is damp \( [1].`,
			[]string{"The wall is damp."}},
		{"prices are no formulas", "The wall is damp for $5 [2] or $6.", "The wall is damp for $5 [1] or $6.",
			[]string{"The wall is damp."}},
		{"a formula belongs to the sentence before", "The wall is damp:\n\n\\[ x = 1. 5 \\] [2]",
			"The wall is damp:\n\n\\[ x = 1. 5 \\] [1]", []string{"The wall is damp."}},
		{"after the full stop", "The wall is damp. [2] The roof leaks. [1]",
			"The wall is damp. [1] The roof leaks. [2]", []string{"The wall is damp.", "The roof leaks."}},
		{"as a link", "Damp [[2]](https://x.org/a_(b)#c), damp [[Source 2, 1]] and [[2]](see below).",
			"Damp [1], damp [1][2] and [[1]](see below).", []string{"The wall is damp.", "The roof leaks."}},
		{"escaped", `The wall is damp \[2\]. It is \[4\] and \[2 m\] and \[2, 1\]`,
			`The wall is damp [1]. It is \[4\] and \[2 m\] and [1][2]`,
			[]string{"The wall is damp.", "The roof leaks."}},
		{"an open bracket at the end stays", "Odd [1", "Odd [1", nil},
		{"a refusal has no footnotes", "I couldn’t find relevant information about that in your documents. [1] Sorry.",
			RefusalSentence + " Sorry.", nil},
		{"not quite a refusal", "I couldn't find much, but the wall is damp [2].",
			"I couldn't find much, but the wall is damp [1].", []string{"The wall is damp."}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, chunks := range [][]string{{tt.in}, strings.Split(tt.in, "")} {
				text, cites := spoken(t, chunks)
				var quotes []string
				for i, c := range cites {
					quotes = append(quotes, c.Quote)
					if c.Number != i+1 || c.Check != chat.CheckVerified {
						t.Errorf("citation %d = %+v; want Number %v and Check %v", i, c, i+1, chat.CheckVerified)
					}
				}
				if text != tt.want {
					t.Errorf("%d chunks: text = %q, want %q", len(chunks), text, tt.want)
				}
				if d := cmp.Diff(tt.quotes, quotes); d != "" {
					t.Errorf("%d chunks: quotes (-want +got):\n%s", len(chunks), d)
				}
			}
		})
	}
}

func FuzzMarkersDoNotDependOnTheChunks(f *testing.F) {
	for _, s := range []string{
		"The wall [2]. `a[1]` 【3】", "[1, 2][3]\n```\n[1]\n```", "I couldn’t find", " [9] [8", "[Sources 1-3] é[2]",
		"[[2]](http://x) [[1]] [[", `\[2\] \[9\] \[x`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		s = strings.ToValidUTF8(s, "")
		whole, _ := spoken(t, []string{s})
		pieces, _ := spoken(t, strings.Split(s, ""))
		if whole != pieces {
			t.Errorf("at once %q, in pieces %q, want %q", whole, pieces, pieces)
		}
	})
}

func TestDeltasAreMergedButTheFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var stored []string
		var at []time.Duration
		begin := time.Now()
		w := NewWriter(func(_ context.Context, ps ...chat.Payload) error {
			stored, at = append(stored, ps[len(ps)-1].(chat.AnswerDelta).Text), append(at, time.Since(begin))
			return nil
		}, roofs(), false)
		for _, s := range []string{"One", " two", " three"} {
			if err := w.Write(t.Context(), s); err != nil {
				t.Fatal(err)
			}
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(100 * time.Millisecond) // the timer stores what waits
		if err := w.Write(t.Context(), strings.Repeat(" long", 60)); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff([]string{"One", " two three", strings.Repeat(" long", 60)}, stored); d != "" {
			t.Errorf("stored (-want +got):\n%s", d)
		}
		if d := cmp.Diff([]time.Duration{0, 40 * time.Millisecond, 130 * time.Millisecond}, at); d != "" {
			t.Errorf("at (-want +got):\n%s", d)
		}
	})
}

func TestTextIsMergedMoreWhileStoringTakesLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var stored []int
		w := NewWriter(func(_ context.Context, ps ...chat.Payload) error {
			stored = append(stored, len(ps[len(ps)-1].(chat.AnswerDelta).Text))
			time.Sleep(30 * time.Millisecond)
			return nil
		}, roofs(), false)
		for range 10 { // a model that writes all of it at once
			if err := w.Write(t.Context(), strings.Repeat(" word", 40)); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if d := cmp.Diff([]int{200, 800, 800, 200}, stored); d != "" { // 768 bytes, as the pause is 120 ms
			t.Errorf("bytes stored (-want +got):\n%s", d)
		}
	})
}

func TestAFailedStoreOfTheTimerEndsTheWriting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		full := errors.New("disk full")
		n := 0
		w := NewWriter(func(context.Context, ...chat.Payload) error {
			if n++; n > 1 {
				return full
			}
			return nil
		}, roofs(), false)
		_ = w.Write(t.Context(), "One")
		_ = w.Write(t.Context(), " two")
		time.Sleep(time.Second)
		if err := w.Write(t.Context(), " three"); !errors.Is(err, full) {
			t.Errorf("err = %v, want %v", err, full)
		}
	})
}

func TestClaimBefore(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ text, want string }{
		{"First one. The roof leaks ", "The roof leaks"},
		{"First one. The roof leaks. ", "The roof leaks."},
		{"It cost 3.5 million in 2019 ", "It cost 3.5 million in 2019"},
		{"- a point\n- **the roof** leaks", "the roof** leaks"},
		{"A claim [1]. Another [2], and more ", "Another, and more"},
		{"See p. 4 of it", "See p. 4 of it"},
		{"One. The release: unstable ", "The release: unstable"},
		{"Note this: the roof leaks badly ", "the roof leaks badly"},
		{"", ""},
	} {
		if got := claimBefore(tt.text); got != tt.want {
			t.Errorf("claimBefore(%q) = %q, want %q", tt.text, got, tt.want)
		}
	}
}
