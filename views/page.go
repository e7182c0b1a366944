package views

import (
	"context"
	_ "embed"
	"slices"
	"strings"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/text/locale"
)

// Page is the data of every page's frame.
//
// Unused fields are zero; the templates leave out their elements.
type Page struct {
	Title      string
	Theme      string // "light" or "dark" if chosen without a script; empty: the system's theme
	Sessions   []chat.Session
	Session    string // id of the open session
	Documents  int
	MaxFile    int64  // maximum size of a file in bytes
	Seen       string // fingerprint of the library's shown state
	Here       string // the page's own URL, for redirects back
	Place      string // the current entry of the menu: "new", "documents", "standing", "tables" or empty
	Changed    int    // number of standing questions with unseen changes
	Model      string // the default model
	Semantic   bool
	Now        time.Time
	Running    bool   // the answer is in progress: without a script the page reloads
	Still      bool   // in progress, but without a script the page must not reload: the reader is typing
	User       string // the signed-in user; empty: sign-in is disabled
	Deleted    string // id of a deleted session that can be restored
	Assets     Assets
	KeepDays   int    // retention of a session in days after its last question; 0: unlimited
	SourceOpen bool   // the page has a source in its panel
	Build      string // the program's version, commit and date
}

// Offline reports whether no model is set, so that rules select the tools.
func (p Page) Offline() bool { return p.Model == OfflineModel }

// reload returns the meta refresh content for a browser without scripts. A session's URL has no fragment, since a
// browser would only scroll to it.
//
// The interval is 2 seconds.
func (p Page) reload() string {
	if p.Session == "" {
		return "2"
	}
	return "2; url=/c/" + p.Session
}

// Assets resolves the page's static files.
type Assets struct {
	Path   func(name string) string // the URL of a file under static/
	Script bool                     // the third-party scripts are installed: the page can be live
	// The page's own modules, which are preloaded in parallel instead of one import after the other.
	Modules []string
}

// StartPage is the data of the start page.
type StartPage struct {
	Counts   corpus.Counts
	Starters []Starter
	Samples  bool // sample documents are available
	Folders  bool // the user may choose folders
	Composer Composer
}

// Composer is the question box.
//
// The key deduplicates requests: a question that is sent twice, as by a second click, starts one run.
type Composer struct {
	SessionID string
	Key       string // Idempotency-Key, unique for each page
	Draft     string
	Asked     bool // Draft was sent and refused
	Refused   Refusal
	RunID     string // of the running run; empty: a question can be sent
	Budget    chat.Budget
	Choose    Chooser
	Options   Options
	Start     bool // the box of the start page
}

// waits reports whether the box holds a prefilled question.
func (c Composer) waits() bool { return c.Asked || c.Draft != "" }

// elsewhere returns the target of a form beside the box: a new tab if the box holds a question that would be lost.
func (c Composer) elsewhere() string {
	if c.waits() {
		return "_blank"
	}
	return "_self"
}

// Refusal is the error message of a refused action.
type Refusal struct {
	Detail locale.Message
	Code   chat.Code
	SignIn string // URL of the sign-in page; empty: it would not help
}

// SessionPage is the data of a session's page.
type SessionPage struct {
	Session  chat.Session
	Turns    []*Turn
	Composer Composer
	Queue    []chat.Queued // queued questions
	Lost     int           // turns that are missing because their stored rows are damaged
}

// sessionGroup holds the sessions of one day in the menu.
type sessionGroup struct {
	Name     string
	Sessions []chat.Session
}

// groups groups sessions by day.
//
// sessions must be sorted newest first, so that each day's sessions are adjacent.
func groups(ctx context.Context, sessions []chat.Session, now time.Time) []sessionGroup {
	var out []sessionGroup
	for _, s := range sessions {
		name := dayName(ctx, s.UpdatedAt, now)
		if len(out) == 0 || out[len(out)-1].Name != name {
			out = append(out, sessionGroup{Name: name})
		}
		last := &out[len(out)-1]
		last.Sessions = append(last.Sessions, s)
	}
	return out
}

// dayName returns the name of a day in UTC. The page's script formats it again in the reader's time zone.
//
// now is the server's time. Today and yesterday are calendar days; the week is the seven days before today.
func dayName(ctx context.Context, t, now time.Time) string {
	t, now = t.UTC(), now.UTC()
	// Days of UTC start at multiples of 24 hours.
	midnight := now.Truncate(24 * time.Hour)
	switch {
	case !t.Before(midnight):
		return txtToday.In(ctx)
	case !t.Before(midnight.AddDate(0, 0, -1)):
		return txtYesterday.In(ctx)
	case !t.Before(midnight.AddDate(0, 0, -7)):
		return txtThisWeek.In(ctx)
	default:
		return locale.Month(ctx, t, t.Year() != now.Year())
	}
}

// htmxConfig keeps streams open in hidden tabs, reconnects soon after a restart, keeps the reader's fold state, and
// injects no styles, as the content security policy requires.
const htmxConfig = `{"includeIndicatorCSS":false,"history":false,"morphIgnore":["data-htmx-powered","data-touched",` +
	`"open"],"sse":{"pauseOnBackground":false,"reconnectMaxDelay":3000}}`

// keyEntry is a line of the keyboard shortcuts.
type keyEntry struct {
	what locale.Text
	keys []string
}

var keyList = []keyEntry{
	{locale.T("Send"), []string{"Enter"}},
	{locale.T("New line"), []string{"Shift", "Enter"}},
	{locale.T("Recall last question (if the box is empty)"), []string{"↑"}},
	{locale.T("Stop or close"), []string{"Esc"}},
	{locale.T("Go to the question box"), []string{"/"}},
	{locale.T("Search conversations and documents"), []string{"Ctrl", "K"}},
	{locale.T("New question"), []string{"Ctrl", "Shift", "O"}},
	{locale.T("Next / previous step"), []string{"j", "k"}},
	{locale.T("Expand one step / all steps"), []string{"e", "E"}},
	{locale.T("Previous / next citation"), []string{"[", "]"}},
	{locale.T("Open citation"), []string{"o"}},
	{locale.T("Zoom in / zoom out / fit width"), []string{"+", "−", "0"}},
	{locale.T("Show shortcuts"), []string{"?"}},
}

// pageTitle returns the title of the browser's tab.
func pageTitle(title string) string {
	if title == "" {
		return siteName
	}
	return title + " · " + siteName
}

// openWord returns the state of a drawer for the style sheet.
func openWord(open bool) string {
	if open {
		return "open"
	}
	return "closed"
}

// currentWord returns the value of aria-current.
func currentWord(current bool) string {
	if current {
		return "page"
	}
	return "false"
}

// sessionTitle returns a conversation's name without invisible characters.
func sessionTitle(ctx context.Context, s chat.Session) string {
	if s.Title == "" {
		return txtNewQuestion.In(ctx)
	}
	return shownName(s.Title)
}

// documentTitle returns a document's title without invisible characters.
func documentTitle(d corpus.Document) string { return shownName(d.DisplayTitle()) }

// The limit is arbitrary.
const maxName = 300 // runes of a title or file name in a list or a heading

// shownName returns a title for lists and headings: cut, and without bidirectional control characters.
func shownName(name string) string { return visible(clipped(name, maxName)) }

// rows returns the initial height of the question box.
func rows(c Composer) string {
	if c.Start {
		return "2"
	}
	return "1"
}

// placeholder returns the placeholder of the empty question box.
func placeholder(c Composer) locale.Text {
	switch {
	case c.Start:
		return txtAsk
	case c.RunID != "":
		return txtWaits
	default:
		return txtFollowUp
	}
}

// TroubleTitle returns the heading of an error page.
//
// The default covers errors that the reader can fix.
func TroubleTitle(code chat.Code) locale.Text {
	switch code {
	case chat.CodeNotFound:
		return txtNotThere
	case chat.CodeUnavailable:
		return unavailable
	case chat.CodeInternal:
		return wentWrong
	default:
		return didNotWork
	}
}

// sprite contains every icon once, as symbols i-name of 16 by 16 pixels. It is inline in the page, so that icons
// need no request.
//
//go:embed icons.svg
var sprite string

// Field is a field of a form.
type Field struct{ Name, Value string }

var (
	txtQuestionKept = locale.T("Your question was not sent. It will be in the question box after you sign in.")
	txtSignedOut    = locale.T("You are signed out. Your question is still here.")
	txtSignIn       = locale.T("Sign in")
	txtSignInWith   = locale.T("This server requires an API key.")
	txtKey          = locale.T("API key")
	txtSignOut      = locale.T("Sign out")
	txtSignedIn     = locale.T("Signed in as ")
)

// Options are the options of a question besides its documents. A list with one entry is hidden.
type Options struct {
	Models     []string // the default first
	Toolsets   []string // the default first
	Namespaces []string

	Model, Toolset, Namespace string // the selected ones; empty or not offered: the default, and all namespaces
}

// choice reports whether any option can be chosen.
func (o Options) choice() bool {
	return len(o.Models) > 1 || len(o.Toolsets) > 1 || len(o.Namespaces) > 1
}

// label returns the model's name if there are several, and the options that differ from the default.
func (o Options) label(ctx context.Context) string {
	var parts []string
	// A model that is no longer offered is shown as the default, which answers instead.
	if len(o.Models) > 1 {
		parts = append(parts, modelName(ctx, o.Models[max(0, slices.Index(o.Models, o.Model))]))
	}
	if slices.Index(o.Toolsets, o.Toolset) > 0 {
		parts = append(parts, o.Toolset)
	}
	if len(o.Namespaces) > 1 && slices.Contains(o.Namespaces, o.Namespace) {
		parts = append(parts, o.Namespace)
	}
	if len(parts) == 0 {
		return txtOptions.In(ctx)
	}
	return strings.Join(parts, " · ")
}

// offers reports whether the toolset is offered.
func (o Options) offers(toolset string) bool { return slices.Contains(o.Toolsets, toolset) }

// OfflineModel is the name of the rule-based model.
//
// It must equal the server's name for it: pages identify the model by this name only.
const OfflineModel = "offline"

// modelTitle returns the label of the link to the models page: the current model.
func modelTitle(ctx context.Context, p Page) string {
	return modelName(ctx, p.Model) + ": " + txtModels.In(ctx)
}

// modelName returns a model's display name.
func modelName(ctx context.Context, name string) string {
	if name == OfflineModel {
		return txtOffline.In(ctx)
	}
	return name
}

// modelText returns the text of an entry in the list of models.
func modelText(ctx context.Context, name string) string {
	if name == OfflineModel {
		return txtOffline.In(ctx) + ": " + txtQuotesOnly.In(ctx)
	}
	return name
}

// usual returns the form value of entry i. It is empty for the first entry, the server's default: a form sent later
// then uses the default of that time.
func usual(i int, name string) string {
	if i == 0 {
		return ""
	}
	return name
}

// toolsetWords describes each toolset.
var toolsetWords = map[string]locale.Text{
	"cursor":        locale.T("Searches and reads documents as needed"),
	"react":         locale.T("Small steps, with web search if set up"),
	"strategy":      locale.T("Fast: a few searches, then the answer"),
	"documentation": locale.T("Search only, for handbooks and manuals"),
}

// Chooser offers documents that a question can be limited to.
//
// Documents and Chosen may overlap; rest removes the duplicates.
type Chooser struct {
	Documents []corpus.Document // the newest ones, or search results
	Chosen    []corpus.Document
	Ready     int // number of documents that can be selected
	All       int // including those not ready
}

// all returns the label for all documents.
func (c Chooser) all(ctx context.Context) string { return allDocuments.Count(ctx, c.Ready) }

// some is the label for several chosen documents, with {n} as the placeholder for their number.
func (c Chooser) some(ctx context.Context) string { return someDocuments.Count(ctx, c.Ready, "{n}") }

// label returns the text of the question's scope.
func (c Chooser) label(ctx context.Context) string {
	switch len(c.Chosen) {
	case 0:
		return c.all(ctx)
	case 1:
		return documentTitle(c.Chosen[0])
	default:
		return someDocuments.Count(ctx, c.Ready, len(c.Chosen))
	}
}

// rest returns the offered documents that are not chosen yet.
func (c Chooser) rest() []corpus.Document {
	var rest []corpus.Document
	for _, d := range c.Documents {
		if !slices.ContainsFunc(c.Chosen, func(chosen corpus.Document) bool { return chosen.ID == d.ID }) {
			rest = append(rest, d)
		}
	}
	return rest
}

// Found holds the results of a search over conversations, document names and passages. Without a query it holds the
// newest.
type Found struct {
	Query     string
	Sessions  []chat.Session
	Documents []corpus.Document
	Passages  []corpus.Result
	Notes     []string // about the search for passages
	More      bool     // the list is truncated
	Now       time.Time
	// The searched conversations and documents. Unread documents have no text yet and are matched by name only.
	AllSessions, AllDocuments, Unread int
}

// count returns the number of results.
func (f Found) count() int { return len(f.Sessions) + len(f.Documents) + len(f.Passages) }

// looked returns the text of the search's scope.
func (f Found) looked(ctx context.Context) string {
	all := andThen.Say(ctx, conversations.Count(ctx, f.AllSessions), documents.Count(ctx, f.AllDocuments))
	if f.Unread > 0 {
		all += " (" + byNameOnly.Count(ctx, f.Unread) + ")"
	}
	if f.Query == "" {
		return all
	}
	return lookedThrough.Say(ctx, all)
}

// nothing returns the message for a search without results.
//
// The query is cut at 80 characters.
func (f Found) nothing(ctx context.Context) string {
	return nothingHas.Say(ctx, visible(clipped(f.Query, 80)))
}

// askThis returns the label of the link that asks the query as a question.
func (f Found) askThis(ctx context.Context) string {
	return txtAskThis.Say(ctx, visible(clipped(f.Query, 80)))
}

// foundPassage prepares a passage with a link to its best match.
//
// Without matches the link leads to the whole passage. Matches are rune ranges in the snippet.
func foundPassage(r corpus.Result) hit {
	link := chat.Link{Document: r.Document.ID, Passage: r.Passage.ID, Fragment: chat.FragmentCited}
	// A snippet's offsets are relative to its passage, a link's offsets to the document.
	if len(r.Snippet.Matches) > 0 {
		link.Start, link.End = r.Passage.Start+r.Snippet.Start, r.Passage.Start+r.Snippet.End
	}
	return hit{
		URL: link.String(), Title: documentTitle(r.Document), Kind: fileKind(r.Document.Filename, r.Document.MIME),
		Loc:     sourcePlace(r.Document.Title, r.Place, r.Passage.Section),
		Snippet: cutSpans(visible(r.Snippet.Text), r.Snippet.Matches),
	}
}
