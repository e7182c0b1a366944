// Package views draws the page: templates of plain values, without I/O. A Turn is a question with its run and its
// answer; the page and the stream of fragments draw it with the same templates, so both look alike. Ids of elements are
// part of the contract with the stream. Markdown of answers is drawn here as well, within a budget, and made safe at
// the end.
//
// What comes in are values that package page filled; what goes out is HTML, or words for it. Each file here has the
// types and words of the templates of a screen: page for the frame, turn, timeline, activity, output and steer for an
// answer and its steps, viewer and its parts for a document, documents, tables, standing, places, folders, models,
// shares, find and docs for the pages of those names. Answers are drawn by markdown, with formula, marks, links and
// unsupported for what stands in them, budget for how much may be drawn, and draft for what is still being written;
// evidence writes files that leave the server.
//
// It must never ask a store or decide who may see something, and never let a text of a user, a document or a model
// become HTML: templ escapes what templates show, and what is drawn by hand here is escaped where it is written. What
// people read goes through package locale, but for files that must be the same everywhere.
package views

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text/locale"
)

// Turn is one question and everything known of its answer, folded from the run's log.
//
// Package page makes it anew from the log, event by event. Nothing here changes it, but it must not be drawn while
// events are added.
type Turn struct {
	RunID     string
	SessionID string
	ParentID  string // the run that this one follows; empty: it is the first
	Question  string
	Model     string
	Usual     string   // the model that answers when no other is asked for; empty: unknown
	Offered   []string // the models that a question may name; nil: unknown
	Mode      chat.Mode
	Budget    chat.Budget
	Status    chat.RunStatus
	Error     *chat.StepError // of the run
	StartedAt time.Time
	Elapsed   time.Duration // from the start to the log's last event
	Worked    time.Duration // from the start to the first word of the answer
	Steps     []*Step       // without a parent, in order of appearance
	All       []*Step       // every step, in order of appearance
	Blocks    []Block       // the answer so far
	Citations []chat.Citation
	Final     *chat.Answer // nil until it is there
	LastSeq   int64

	// run ids of all versions of this question, oldest first; fewer than two: there is only this one
	Siblings []string
	Latest   bool           // the last turn of the branch
	Live     bool           // the page should listen to the run's stream
	Feedback *chat.Feedback // what the reader said of the answer; nil: nothing yet
}

// Running reports whether more events will come.
func (t *Turn) Running() bool { return t.Status == chat.RunRunning }

// Answering reports whether words of the answer are there.
func (t *Turn) Answering() bool { return len(t.Blocks) > 0 }

// Step is one row of the timeline: the last state of a reasoning step.
//
// It embeds the step as the log has it; the rest is what drawing needs. Its number never changes, so elements can be
// replaced by their ids.
type Step struct {
	chat.Step
	RunID    string
	N        int // order of first appearance in the run, from 1: its element ids are made of it
	Children []*Step
	Grouping bool // made up to group children whose parent has no event of its own
	Repeat   bool // made up: its children are calls of one tool, one after the other
	Started  time.Time
	Elapsed  time.Duration // between its first and its last event

	drawn *output // of Result, made once
}

// Block is one top-level piece of an answer's Markdown as safe HTML.
//
// A block that was drawn may be drawn again with other HTML under the same number, while the answer is written.
type Block struct {
	N    int // from 1
	HTML string
}

// Element ids. They depend on the run and on the order of its log alone, so the same event always draws the same
// element.
func turnID(run string) string { return "turn-" + run }

// runID and the functions below it make the ids of a turn's elements. The stream redraws by them, so they are part of
// the contract between page and events.
func runID(run string) string    { return "run-" + run }
func headID(run string) string   { return "head-" + run }
func stepsID(run string) string  { return "steps-" + run }
func footID(run string) string   { return "foot-" + run }
func answerID(run string) string { return "answer-" + run }
func cardsID(run string) string  { return "cards-" + run }
func afterID(run string) string  { return "after-" + run }

func blockID(run string, n int) string  { return "block-" + run + "-" + strconv.Itoa(n) }
func sourceID(run string, n int) string { return "src-" + run + "-" + strconv.Itoa(n) }

// id is the id of a part of the step's row.
func (s *Step) id(part string) string { return part + "-" + s.RunID + "-" + strconv.Itoa(s.N) }

// in returns the id of the list the step's row belongs to.
//
// parent is nil for a row of the timeline itself.
func (s *Step) in(parent *Step) string {
	if parent == nil {
		return stepsID(s.RunID)
	}
	return parent.id("kids")
}

// Failed counts the steps that failed.
func (t *Turn) Failed() int {
	n := 0
	for _, s := range t.All {
		if s.Status == chat.StatusError {
			n++
		}
	}
	return n
}

// countSteps returns how many steps have an event of their own and how many of them are over.
func (t *Turn) countSteps() (all, over int) {
	for _, s := range t.All {
		if s.Grouping {
			continue
		}
		all++
		if s.over() {
			over++
		}
	}
	return all, over
}

// over reports whether the step has ended.
func (s *Step) over() bool {
	return s.Status != chat.StatusRunning && s.Status != chat.StatusPending
}

// counted reports whether the step stands for one of the run's rounds: calls made together are one.
//
// parent is nil for a row of the timeline itself.
func (s *Step) counted(parent *Step) bool {
	if parent == nil {
		return !s.Repeat && (s.ToolName != "" || len(s.Children) > 0)
	}
	return parent.Repeat
}

// Row is the id of the step's row.
func (s *Step) Row() string { return s.id("step") }

// stepUnderWay returns the step that is under way, the latest if there are several; nil if none is.
func (t *Turn) stepUnderWay() *Step {
	for i := len(t.All) - 1; i >= 0; i-- {
		if s := t.All[i]; s.Status == chat.StatusRunning && !s.Grouping {
			return s
		}
	}
	return nil
}

// sure reports whether the answer's confidence says something: that of a refusal is no judgement.
func (t *Turn) sure() bool { return t.Final.Confidence > 0 || len(t.Final.Unsupported) > 0 }

// documentsRead counts the different documents that steps opened.
//
// The answer knows best; while there is none, what the steps opened is counted.
func (t *Turn) documentsRead() int {
	if t.Final != nil {
		return t.Final.Coverage.Opened
	}
	seen := map[string]bool{}
	for _, s := range t.All {
		if s.Status == chat.StatusComplete && s.ActionType == chat.ActionReading {
			for _, opened := range s.output().Opened {
				seen[opened.DocumentID] = true
			}
		}
	}
	return len(seen)
}

// findCitation returns the citation with the number.
func (t *Turn) findCitation(n int) (chat.Citation, bool) {
	for _, c := range t.Citations {
		if c.Number == n {
			return c, true
		}
	}
	return chat.Citation{}, false
}

// version returns this turn's place among its siblings, from 1, and the neighbours' run ids, empty at the ends.
//
// n is 0 for a turn without siblings.
func (t *Turn) version() (n int, before, after string) {
	for i, id := range t.Siblings {
		if id != t.RunID {
			continue
		}
		if i > 0 {
			before = t.Siblings[i-1]
		}
		if i+1 < len(t.Siblings) {
			after = t.Siblings[i+1]
		}
		return i + 1, before, after
	}
	return 0, "", ""
}

// reason is the run's own sentence on why it failed, or the given one.
//
// It is cut at 2,000 characters, which is a choice: a model's server may send a whole page as its failure.
func (t *Turn) reason(ctx context.Context, otherwise locale.Text) string {
	if t.Error != nil && t.Error.Message != "" {
		return visible(clipped(locale.Known(ctx, t.Error.Message), 2000))
	}
	return otherwise.In(ctx)
}

// longQuestion reports whether the question is more than a heading can be.
//
// Both figures are choices.
func (t *Turn) longQuestion() bool {
	return utf8.RuneCountInString(t.Question) > 600 || strings.Count(t.Question, "\n") > 8
}

// stays adds to a sentence on how a run ended that its words are still there, if there are any.
func (t *Turn) stays(ctx context.Context, sentence string) string {
	if !t.Answering() {
		return sentence
	}
	return sentence + " " + txtStays.In(ctx)
}

// offlineOnly reports whether the server has no model, so that the answer is made of quotes.
func (t *Turn) offlineOnly() bool { return t.Model == OfflineModel && t.Usual == OfflineModel }

// fellBack reports whether the model failed and another one took over.
func (t *Turn) fellBack() bool {
	return slices.ContainsFunc(t.All, func(s *Step) bool { return s.Step.Step == "fallback" })
}

// answeredBy names the model that answered instead of the usual one; empty if that did, or if it took over from one
// that failed.
func (t *Turn) answeredBy(ctx context.Context) string {
	if t.Model == "" || t.Usual == "" || t.Model == t.Usual || t.fellBack() {
		return ""
	}
	return modelName(ctx, t.Model)
}

// gone reports whether the model that answered is no longer offered: asked again, the usual one answers.
func (t *Turn) gone() bool {
	return t.Model != "" && t.Usual != "" && len(t.Offered) > 0 && !slices.Contains(t.Offered, t.Model)
}

// usualInstead says that the usual model answers instead of one that is gone.
func (t *Turn) usualInstead(ctx context.Context) string {
	return modelGone.Say(ctx, modelName(ctx, t.Model), modelName(ctx, t.Usual))
}

// sourceCounts returns the number of documents cited and, if any were, of those read.
func (t *Turn) sourceCounts(ctx context.Context) string {
	cited := timesCited.Count(ctx, len(t.Final.Sources)-len(t.uncited()))
	if t.Final.Coverage.Opened == 0 {
		return cited
	}
	return cited + " · " + timesRead.Count(ctx, t.Final.Coverage.Opened)
}

// uncited returns the sources that were read and not cited.
func (t *Turn) uncited() []chat.Source {
	var rest []chat.Source
	for _, s := range t.Final.Sources {
		if !s.Cited {
			rest = append(rest, s)
		}
	}
	return rest
}

// confidenceText says how sure an answer is. That of quotes alone has no number: over questions that the rules were not
// made on, too many of those that were stated as likely did not hold what was asked (docs/quality.md).
func confidenceText(ctx context.Context, a chat.Answer) string {
	switch a.Finding {
	case chat.FindingFound:
		return confidence.Say(ctx, txtLikely)
	case chat.FindingClosest:
		return confidence.Say(ctx, txtUnlikely)
	}
	return txtConfidence.In(ctx) + " " + percent(a.Confidence)
}

// percent is a share in whole percent.
// It rounds half up.
func percent(share float64) string { return strconv.Itoa(int(share*100+0.5)) + " %" }
