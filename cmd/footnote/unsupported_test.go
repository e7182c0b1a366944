package main_test

import (
	"strings"
	"testing"

	"github.com/footnote/footnote/e2e/scripted"
)

// What no passage bears out is marked on the page, wherever the model puts its footnotes.
func TestUnsupportedSentencesAreMarkedOnThePage(t *testing.T) {
	t.Parallel()
	const fine = "Every employee is entitled to 28 days of paid holiday a year [1]."
	rows := []struct{ says, want, unsupported string }{
		{fine + " The king keeps dragons in the cellar [1].",
			`<span class="unsupported">The king keeps dragons in the cellar`, "The king keeps dragons in the cellar."},
		{fine + " The king keeps dragons in the cellar. [1]",
			`<span class="unsupported">The king keeps dragons in the cellar.`, "The king keeps dragons in the cellar."},
		{fine + "\n\n- Holiday is paid [1].\n- Dragons live in the cellar [1][1].",
			`<li><span class="unsupported">Dragons live in the cellar`, "Dragons live in the cellar."},
		{fine + " **The king keeps dragons in the cellar [1].**",
			`<strong><span class="unsupported">The king keeps dragons in the cellar`,
			"The king keeps dragons in the cellar."},
		{fine + " Dragons live in the cellar [1] and in the attic of the castle [1].",
			`<span class="unsupported">Dragons live in the cellar`,
			"Dragons live in the cellar and in the attic of the castle."},
		{"Pigs fly over the moon. " + fine, `<span class="unsupported">Pigs fly over the moon.</span>`,
			"Pigs fly over the moon."},
	}
	m := newModel(t, scripted.Config{Script: func(r scripted.Request) scripted.Reply {
		for i, row := range rows {
			if strings.Contains(r.Question(), "question "+string(rune('a'+i))) {
				return searching("paid holiday", row.says)(r)
			}
		}
		return saying("no such question")
	}})
	s := serve(t, newDir(t), m.env()...)
	s.add(file{"handbook.md", holidays})
	for i, row := range rows {
		log := s.run("How many days of paid holiday are there, question " + string(rune('a'+i)) + "?")
		if log.answer == nil || len(log.answer.Unsupported) != 1 || log.answer.Unsupported[0] != row.unsupported {
			t.Errorf("%q: the answer is %+v; want 1 and Unsupported[0] %v", row.says, log.answer, row.unsupported)
			continue
		}
		page := s.send("GET", "/c/"+log.start.SessionID, nil, header{"Accept", "text/html"}).body
		cited := strings.Contains(row.says[strings.Index(row.says, row.unsupported[:9]):], "cellar")
		if !strings.Contains(page, row.want) || strings.Count(page, `<span class="unsupported">`) != 1 ||
			strings.Contains(page, `class="doubt"`) != cited {
			t.Errorf("%q is not marked on the page", row.says)
		}
	}
}
