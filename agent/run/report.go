package run

import (
	"time"

	"footnote/agent/ground"
	"footnote/chat"
	"footnote/llm"
)

// report makes the events that end an answered run, but for run_done.
func (w *Runner) report(markdown string, finish llm.Finish) []chat.Payload {
	var ps []chat.Payload
	if finish == llm.FinishLength {
		ps = append(ps, w.newStep(
			"length", chat.ActionThinking, chat.StatusError,
			"The model's answer was cut at its length limit. Ask for a shorter one, or for the rest",
		))
	}
	stop := w.stop
	if stop == "" {
		stop = chat.StopAnswered
	}
	a := chat.Answer{
		Markdown: markdown, Citations: append([]chat.Citation{}, w.cite.Citations...), Unsupported: []string{},
		Coverage:  w.coverage(),
		StepsUsed: w.turns, Tokens: w.tokens, Cost: w.cost, LatencyMS: time.Since(w.begun).Milliseconds(),
		StopReason: stop,
	}
	if ground.IsRefusal(markdown) {
		a.StopReason, a.Citations, a.Sources = chat.StopRefused, []chat.Citation{}, w.sourcesOf(nil)
		a.SelfEvaluation, a.Notes = w.unanswered(), w.cite.StrayNotes()
		return append(ps, a)
	}
	a.Sources = w.sourcesOf(a.Citations)
	found := w.evaluate(markdown)
	a.Unsupported = found.unsupported
	a.Confidence, a.SelfEvaluation = w.judged.with(found, len(a.Citations) > 0)
	if e := w.run.Request.Config.EnableSelfEvaluation; e != nil && !*e {
		a.SelfEvaluation = ""
	}
	a.Notes = append(w.cite.StrayNotes(), w.sumNotes(a.Unsupported)...)
	w.rememberDecision(a)
	a.FollowUps = ground.FollowUps(w.toolContext.Sources.All(), w.cite.SourceNumbers, w.run.Request.Message)
	return append(ps, a)
}

// evaluate says how far an answer is borne out, by what it is that has to bear it out.
func (w *Runner) evaluate(markdown string) evaluation {
	if w.givenText() {
		c, explained := w.evidence.CompareGiven(markdown)
		return evaluation{c.Confidence(), explained, c.Unsupported, c.IsFaultless()}
	}
	if w.ownAnswer {
		return evaluation{1, "The answer says only what was opened, or what there is to open.", []string{}, true}
	}
	if w.evidence.RestsOnContext(markdown) {
		return evaluation{
			ground.UncheckedConfidence,
			"The answer rests on the text that came with the question, not on passages of documents.", []string{}, true,
		}
	}
	if w.answeredRejected {
		return evaluation{1, "The answer says only what was not done.", []string{}, true}
	}
	if len(w.cite.Citations) == 0 && (!w.needsFootnotes() || w.hasToolFacts && w.restsOnTools(markdown) ||
		w.onFallback && w.toolContext.Sources.IsEmpty()) {
		return w.evaluateWithout(markdown)
	}
	confidence, explained, unsupported := w.evidence.Evaluate(markdown)
	return evaluation{confidence, explained, unsupported, false}
}

func (w *Runner) coverage() chat.Coverage {
	opened, pages, empty, searches := w.toolContext.Sources.Readings()
	if w.ownAnswer {
		return chat.Coverage{EmptySearches: []string{}}
	}
	searched := 0
	if searches > 0 {
		searched = w.documentsInReach
	}
	return chat.Coverage{
		Searched: searched, Opened: len(opened), PagesRead: pages, EmptySearches: append([]string{}, empty...),
	}
}

// sourcesOf lists the documents behind an answer: the cited ones in order of their first footnote, then those only
// read.
func (w *Runner) sourcesOf(citations []chat.Citation) []chat.Source {
	out := []chat.Source{}
	seen := map[string]bool{}
	for _, c := range citations {
		if !seen[c.DocumentID] {
			seen[c.DocumentID] = true
			out = append(out, chat.Source{
				Number: c.Number, DocumentID: c.DocumentID, Title: c.Title, Filename: c.Filename,
				SourceURL: c.SourceURL, Section: c.Section, URL: c.URL, Cited: true,
			})
		}
	}
	opened, _, _, _ := w.toolContext.Sources.Readings()
	for _, doc := range opened {
		if !seen[doc.ID] {
			seen[doc.ID] = true
			out = append(out, chat.Source{
				DocumentID: doc.ID, Title: doc.DisplayTitle(), Filename: doc.Filename, SourceURL: doc.SourceURL(),
				URL: chat.Link{Document: doc.ID}.String(),
			})
		}
	}
	return out
}
