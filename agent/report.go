package agent

import (
	"cmp"
	"fmt"
	"math"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"footnote/chat"
	"footnote/corpus/text"
	"footnote/llm"
)

// claim is a sentence of an answer and the footnotes it carries.
type claim struct {
	text    string
	numbers []int
}

var footnote = regexp.MustCompile(`\[(\d{1,3})\]`)

// claims splits an answer into its sentences. A footnote that stands behind a full stop belongs to the sentence it ends.
func claims(markdown string) []claim {
	var out []claim
	for _, line := range strings.Split(withoutCode(markdown), "\n") {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "#") || strings.Trim(line, "|-: ") == "" {
			continue
		}
		runes := []rune(line)
		for _, span := range text.Sentences(line) {
			s := string(runes[span[0]:span[1]])
			rest := s
			for len(out) > 0 { // footnotes at the beginning are those of the sentence before
				at := footnote.FindStringIndex(rest)
				if at == nil || strings.TrimSpace(rest[:at[0]]) != "" {
					break
				}
				out[len(out)-1].add(rest[:at[1]])
				rest = strings.TrimLeft(rest[at[1]:], " ")
			}
			words := strings.TrimLeft(strings.TrimSpace(withoutMarkers(rest)), "#-*>|+ ")
			if words == "" {
				continue
			}
			c := claim{text: words}
			c.add(rest)
			out = append(out, c)
		}
	}
	return out
}

func (c *claim) add(s string) {
	for _, m := range footnote.FindAllStringSubmatch(s, -1) {
		if n, err := strconv.Atoi(m[1]); err == nil && !slices.Contains(c.numbers, n) {
			c.numbers = append(c.numbers, n)
		}
	}
}

// withoutCode drops fenced code: it makes no claims.
func withoutCode(markdown string) string {
	var out []string
	fenced := false
	for _, line := range strings.Split(markdown, "\n") {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
			continue
		}
		if !fenced {
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n")
}

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
		StepsUsed: w.turns, Tokens: w.used, Cost: w.cost, LatencyMS: time.Since(w.begun).Milliseconds(), StopReason: stop,
	}
	if refused(markdown) {
		a.StopReason, a.Citations, a.Sources = chat.StopRefused, []chat.Citation{}, w.sourcesOf(nil)
		a.SelfEvaluation = "Nothing in the documents answers this."
		return append(ps, a)
	}
	a.Sources = w.sourcesOf(a.Citations)
	a.Confidence, a.SelfEvaluation, a.Unsupported = w.evaluate(markdown)
	a.SelfEvaluation = cmp.Or(w.judged, a.SelfEvaluation)
	if e := w.run.Request.Config.EnableSelfEvaluation; e != nil && !*e {
		a.SelfEvaluation = ""
	}
	w.learn(a)
	a.FollowUps = followUps(w.desk.sources.all(), w.cite.from, w.run.Request.Message)
	return append(ps, a)
}

// evaluate compares each sentence with the passages behind its footnotes. Confidence is the share of backed sentences among
// those with footnotes, lowered by quotes that are not word for word and by half for text without any footnote.
func (w *work) evaluate(markdown string) (confidence float64, explained string, unsupported []string) {
	unsupported = []string{}
	if w.givenText() {
		return 0.8, "The answer comes from the given text alone.", unsupported
	}
	if w.saidUndone {
		return 1, "The answer says only what was not done.", unsupported
	}
	if len(w.cite.list) == 0 && (!w.needsFootnotes() || w.fell && w.desk.sources.isEmpty()) {
		return 0.8, w.unfounded(), unsupported
	}
	all := claims(markdown)
	cited, backed := 0, 0
	for _, c := range all {
		if len(c.numbers) == 0 {
			if len(w.cite.list) == 0 {
				unsupported = append(unsupported, c.text)
			}
			continue
		}
		cited++
		if w.backed(c) {
			backed++
		} else {
			unsupported = append(unsupported, c.text)
		}
	}
	if cited == 0 {
		return 0.1, "No sentence carries a footnote.", unsupported
	}
	exact := 0
	for _, c := range w.cite.list {
		if c.Check == chat.CheckVerified {
			exact++
		}
	}
	share := float64(backed) / float64(cited)
	covered := float64(cited) / float64(len(all))
	confidence = share * (0.5 + 0.5*covered) * (0.8 + 0.2*float64(exact)/float64(len(w.cite.list)))
	explained = fmt.Sprintf("%d of %s with footnotes %s backed by %s; %d of %s %s word for word in the documents.",
		backed, count(cited, "sentence"), either(cited == 1, "is", "are"), either(cited == 1, "its passages", "their passages"),
		exact, count(len(w.cite.list), "quote"), either(len(w.cite.list) == 1, "stands", "stand"))
	return math.Round(confidence*100) / 100, explained, unsupported
}

// unfounded says why an answer without footnotes is one nevertheless.
func (w *work) unfounded() string {
	switch {
	case !w.mustCite():
		return "No footnotes were asked for, so nothing was checked against the documents."
	case w.bare && w.asked.needsDocuments():
		return "The answer rests on what tools returned, not on passages of documents."
	}
	return "The answer needs no documents."
}

func either(first bool, a, b string) string {
	if first {
		return a
	}
	return b
}

// backed reports whether any passage behind a sentence holds its words.
func (w *work) backed(c claim) bool {
	for _, n := range c.numbers {
		if n < 1 || n > len(w.cite.from) {
			continue
		}
		if src, ok := w.desk.sources.at(w.cite.from[n-1]); ok && w.cite.judge.Supports(c.text, src.passage.Text) {
			return true
		}
	}
	return false
}

func (w *work) coverage() chat.Coverage {
	opened, pages, empty, _ := w.desk.sources.readings()
	return chat.Coverage{Searched: w.reach, Opened: len(opened), PagesRead: pages, EmptySearches: append([]string{}, empty...)}
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
		if out = append(out, fmt.Sprintf("What does %s say about “%s”?", shorten(title(src.document), 60), h)); len(out) == 3 {
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
