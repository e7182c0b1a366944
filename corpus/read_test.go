package corpus_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
)

func TestRead(t *testing.T) {
	sh := openShelf(t, t.TempDir(), nil)
	sh.start(t)
	var b strings.Builder
	b.WriteString("# Handbook\n\n")
	for i := range 40 {
		fmt.Fprintf(&b, "## Chapter %d\n\n%s\n\n", i+1, strings.Repeat("Ordinary filler about nothing. ", 30))
		if i == 24 {
			b.WriteString("The wombat sleeps in its burrow.\n\n")
		}
	}
	d := sh.add(t, "handbook.md", b.String())
	sh.settled(t, d.ID, corpus.StateReady)

	var whole strings.Builder
	first := read(t, sh, corpus.ReadRequest{Document: "handbook"})
	for page := range first.Parts {
		r := read(t, sh, corpus.ReadRequest{Document: d.ID, Part: page + 1})
		n := 0
		for _, p := range r.Passages {
			whole.WriteString(p.Text)
			n += len([]rune(p.Text))
		}
		if n > 12000 {
			t.Errorf("page %d has %d runes, want at most 12000", page+1, n)
		}
	}
	text, err := sh.Text(t.Context(), chat.Local, d.ID)
	if err != nil || strings.Join(strings.Fields(whole.String()), "") != strings.Join(strings.Fields(text), "") {
		t.Errorf("the pages together are not the text, %v", err)
	}
	if len(first.Outline) != 41 || first.Outline[1].Title != "Chapter 1" || first.Focused {
		t.Errorf("outline of %d: %+v, want 41", len(first.Outline), first.Outline[:2])
	}

	focused := read(t, sh, corpus.ReadRequest{
		Document: "Handbook.md", Focus: "Where does the wombat sleep?", MaxRunes: 3000,
	})
	joined := ""
	for i, p := range focused.Passages {
		joined += p.Text
		if i > 0 && p.Ordinal <= focused.Passages[i-1].Ordinal {
			t.Error("passages are not in document order")
		}
	}
	if !focused.Focused || !strings.Contains(joined, "wombat") {
		t.Errorf("focused %v on %q, want %q in it", focused.Focused, joined, "wombat")
	}
	if r := read(t, sh, corpus.ReadRequest{Document: d.ID, Focus: "xylophone"}); r.Focused ||
		r.Passages[0].Ordinal != 0 {
		t.Error("a focus that finds nothing must read from the start")
	}
	_, err = sh.Read(t.Context(), chat.Local, corpus.ReadRequest{Document: d.ID, Part: 99})
	if chat.CodeOf(err) != chat.CodeNotFound {
		t.Errorf("page 99 = %v, want %v", err, chat.CodeNotFound)
	}
}

func read(t *testing.T, sh *shelf, r corpus.ReadRequest) corpus.Reading {
	t.Helper()
	got, err := sh.Read(t.Context(), chat.Local, r)
	if err != nil {
		t.Fatalf("Read(%+v): %v, want no error", r, err)
	}
	return got
}

func TestFind(t *testing.T) {
	sh := openShelf(t, t.TempDir(), nil)
	sh.start(t)
	fill(t, sh)
	for _, tt := range []struct{ name, ask, want string }{
		{"a title", "Lease agreement", "lease.md"},
		{"a title in another case", "ROOF SURVEY", "survey.md"},
		{"a file name", "policy.md", "policy.md"},
		{"a file name without its extension", "policy", "policy.md"},
		{"a title in quotes", "“Insurance policy”", "policy.md"},
		{"almost a title", "the lease agrement", "lease.md"},
		{"accents left out", "l'ecole primaire", "ecole.md"},
		{"Chinese", "中国", "china.md"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d, err := sh.Find(t.Context(), chat.Local, tt.ask)
			if err != nil || d.Filename != tt.want {
				t.Errorf("Find(%q) = %q, %v; want %q", tt.ask, d.Filename, err, tt.want)
			}
		})
	}
	_, err := sh.Find(t.Context(), chat.Local, "roof lease policy")
	if chat.CodeOf(err) != chat.CodeNotFound || !strings.Contains(chat.MessageOf(err), "“Roof survey”") {
		t.Errorf("Find of nothing = %v, want a hint", err)
	}
}

func TestGrep(t *testing.T) {
	sh := openShelf(t, t.TempDir(), nil)
	sh.start(t)
	fill(t, sh)
	grep := func(g corpus.GrepRequest) corpus.Grepped {
		t.Helper()
		out, err := sh.Grep(t.Context(), chat.Local, g)
		if err != nil {
			t.Fatalf("Grep(%+v): %v, want no error", g, err)
		}
		return out
	}
	found := grep(corpus.GrepRequest{Pattern: `e\d{4}`})
	if len(found.Matches) != 1 || found.Literal || found.More || found.Documents != len(shelfOf) {
		t.Fatalf("grep e\\d{4}: %+v; want 1 match, Literal false, More false, Documents %v", found, len(shelfOf))
	}
	m := found.Matches[0]
	text, err := sh.Text(t.Context(), chat.Local, m.Document.ID)
	if err != nil || string([]rune(text)[m.Start:m.End]) != "E1234" || m.Section != "Roof survey › Gutters" ||
		m.PassageID == "" || m.BlockID == "" ||
		!strings.Contains(m.Line, "Fault E1234 was logged") {
		t.Errorf("match %+v, %v; want Section %q, something, something, %q in it",
			m, err, "Roof survey › Gutters", "Fault E1234 was logged")
	}
	if found := grep(corpus.GrepRequest{Pattern: "the ( door"}); !found.Literal || len(found.Matches) != 0 {
		t.Errorf("a broken pattern: %+v; want Literal true and no matches", found)
	}
	if found := grep(corpus.GrepRequest{Pattern: "首都"}); len(found.Matches) != 2 {
		t.Errorf("首都: %d matches, want 2", len(found.Matches))
	}
	if found := grep(corpus.GrepRequest{Pattern: "a", Max: 3}); len(found.Matches) != 3 || !found.More {
		t.Errorf("at most 3: %d, more %v, want 3 matches", len(found.Matches), found.More)
	}
	if found := grep(corpus.GrepRequest{Pattern: "x*", Max: 100}); found.Literal {
		t.Errorf("a pattern that may be empty: %+v, want Literal false", found)
	}
	for _, bad := range []string{" ", strings.Repeat("a", 1001), "((a{1,100}){1,100}){1,9}"} {
		if _, err := sh.Grep(t.Context(), chat.Local, corpus.GrepRequest{Pattern: bad}); err != nil &&
			chat.CodeOf(err) != chat.CodeInvalid {
			t.Errorf("Grep(%.20q) = %v", bad, err)
		}
	}
}
