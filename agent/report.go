package agent

import (
	"fmt"
	"math"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"footnote/chat"
	"footnote/corpus/text"
	"footnote/english"
	"footnote/llm"
)

// report makes the events that end an answered run, but for run_done.
func (w *work) report(markdown string, finish llm.Finish) []chat.Payload {
	var ps []chat.Payload
	if finish == llm.FinishLength {
		ps = append(ps, w.phase("length", chat.ActionThinking, chat.StatusError, "The model's answer was cut at its length limit. Ask for a shorter one, or for the rest"))
	}
	stop := w.stop
	if stop == "" {
		stop = chat.StopAnswered
	}
	a := chat.Answer{
		Markdown: markdown, Citations: append([]chat.Citation{}, w.cite.list...), Unsupported: []string{}, Coverage: w.coverage(),
		StepsUsed: w.turns, Tokens: w.tokens, Cost: w.cost, LatencyMS: time.Since(w.begun).Milliseconds(), StopReason: stop,
	}
	if refused(markdown) {
		a.StopReason, a.Citations, a.Sources = chat.StopRefused, []chat.Citation{}, w.sourcesOf(nil)
		a.SelfEvaluation, a.Notes = w.unanswered(), w.cite.strayNotes()
		return append(ps, a)
	}
	a.Sources = w.sourcesOf(a.Citations)
	a.Confidence, a.SelfEvaluation, a.Unsupported = w.evaluate(markdown)
	a.Confidence, a.SelfEvaluation = w.judged.with(a.Confidence, a.SelfEvaluation, len(a.Citations) > 0)
	if e := w.run.Request.Config.EnableSelfEvaluation; e != nil && !*e {
		a.SelfEvaluation = ""
	}
	a.Notes = append(w.cite.strayNotes(), w.sumNotes(a.Unsupported)...)
	w.learn(a)
	a.FollowUps = followUps(w.desk.sources.all(), w.cite.from, w.run.Request.Message)
	return append(ps, a)
}

// unchecked is the confidence in an answer of which nothing could be compared with passages.
const unchecked = 0.8

// evaluate compares each sentence with the passages behind its footnotes, and those that carry none with the footnotes that follow in their
// paragraph. Confidence is the share of borne out sentences among those that state something, lowered by quotes that are not word for word.
func (w *work) evaluate(markdown string) (confidence float64, explained string, unsupported []string) {
	unsupported = []string{}
	if w.givenText() {
		return w.evaluateGiven(markdown)
	}
	if w.ownAnswer {
		return 1, "The answer says only what was opened, or what there is to open.", unsupported
	}
	if w.restsOnContext(markdown) {
		return unchecked, "The answer rests on the text that came with the question, not on passages of documents.", unsupported
	}
	if w.saidUndone {
		return 1, "The answer says only what was not done.", unsupported
	}
	if len(w.cite.list) == 0 && (!w.needsFootnotes() || w.bare && w.restsOnTools(markdown) || w.fell && w.desk.sources.isEmpty()) {
		return w.evaluateWithout(markdown)
	}
	cited, backed, without, covered := 0, 0, 0, 0
	said := map[string]bool{} // what is backed once may be said again
	for _, c := range w.claimsOf(markdown) {
		switch {
		case len(c.numbers) > 0:
			if cited++; w.backed(c) || c.leads() {
				backed++
				said[c.text] = true
				continue
			}
		case !states(c.text):
			continue
		default:
			if without++; said[c.text] || w.covered(c) {
				covered++
				continue
			}
		}
		unsupported = append(unsupported, c.text)
	}
	if cited == 0 || len(w.cite.list) == 0 {
		return 0.1, "No sentence carries a footnote.", unsupported
	}
	exact := 0
	for _, c := range w.cite.list {
		if c.Check == chat.CheckVerified {
			exact++
		}
	}
	confidence = float64(backed+covered) / float64(cited+without) * (0.8 + 0.2*float64(exact)/float64(len(w.cite.list)))
	explained = fmt.Sprintf("%d of %s with footnotes %s backed by %s; ", backed, english.Count(cited, "sentence"), either(cited == 1, "is", "are"), either(cited == 1, "its passages", "their passages"))
	if bare := without - covered; bare > 0 {
		explained += fmt.Sprintf("%s without a source %s in no passage; ", english.Count(bare, "sentence"), either(bare == 1, "stands", "stand"))
	}
	explained += fmt.Sprintf("%d of %s %s word for word in the documents.", exact, english.Count(len(w.cite.list), "quote"), either(len(w.cite.list) == 1, "stands", "stand"))
	return rounded(confidence), explained, unsupported
}

// rounded is a confidence in hundredths.
func rounded(confidence float64) float64 { return math.Round(confidence*100) / 100 }

func either(first bool, a, b string) string {
	if first {
		return a
	}
	return b
}

func (w *work) coverage() chat.Coverage {
	opened, pages, empty, searches := w.desk.sources.readings()
	if w.ownAnswer {
		return chat.Coverage{EmptySearches: []string{}}
	}
	searched := 0
	if searches > 0 {
		searched = w.reach
	}
	return chat.Coverage{Searched: searched, Opened: len(opened), PagesRead: pages, EmptySearches: append([]string{}, empty...)}
}

// sourcesOf lists the documents behind an answer: the cited ones in order of their first footnote, then those only read.
func (w *work) sourcesOf(citations []chat.Citation) []chat.Source {
	out := []chat.Source{}
	seen := map[string]bool{}
	for _, c := range citations {
		if !seen[c.DocumentID] {
			seen[c.DocumentID] = true
			out = append(out, chat.Source{Number: c.Number, DocumentID: c.DocumentID, Title: c.Title, Filename: c.Filename, SourceURL: c.SourceURL, Section: c.Section, URL: c.URL, Cited: true})
		}
	}
	opened, _, _, _ := w.desk.sources.readings()
	for _, doc := range opened {
		if !seen[doc.ID] {
			seen[doc.ID] = true
			out = append(out, chat.Source{DocumentID: doc.ID, Title: title(doc), Filename: doc.Filename, SourceURL: sourceURL(doc), URL: "/d/" + url.PathEscape(doc.ID)})
		}
	}
	return out
}

// followUps makes up to three questions from sections that were seen but not cited.
func followUps(all []source, cited []int, question string) []string {
	var out []string
	seen := map[string]bool{}
	for _, n := range cited {
		for _, src := range all {
			if src.n == n {
				seen[heading(src.passage.Section)] = true
			}
		}
	}
	for _, src := range all {
		h := heading(src.passage.Section)
		if h == "" || seen[h] || utf8.RuneCountInString(h) > 80 || strings.Contains(strings.ToLower(question), strings.ToLower(h)) {
			continue
		}
		seen[h] = true
		if out = append(out, fmt.Sprintf("What does %s say about “%s”?", text.Shorten(title(src.document), 60), h)); len(out) == 3 {
			break
		}
	}
	return out
}

// heading is the innermost heading of a section.
func heading(section string) string {
	if i := strings.LastIndex(section, " › "); i >= 0 {
		section = section[i+len(" › "):]
	}
	return strings.TrimSpace(section)
}
