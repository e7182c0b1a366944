// Package views renders the pages: templates of plain values, without I/O. A Turn is a question with its run and
// its answer. The page and the stream of fragments use the same templates, so both render the same HTML. Element
// ids are part of the contract with the stream. The Markdown of answers is rendered here as well, within a budget,
// and sanitized at the end.
//
// The input is values that package page fills; the output is HTML, or text for it. Each file here has the types and
// texts of a page's templates: page for the frame; turn, timeline, activity, output and steer for an answer and its
// steps; viewer and its parts for a document. documents, tables, standing, places, folders, models, shares, find
// and docs are for the pages of those names. Answers are rendered by markdown, with formula, marks, links and
// unsupported for their parts, and draft for an answer that is still being streamed; evidence encodes files that
// leave the server.
//
// It must never query a store or make an access decision, and never let text of a user, a document or a model
// become HTML: templ escapes the values in templates, and HTML built here by hand is escaped where it is written.
// All text of the pages is translated by package locale, except in files that must be the same everywhere.
package views

import (
	"bytes"
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/a-h/templ"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus/formula"
	"github.com/footnote/footnote/text/locale"
)

// Turn is one question with its answer, decoded from the run's log.
//
// Package page builds it from the log, event by event. This package does not change it, but a Turn must not be
// rendered while events are added.
type Turn struct {
	RunID     string
	SessionID string
	ParentID  string // the run that this one follows; empty: it is the first
	Question  string
	Model     string
	Usual     string   // the default model; empty: unknown
	Offered   []string // the models that a question may select; nil: unknown
	Mode      chat.Mode
	Budget    chat.Budget
	Status    chat.RunStatus
	Error     *chat.StepError // of the run
	StartedAt time.Time
	Elapsed   time.Duration // from the start to the log's last event
	Worked    time.Duration // from the start to the answer's first token
	Steps     []*Step       // top-level steps, in order of appearance
	All       []*Step       // every step, in order of appearance
	Blocks    []Block       // the answer so far
	Citations []chat.Citation
	Final     *chat.Answer // nil until the answer is complete
	LastSeq   int64

	// run ids of all versions of this question, oldest first; it has fewer than two entries if this is the only
	// version
	Siblings []string
	Latest   bool           // the last turn of the branch
	Live     bool           // the page streams the run's events
	Feedback *chat.Feedback // the reader's feedback; nil: none
}

// Running reports whether more events follow.
func (t *Turn) Running() bool { return t.Status == chat.RunRunning }

// Answering reports whether text of the answer was streamed.
func (t *Turn) Answering() bool { return len(t.Blocks) > 0 }

// Step is one row of the timeline: the last state of a reasoning step.
//
// It embeds the step from the log; the other fields are for rendering. Its number never changes, so elements can be
// replaced by their ids.
type Step struct {
	chat.Step
	RunID    string
	N        int // number in order of appearance in the run, from 1, for element ids
	Children []*Step
	Grouping bool // synthetic: groups children whose parent has no event of its own
	Repeat   bool // synthetic: its children are successive calls of one tool
	Started  time.Time
	Elapsed  time.Duration // between its first and last event

	drawn *output // cached output of Result
}

// Block is one top-level block of an answer's Markdown as sanitized HTML.
//
// While the answer is streamed, a rendered block may be rendered again with the same number.
type Block struct {
	N    int // from 1
	HTML string
}

// Element ids. They depend only on the run and the order of its log, so the same event always renders the same
// element.
func turnID(run string) string { return "turn-" + run }

// runID and the functions below it return the element ids of a turn. The stream replaces elements by these ids, so
// they are part of the contract between page and events.
func runID(run string) string    { return "run-" + run }
func headID(run string) string   { return "head-" + run }
func stepsID(run string) string  { return "steps-" + run }
func footID(run string) string   { return "foot-" + run }
func answerID(run string) string { return "answer-" + run }
func cardsID(run string) string  { return "cards-" + run }
func afterID(run string) string  { return "after-" + run }

func blockID(run string, n int) string  { return "block-" + run + "-" + strconv.Itoa(n) }
func sourceID(run string, n int) string { return "src-" + run + "-" + strconv.Itoa(n) }

// id returns the element id of a part of the step's row.
func (s *Step) id(part string) string { return part + "-" + s.RunID + "-" + strconv.Itoa(s.N) }

// in returns the element id of the list that the step's row belongs to.
//
// parent is nil for a row of the timeline itself.
func (s *Step) in(parent *Step) string {
	if parent == nil {
		return stepsID(s.RunID)
	}
	return parent.id("kids")
}

// Failed returns the number of failed steps.
func (t *Turn) Failed() int {
	n := 0
	for _, s := range t.All {
		if s.Status == chat.StatusError {
			n++
		}
	}
	return n
}

// countSteps returns the number of steps with their own event, and of those that have ended.
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

// counted reports whether the step counts as one of the run's rounds. Parallel calls are one round.
//
// parent is nil for a row of the timeline itself.
func (s *Step) counted(parent *Step) bool {
	if parent == nil {
		return !s.Repeat && (s.ToolName != "" || len(s.Children) > 0)
	}
	return parent.Repeat
}

// Row returns the element id of the step's row.
func (s *Step) Row() string { return s.id("step") }

// stepUnderWay returns the latest running step, or nil.
func (t *Turn) stepUnderWay() *Step {
	for i := len(t.All) - 1; i >= 0; i-- {
		if s := t.All[i]; s.Status == chat.StatusRunning && !s.Grouping {
			return s
		}
	}
	return nil
}

// sure reports whether the answer's confidence is meaningful. A refusal has no confidence.
func (t *Turn) sure() bool { return t.Final.Confidence > 0 || len(t.Final.Unsupported) > 0 }

// documentsRead counts the different documents that steps opened.
//
// The answer's own count takes precedence; without an answer, the documents opened by the steps are counted.
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

// version returns this turn's position among its siblings, from 1, and the neighbours' run ids, which are empty at
// the ends.
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

// reason returns the run's error message, or the given text.
//
// It is cut at 2,000 characters: a model's server may return a whole page as its error.
func (t *Turn) reason(ctx context.Context, otherwise locale.Text) string {
	if t.Error != nil && t.Error.Message != "" {
		return visible(clipped(t.Error.Localised().In(ctx), 2000))
	}
	return otherwise.In(ctx)
}

// longQuestion reports whether the question is too long for a heading: over 600 characters or 8 line breaks.
func (t *Turn) longQuestion() bool {
	return utf8.RuneCountInString(t.Question) > 600 || strings.Count(t.Question, "\n") > 8
}

// stays appends to a sentence on how a run ended that the text streamed so far is kept, if there is any.
func (t *Turn) stays(ctx context.Context, sentence string) string {
	if !t.Answering() {
		return sentence
	}
	return sentence + " " + txtStays.In(ctx)
}

// offlineOnly reports whether the server has no model, so that the answer consists of quotes.
func (t *Turn) offlineOnly() bool { return t.Model == OfflineModel && t.Usual == OfflineModel }

// fellBack reports whether the model failed and a fallback took over.
func (t *Turn) fellBack() bool {
	return slices.ContainsFunc(t.All, func(s *Step) bool { return s.Step.Step == "fallback" })
}

// answeredBy names the model that answered if it is not the default. It is empty for the default and for a
// fallback.
func (t *Turn) answeredBy(ctx context.Context) string {
	if t.Model == "" || t.Usual == "" || t.Model == t.Usual || t.fellBack() {
		return ""
	}
	return modelName(ctx, t.Model)
}

// gone reports whether the model that answered is no longer offered. A rerun then uses the default.
func (t *Turn) gone() bool {
	return t.Model != "" && t.Usual != "" && len(t.Offered) > 0 && !slices.Contains(t.Offered, t.Model)
}

// usualInstead returns the notice that the default model replaces one that is no longer offered.
func (t *Turn) usualInstead(ctx context.Context) string {
	return modelGone.Say(ctx, modelName(ctx, t.Model), modelName(ctx, t.Usual))
}

// sourceCounts returns the number of cited documents and, if any were read, of read documents.
func (t *Turn) sourceCounts(ctx context.Context) string {
	cited := timesCited.Count(ctx, len(t.Final.Sources)-len(t.uncited()))
	if t.Final.Coverage.Opened == 0 {
		return cited
	}
	return cited + " · " + timesRead.Count(ctx, t.Final.Coverage.Opened)
}

// uncited returns the sources that were read but not cited.
func (t *Turn) uncited() []chat.Source {
	var rest []chat.Source
	for _, s := range t.Final.Sources {
		if !s.Cited {
			rest = append(rest, s)
		}
	}
	return rest
}

// confidenceText returns the text of an answer's confidence. An answer of quotes alone has no number: on questions
// that the rules were not tuned on, too many answers stated as likely were wrong (docs/quality.md).
func confidenceText(ctx context.Context, a chat.Answer) string {
	switch a.Finding {
	case chat.FindingFound:
		return confidence.Say(ctx, txtLikely)
	case chat.FindingClosest:
		return confidence.Say(ctx, txtUnlikely)
	}
	return txtConfidence.In(ctx) + " " + percent(a.Confidence)
}

// percent formats a share in whole percent. It rounds half up.
func percent(share float64) string { return strconv.Itoa(int(share*100+0.5)) + " %" }

// The budget of one Markdown text is the same in the live stream, on a loaded page and in an export. A text over
// any of these limits is shown as plain text. maxWork is checked while parsing, before goldmark allocates: 14 kB of
// text can be a table of four million cells.
const (
	// The values are estimates.
	maxNodes    = 20_000  // nodes of the syntax tree; 100 bytes of link URLs count as one more
	maxMarkdown = 256_000 // bytes of source
	maxPlain    = 512_000 // bytes of a text shown as plain text; the rest is cut
	maxWork     = 65_536  // units of parsing: see account
	maxDepth    = 100     // nesting depth of quotations and lists
)

// account counts the work of parsing one text. Once it is over budget, the parsers stop and the tree is incomplete.
// It is stored in the parser's context, so texts can be parsed concurrently.
type account struct {
	work int
	over bool

	block ast.Node // the block whose marks are counted
	marks int
}

var accountKey = parser.NewContextKey()

// spendWork counts work against the budget of one text. Once over budget, it always returns false.
func (a *account) spendWork(n int) (ok bool) {
	a.work += n
	a.over = a.over || a.work > maxWork
	return !a.over
}

// parseTree parses a text. It returns false if the text is over the budget. unfinished is the offset of a formula
// that more text may close, or -1.
//
// The tree of a text over the budget is incomplete and must not be used.
func (m *Markdown) parseTree(source []byte) (doc ast.Node, unfinished int, ok bool) {
	if len(source) > maxMarkdown {
		return nil, -1, false
	}
	a := &account{}
	pc := parser.NewContext()
	pc.Set(accountKey, a)
	doc = m.md.Parser().Parse(text.NewReader(source), parser.WithContext(pc))
	unfinished = -1
	if at, open := formula.Open(pc); open {
		unfinished = at
	}
	return doc, unfinished, !a.over
}

// newParser returns goldmark's parser with a meter on every construct whose cost exceeds its length.
//
// The numbers are goldmark's priorities, lowest first; goldmark's own parsers keep theirs.
func newParser() parser.Parser {
	inline := append(parser.DefaultInlineParsers(),
		util.Prioritized(meteredMarks{}, 0),
		util.Prioritized(formula.Inline{}, 140),
		util.Prioritized(chipParser{}, 150)) // before links (200), so that [1] is a chip
	blocks := []util.PrioritizedValue{
		util.Prioritized(parser.NewSetextHeadingParser(), 100),
		util.Prioritized(parser.NewThematicBreakParser(), 200),
		util.Prioritized(meteredContainer{parser.NewListParser()}, 300),
		util.Prioritized(meteredContainer{parser.NewListItemParser()}, 400),
		util.Prioritized(parser.NewCodeBlockParser(), 500),
		util.Prioritized(parser.NewATXHeadingParser(), 600),
		util.Prioritized(formula.Block{}, 650),
		util.Prioritized(parser.NewFencedCodeBlockParser(), 700),
		util.Prioritized(meteredContainer{parser.NewBlockquoteParser()}, 800),
		util.Prioritized(parser.NewHTMLBlockParser(), 900),
		util.Prioritized(parser.NewParagraphParser(), 1000),
	}
	return parser.NewParser(
		parser.WithBlockParsers(blocks...),
		parser.WithInlineParsers(inline...),
		parser.WithParagraphTransformers(
			util.Prioritized(meteredReferences{parser.LinkReferenceParagraphTransformer}, 100),
			util.Prioritized(meteredTables{extension.NewTableParagraphTransformer()}, 200)),
		parser.WithASTTransformers(
			util.Prioritized(extension.NewTableASTTransformer(), 0), util.Prioritized(safeTree{}, 500),
		),
	)
}

// meteredContainer meters the parser of a list, an item or a quotation. goldmark calls it once for each possible
// line and keeps every result: a nested list followed by many blank lines costs depth × lines.
type meteredContainer struct{ parser.BlockParser }

// Open implements parser.BlockParser.
func (m meteredContainer) Open(parent ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	a := pc.Get(accountKey).(*account)
	depth := 0
	for n := parent; n != nil && depth <= maxDepth; n = n.Parent() {
		depth++
	}
	if depth > maxDepth {
		a.over = true
	}
	if a.over {
		return nil, parser.NoChildren
	}
	return m.BlockParser.Open(parent, reader, pc)
}

// Continue implements parser.BlockParser.
func (m meteredContainer) Continue(node ast.Node, reader text.Reader, pc parser.Context) parser.State {
	if !pc.Get(accountKey).(*account).spendWork(1) {
		return parser.Close
	}
	return m.BlockParser.Continue(node, reader, pc)
}

// meteredReferences parses link reference definitions of a paragraph. goldmark scans all lines for each definition.
type meteredReferences struct{ parser.ParagraphTransformer }

// Transform implements parser.ParagraphTransformer.
//
// Work is counted in units of 1,024 comparisons, so that an answer with a few definitions costs nothing.
func (m meteredReferences) Transform(node *ast.Paragraph, reader text.Reader, pc parser.Context) {
	lines, opened := node.Lines(), 0
	for i := range lines.Len() {
		segment := lines.At(i)
		opened += bytes.Count(segment.Value(reader.Source()), []byte("["))
	}
	if opened > 0 && pc.Get(accountKey).(*account).spendWork(opened*lines.Len()/1024) {
		m.ParagraphTransformer.Transform(node, reader, pc)
	}
}

// meteredTables parses paragraphs as tables. goldmark pads every row to the number of columns.
type meteredTables struct{ parser.ParagraphTransformer }

// Transform implements parser.ParagraphTransformer.
func (m meteredTables) Transform(node *ast.Paragraph, reader text.Reader, pc parser.Context) {
	a := pc.Get(accountKey).(*account)
	columns, escaped := 0, 0
	lines := node.Lines()
	for i := range lines.Len() {
		segment := lines.At(i)
		line := segment.Value(reader.Source())
		if i > 0 && isTableRule(line) {
			columns = max(columns, bytes.Count(line, []byte("|"))+1)
		}
		escaped += bytes.Count(line, []byte(`\|`))
	}
	if columns == 0 {
		return
	}
	// Each escaped bar in code is compared with every other one.
	if a.spendWork(columns*lines.Len()) && a.spendWork(escaped*escaped/64) {
		m.ParagraphTransformer.Transform(node, reader, pc)
	}
}

// isTableRule reports whether a line may be a table's delimiter row.
func isTableRule(line []byte) bool {
	return bytes.IndexByte(line, '-') >= 0 && len(bytes.Trim(line, "|:- \t\r\n\v\f")) == 0
}

// meteredMarks runs before the parser of every character that may open an inline mark. A mark's cost grows with the
// number of marks in its block, since closing ones are matched with opening ones. It also grows with the length of
// its line and block, since some parsers scan for an end.
type meteredMarks struct{}

// Trigger implements parser.InlineParser.
//
// These characters trigger goldmark's own parsers and ours.
func (meteredMarks) Trigger() []byte { return []byte("`[]!<*_~(") }

// Parse implements parser.InlineParser. It consumes nothing until the budget is spent, then the rest of the block.
func (meteredMarks) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	a := pc.Get(accountKey).(*account)
	// Marks are matched only within their block, so the count restarts with each block.
	if a.block != parent {
		a.block, a.marks = parent, 0
	}
	a.marks++
	line, segment := block.PeekLine()
	if a.spendWork(1 + a.marks/256 + len(line)/1024 + parent.Lines().Len()/1024) {
		return nil
	}
	// The rest is skipped, so that goldmark ends soon; its tree is discarded.
	for line != nil {
		block.AdvanceLine()
		line, _ = block.PeekLine()
	}
	return ast.NewTextSegment(segment.WithStop(segment.Start))
}

// blockWeight returns a block's weight against maxNodes. It stops counting above most.
//
// A long URL weighs more than its node: it is written twice, and shown.
func blockWeight(block ast.Node, most int) int {
	n := 0
	_ = ast.Walk(block, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		n++
		if link, ok := node.(*ast.Link); ok {
			n += (len(link.Destination) + len(link.Title)) / 100
		}
		if f, ok := node.(*formula.Node); ok {
			n += formulaNodes(f.End - f.Start)
		}
		if n > most {
			return ast.WalkStop, nil
		}
		return ast.WalkContinue, nil
	})
	return n
}

// The text of approvals.
var (
	txtAsks          = locale.T("Waiting for your approval")
	txtNeedsApproval = locale.T("Approval required.")
	txtApprovalWhy   = locale.T("This tool accesses external systems. Review its input.")
	txtApprovalOf    = locale.T("Approve or deny ")
	txtEditInput     = locale.T("Edit input")
	txtApprove       = locale.T("Approve")
	txtDeny          = locale.T("Deny")
)

// needsApproval reports whether the step, or one of its calls, waits for the reader's approval.
func (s *Step) needsApproval() bool {
	if s.holdsApproval() {
		return true
	}
	for _, child := range s.Children {
		if child.needsApproval() {
			return true
		}
	}
	return false
}

// NeedsApproval reports whether a call of the turn waits for the reader's approval.
func (t *Turn) NeedsApproval() bool {
	return t.Running() && slices.ContainsFunc(t.Steps, (*Step).needsApproval)
}

// holdsApproval reports whether the step itself waits for approval.
//
// Only a call can wait: a pending phase has not started.
func (s *Step) holdsApproval() bool { return s.Status == chat.StatusPending && s.ToolName != "" }

// decide returns the URL that a decision is sent to.
//
// how is approve or deny, the last segment of an API path.
func (s *Step) decide(how string) templ.SafeURL {
	return templ.URL("/agent/runs/" + s.RunID + "/steps/" + url.PathEscape(s.CallID) + "/" + how)
}
