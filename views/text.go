package views

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract"
	"github.com/footnote/footnote/text/locale"
)

// The text of the page, in one place so that it can be translated.
var (
	txtSkip        = locale.T("Skip to content")
	txtNewQuestion = locale.T("New question")
	txtSearch      = locale.T("Search")
	txtSearchLabel = locale.T("Search conversations and documents")
	txtDocuments   = locale.T("Documents")
	txtMenu        = locale.T("Menu")
	txtCloseMenu   = locale.T("Close menu")
	txtLanguage    = locale.T("Language")
	txtTheme       = locale.T("Switch theme")
	txtKeys        = locale.T("Keyboard shortcuts")
	txtClose       = locale.T("Close")
	txtReloads     = locale.T("This page reloads every 2 seconds.")
	txtHoldStill   = locale.T("Pause reloading to write")
	txtStill       = locale.T("Reloading is paused while you write.")
	txtGoOn        = locale.T("Show updates")

	txtNoSessions  = locale.T("No conversations yet")
	txtRename      = locale.T("Rename")
	txtDelete      = locale.T("Delete")
	txtTitle       = locale.T("Title")
	txtSave        = locale.T("Save")
	txtUndo        = locale.T("Undo")
	txtDeleted     = locale.T("Deleted. You can undo this for a minute.")
	txtMore        = locale.T("More")
	txtIsRunning   = locale.T("running")
	txtOffline     = locale.T("Offline mode")
	txtOfflineLong = locale.T("Offline mode: answers are word-for-word quotes from your documents, each with a " +
		"footnote.")
	txtConnected    = locale.T("Model connected")
	txtSemanticOff  = locale.T("Semantic search is off. Only keyword search is used.")
	txtConversation = locale.T("Conversation")
	txtPanel        = locale.T("Source")
	txtAsk          = locale.T("Ask about your documents")
	txtFollowUp     = locale.T("Ask a follow-up")
	txtWaits        = locale.T("Add a question to the queue")
	txtSend         = locale.T("Send")
	txtStop         = locale.T("Stop generating")
	txtFull         = locale.T("This conversation is full. A new one keeps the same options.")
	txtAskAnew      = locale.T("Ask in a new conversation")
	txtAnswerNow    = locale.T("Answer now")
	txtToSend       = locale.T("to send")
	txtNext         = locale.T("Next")
	txtEditQueued   = locale.T("Edit queued question")
	txtDropQueued   = locale.T("Remove queued question")
	txtJump         = locale.T("Jump to latest")
	txtWelcome      = locale.T("What would you like to know?")
	txtEmptyHead    = locale.T("Ask your documents. Check every word.")
	txtEmptyText    = locale.T("Watch Footnote search and read. Every claim in its answer links to the page it " +
		"came from.")
	txtKept           = locale.T("Your question is kept here. Add documents in a new tab, then send it.")
	txtDrop           = locale.T("Drop files or a folder here")
	txtChoose         = locale.T("Choose files")
	txtUpload         = locale.T("Upload")
	txtSamples        = locale.T("Try the sample documents")
	txtSamplesText    = locale.T("The Footnote handbook, ready in a few seconds. Delete it at any time.")
	txtConnect        = locale.T("Connect a model")
	txtConnectWritten = locale.T("Connect a model for written answers")
	txtConnectText    = locale.T("For written answers, use a model on this machine or enter an API key.")
	txtBySettings     = locale.T("Configure at startup")
	txtConnectSet     = locale.T("To configure a model at startup, set variables like these. Any OpenAI-compatible " +
		"server works.")
	txtConnectMore = locale.T("In a container, localhost is the container itself. Enter the host that runs the " +
		"model. Run “footnote doctor” to find model servers and check the settings.")
	txtOfflineNow   = locale.T("Offline mode")
	txtModels       = locale.T("Language model")
	txtAnswersNow   = locale.T(" is the default model.")
	txtAnswering    = locale.T("in use")
	txtModelsHere   = locale.T("On this machine")
	txtNoModelsHere = locale.T("No model servers found. Start Ollama, LM Studio, llama.cpp, vLLM, Jan or LocalAI, " +
		"then search again.")
	txtServerEmpty    = locale.T("No models available.")
	txtPort           = locale.T("port")
	txtSuggested      = locale.T("recommended")
	txtUse            = locale.T("Use model")
	txtTrying         = locale.T("Testing…")
	txtLookAgain      = locale.T("Search again")
	txtModelsAway     = locale.T("With an API key")
	txtModelsAwayText = locale.T("Questions and matching passages are sent to this provider. The API key is tested, " +
		"saved in a settings file that only you can read, and not shown again.")
	txtService      = locale.T("Service")
	txtModelName    = locale.T("Model")
	txtUsualModel   = locale.T("Default model")
	txtTryAndUse    = locale.T("Test and use")
	txtGoOffline    = locale.T("Switch to offline mode")
	txtModelKept    = locale.T("Changes apply from the next question and are saved in the settings file.")
	txtFindModel    = locale.T("Choose a model")
	txtEnvironment  = locale.T("Environment variables")
	txtCanAnswer    = locale.T("Suggested questions")
	txtCopy         = locale.T("Copy")
	txtCopyOutput   = locale.T("Copy output")
	txtRegenerate   = locale.T("Regenerate")
	txtEdit         = locale.T("Edit question")
	txtAskEdited    = locale.T("Ask again")
	txtVersions     = locale.T("Answer versions")
	txtOlder        = locale.T("Previous version")
	txtNewer        = locale.T("Next version")
	txtSources      = locale.T("Sources")
	txtAnswerNotes  = locale.T("Notes on this answer")
	txtAskNext      = locale.T("Follow-up questions")
	txtTable        = locale.T("Table")
	txtNoneAdded    = locale.T("No files added")
	txtLeave        = locale.T("Leave Footnote?")
	txtLeaveTo      = locale.T("This link opens an external site:")
	txtLeaveWhy     = locale.T("Footnote hasn't checked this site. The link comes from a model or a document.")
	txtLeaveGo      = locale.T("Open link")
	txtLeaveStay    = locale.T("Back to Footnote")
	txtTooLarge     = locale.T("This text is too large to format. It is shown as plain text.")
	txtPageUnplaced = locale.T("The model that read this page returned no word positions. The text is shown below.")
	txtPageTooLarge = locale.T("This page has too much text for an image overlay. The text is shown below.")
	txtNoPicture    = locale.T("The page image could not be loaded. Reload the page to see it, or read the text.")
	txtTooLargeCut  = locale.T("Only the beginning is shown. Export the answer for the rest.")
	txtNoSource     = locale.T("no source")
	txtNotInSource  = locale.T("not supported by source")
	txtDoubted      = locale.T("This source doesn't support a sentence that cites it.")
	txtPlacedHere   = locale.T("Added by Footnote")
	txtPlacedWhy    = locale.T("The model cited no source here. Footnote added this one because the passage " +
		"supports the sentence.")
	txtStarting    = locale.T("Starting")
	txtTheModel    = locale.T("the model")
	txtWriting     = locale.T("Writing the answer")
	txtFailedWord  = locale.T("failed")
	txtExpand      = locale.T("Expand all")
	txtInput       = locale.T("Input")
	txtOutput      = locale.T("Output")
	txtReason      = locale.T("Reason")
	txtRaw         = locale.T("Raw JSON")
	txtShowAll     = locale.T("Show all")
	txtScore       = locale.T("Score")
	txtFromMemory  = locale.T("cached")
	txtStopped     = locale.T("Stopped by you.")
	txtStays       = locale.T("The partial answer is kept.")
	txtContinue    = locale.T("Continue")
	txtRetry       = locale.T("Try again")
	txtInterrupted = locale.T("The server restarted before this answer was complete.")
	txtRefused     = locale.T("No answer found in your documents.")
	txtGuardrail   = locale.T("A guardrail blocked this question.")
	txtNotValid    = locale.T("This answer was withheld because its citations could not be verified.")
	txtRunFailed   = locale.T("This answer could not be completed.")
	txtUnsent      = locale.T("Could not send: no response from the server. Your text is kept. Try again.")
	txtGone        = locale.T("This answer is no longer on the server. The text stays visible until you leave the " +
		"page.")
	txtFellBack      = locale.T("The model failed. This answer was created in offline mode from word-for-word quotes.")
	txtLost          = locale.T("Connection lost. The run keeps going on the server.")
	txtReconnecting  = locale.T("Reconnecting")
	txtNotThere      = locale.T("Page not found")
	txtBack          = locale.T("Ask a question")
	txtNothing       = locale.T("No documents found. Try another word.")
	txtConversations = locale.T("Conversations")
	txtPassages      = locale.T("Passages")
	txtNothingYet    = locale.T("No documents or conversations yet.")
	txtAddDocuments  = locale.T("Add documents")
	txtOtherWords    = locale.T("Try fewer or different words, or ask a question.")
	txtAskThis       = locale.T("Ask “{words}”")
	txtAllFound      = locale.T("Show more results")
	txtUnsearched    = locale.T("Search failed. Check your connection and try again.")
	txtPanelFailed   = locale.T("The source could not be opened. Try again.")
	txtConfidence    = locale.T("Confidence")
	txtLikely        = locale.T("likely")
	txtUnlikely      = locale.T("uncertain")
	txtLookIn        = locale.T("Search in: ")
	txtFindDocument  = locale.T("Find a document")
	txtManage        = locale.T("Manage documents")
	txtOptions       = locale.T("Options")
	txtHow           = locale.T("Answer with: ")
	txtModel         = locale.T("Model")
	txtTools         = locale.T("Tools")
	txtEverywhere    = locale.T("All namespaces")
	txtQuotesOnly    = locale.T("quotes only")
	txtAnsweredBy    = locale.T("Answered by")
	txtBudget        = locale.T("Run usage")
	txtSteps         = locale.T("Rounds")
	txtTime          = locale.T("Time")
	txtCopied        = locale.T("Copied")
	txtAtTime        = locale.T("at {time}")
	txtTomorrow      = locale.T("tomorrow at {time}")
	txtOnDay         = locale.T("on {day} at {time}")
	txtToday         = locale.T("Today")
	txtYesterday     = locale.T("Yesterday")
	txtThisWeek      = locale.T("Previous 7 days")
	txtCollapse      = locale.T("Collapse all")
	txtZoom          = locale.T("Zoom")
	txtZoomIn        = locale.T("Zoom in")
	txtZoomOut       = locale.T("Zoom out")
	txtZoomFit       = locale.T(", fit to width")
	txtResizePanel   = locale.T("Source panel width")
	txtDropHere      = locale.T("Drop files to add documents")
	txtUploadFailed  = locale.T("Upload failed. Check your connection and try again.")
	txtNoChange      = locale.T("Cancel")
	txtConnectHow    = locale.T("Footnote finds models on this machine. Until you connect one, answers are " +
		"word-for-word quotes.")
)

// connectSettings shows how to configure a model, in a syntax that shells, containers and settings files all parse.
const connectSettings = "OPENAI_API_KEY=…\n\n# or a server of your own, here Ollama\n" +
	"OPENAI_BASE_URL=http://localhost:11434/v1\nOPENAI_MODEL=qwen3:8b"

var statusWord = map[chat.Status]locale.Text{
	chat.StatusPending: locale.T("Waiting"), chat.StatusRunning: locale.T("Running"),
	chat.StatusComplete: locale.T("Done"), chat.StatusError: txtFailed, chat.StatusCancelled: txtCancelled,
	chat.StatusSkipped: locale.T("Skipped"),
}

var statusIcon = map[chat.Status]string{
	chat.StatusPending: "pending", chat.StatusRunning: "running", chat.StatusComplete: "done",
	chat.StatusError: "error", chat.StatusCancelled: "error", chat.StatusSkipped: "skipped",
}

var checkWord = map[chat.Check]locale.Text{
	chat.CheckVerified: locale.T("Verified"), chat.CheckApproximate: locale.T("Approximate"),
	chat.CheckNotFound: locale.T("Quote not found"),
}

// stopNotes explains the reasons for an early stop.
var stopNotes = map[chat.StopReason]locale.Text{
	chat.StopAnswerNow:         locale.T("You asked for an early answer. It is based on partial results."),
	chat.StopMaxSteps:          locale.T("Round limit reached. This answer is based on partial results."),
	chat.StopMaxRetrievalCalls: locale.T("Search limit reached. This answer is based on partial results."),
	chat.StopMaxTokens:         locale.T("Token limit reached. This answer is based on partial results."),
	chat.StopUnusableCalls: locale.T("The model's tool calls were invalid. This answer is based on partial " +
		"results."),
	chat.StopTimeout: locale.T("Time limit reached. This answer is based on partial results."),
}

// maxAnswerNotes is the number of notes on an answer that the page shows. The API returns all.
const maxAnswerNotes = 20

// moreNotes returns the text for n notes that are not shown.
func moreNotes(ctx context.Context, n int) string { return furtherNotes.Count(ctx, n) }

// TurnsLost returns the notice that n turns of a conversation are missing.
func TurnsLost(ctx context.Context, n int) string { return lostTurns.Count(ctx, n) }

// removedAfter returns the text of the conversations' retention period.
func removedAfter(ctx context.Context, days int) string { return daysKept.Count(ctx, days) }

// duration returns "<1s", "2.3s", "14s", "1m 4s".
//
// It truncates instead of rounding, so that 9.99 seconds are never "10.0s".
func duration(ctx context.Context, ms int64) string {
	switch {
	case ms < 1000:
		return "<1s"
	case ms < 10_000:
		return locale.Decimal(ctx, math.Floor(float64(ms)/100)/10, 1) + "s"
	case ms < 60_000:
		return fmt.Sprintf("%ds", ms/1000)
	default:
		return fmt.Sprintf("%dm %ds", ms/60_000, ms/1000%60)
	}
}

// seconds returns "<1 s", "6.2 s", "14 s", "1 min 4 s".
func seconds(ctx context.Context, d time.Duration) string {
	switch {
	case d < time.Second:
		return "<1 s"
	case d < 10*time.Second:
		return locale.Decimal(ctx, math.Floor(d.Seconds()*10)/10, 1) + " s"
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	default:
		return fmt.Sprintf("%d min %d s", int(d.Minutes()), int(d.Seconds())%60)
	}
}

// placeAndSection joins a place and a section: "p. 4 · Roof › Condition". A place that starts with the section is
// returned alone. A heading that the place starts with is left out: "Rents, row 4 · Flat | Rent".
func placeAndSection(place, section string) string {
	if place == "" || strings.HasPrefix(place, section) {
		return firstOf(place, section)
	}
	parts := strings.Split(section, " › ")
	parts = slices.DeleteFunc(parts, func(part string) bool { return strings.HasPrefix(place, part+", ") })
	return strings.TrimSuffix(place+" · "+strings.Join(parts, " › "), " · ")
}

// sourcePlace formats a place shown beside a title. Words that the section shares with the title are left out.
func sourcePlace(title, place, section string) string {
	return placeAndSection(place, chat.SectionIn(title, section))
}

// placeText translates the first word of a place with a page number: "p. 4 · Roof", "S. 4 · Roof".
func placeText(ctx context.Context, place string) string {
	// Places are stored in English; only the word before a number is translated.
	for _, numbered := range numberedPlaces {
		word, _, _ := strings.Cut(numbered.English(), "{")
		rest, is := strings.CutPrefix(place, word)
		if n, after := leadingNumber(rest); is && n != "" {
			return numbered.Say(ctx, n) + after
		}
	}
	return place
}

// leadingNumber splits the leading digits off a text.
func leadingNumber(text string) (digits, rest string) {
	rest = strings.TrimLeft(text, "0123456789")
	return text[:len(text)-len(rest)], rest
}

// citeLabel returns a chip's label for screen readers.
func citeLabel(ctx context.Context, c chat.Citation) string {
	label := citedSource.Say(ctx, c.Number, shownName(c.Title))
	if place, paged := strings.CutPrefix(c.PlaceWords(), "p. "); paged {
		label += ", " + onPage.Say(ctx, place)
	} else if place != "" {
		label += ", " + placeText(ctx, place)
	} else if c.Section != "" {
		label += ", " + c.Section
	}
	if word := checkWord[c.Check]; c.Check != chat.CheckVerified && !word.IsZero() {
		label += " (" + strings.ToLower(word.In(ctx)) + ")"
	}
	return label
}

// coverageText describes what a run searched and read.
//
// The order of the parts is that of English; each part is translated.
func coverageText(ctx context.Context, c chat.Coverage) string {
	if c.Searched+c.Opened+c.PagesRead+len(c.EmptySearches) == 0 {
		return nothingSearched.In(ctx)
	}
	s := searchedAndOpened.Count(ctx, c.Searched, c.Opened)
	switch {
	case c.Searched == 0:
		s = openedOnly.Count(ctx, c.Opened)
	case c.Opened == 0: // a step may still have opened one for the reader
		s = searchedOnly.Count(ctx, c.Searched)
	}
	if c.PagesRead > 0 {
		s = andThen.Say(ctx, s, pagesRead.Count(ctx, c.PagesRead))
	}
	if n := len(c.EmptySearches); n > 0 {
		s = andThen.Say(ctx, s, searchesEmpty.Count(ctx, n))
	}
	return sentence.Say(ctx, s)
}

// fileKind returns the name of a file's format, from its file name or MIME type.
func fileKind(filename, mime string) string { return extract.Formats.Badge(filename, mime) }

// formatsText lists the accepted file formats and the size limit.
func formatsText(ctx context.Context, maxFile int64) string {
	return filesTaken.Say(ctx, kindsText(ctx), humanize.IBytes(uint64(maxFile)))
}

// Starter is a suggested question, generated from a document.
type Starter struct {
	Question string
	Document corpus.Document
}

// libraryText returns the library's counts, one part for each.
func libraryText(ctx context.Context, c corpus.Counts) []string {
	var parts []string
	if c.Pages > 0 {
		parts = append(parts, pages.Count(ctx, c.Pages))
	}
	if c.Working > 0 {
		parts = append(parts, stillIndexed.Count(ctx, c.Working))
	}
	return parts
}

// The counted nouns.
var (
	// These are the two English plural forms; package locale has those of other languages.
	documents     = locale.N("{n} document", "{n} documents")
	pages         = locale.N("{n} page", "{n} pages")
	passages      = locale.N("{n} passage", "{n} passages")
	conversations = locale.N("{n} conversation", "{n} conversations")
	questions     = locale.N("{n} question", "{n} questions")
	results       = locale.N("{n} result", "{n} results")
	files         = locale.N("{n} file", "{n} files")
	filesAdded    = locale.N("{n} file added, others rejected", "{n} files added, others rejected")
	moreFiles     = locale.N("{n} more file", "{n} more files")
	andMoreFiles  = locale.N("and {n} more", "and {n} more")
	characters    = locale.N("Show all ({n} character)", "Show all ({n} characters)")
	stillIndexed  = locale.N("{n} still importing, you can already ask questions", "{n} still importing, you can "+
		"already ask questions")
	failedDocuments = locale.N("{n} failed", "{n} failed")

	steps         = locale.N("{n} step", "{n} steps")
	stepsDone     = locale.N("{n} step done", "{n} steps done")
	stepsFailed   = locale.N("{n} failed", "{n} failed")
	rounds        = locale.N("{n} round", "{n} rounds")
	documentsRead = locale.N("{n} document read", "{n} documents read")
	timesOver     = locale.N("once", "{n} times")
	callsOf       = locale.N("{n} call to {tool}", "{n} calls to {tool}")
	timesCited    = locale.N("{n} cited", "{n} cited")
	timesRead     = locale.N("{n} read", "{n} read")
	notCited      = locale.N("{n} more document read but not cited", "{n} more documents read but not cited")
	rowsMore      = locale.N("{n} more.", "{n} more.")
	rowsUsed      = locale.N("Show row", "Show {n} rows")
	showAll       = locale.N("Show all {n}", "Show all {n}")
	showMore      = locale.N("Show {n} more", "Show {n} more")

	furtherNotes = locale.N("{n} more note.", "{n} more notes.")
	lostTurns    = locale.N("{n} question of this conversation is damaged and can't be shown.", "{n} questions of "+
		"this conversation are damaged and can't be shown.")
	daysKept = locale.N("Conversations are deleted {n} day after the last question.", "Conversations are deleted "+
		"{n} days after the last question.")

	searchedAndOpened = locale.N("Searched {n} document, opened {opened}", "Searched {n} documents, opened {opened}")
	searchedOnly      = locale.N("Searched {n} document", "Searched {n} documents")
	openedOnly        = locale.N("Opened {n} document", "Opened {n} documents")
	pagesRead         = locale.N("read {n} page", "read {n} pages")
	searchesEmpty     = locale.N("{n} search found nothing", "{n} searches found nothing")
	byNameOnly        = locale.N("{n} by name only", "{n} by name only")

	indexingOf  = locale.N("Indexing {done} of {n} passage", "Indexing {done} of {n} passages")
	vectorsOf   = locale.N("Semantic index: {done} of {n} passage", "Semantic index: {done} of {n} passages")
	vectorsToGo = locale.N("Semantic index: {n} passage remaining", "Semantic index: {n} passages remaining")
	minutesLeft = locale.N("about {n} minute left", "about {n} minutes left")
	hoursLeft   = locale.N("about {n} hour left", "about {n} hours left")
	minutesAgo  = locale.N("{n} min ago", "{n} min ago")

	allDocuments  = locale.N("{n} document", "All {n} documents")
	someDocuments = locale.N("{chosen} of {n} document", "{chosen} of {n} documents")
)

// The sentence templates.
var (
	andThen         = locale.T("{first}, {second}")
	sentence        = locale.T("{words}.")
	nothingSearched = locale.T("Nothing was searched.")
	citedSource     = locale.T("Source {number}: {title}")
	onPage          = locale.T("page {number}")
	filesTaken      = locale.T("{kinds}, up to {size} each. Files are stored by this server.")
	readingPage     = locale.T("Importing page {page} of {pages}")
	lookedThrough   = locale.T("Searched {all}")
	nothingHas      = locale.T("No results for “{words}”.")
	waitingFor      = locale.T("Waiting for {model}")
	stoppedAfter    = locale.T("Stopped after {time}")
	endedAfter      = locale.T("Ended after {time}")
	workedFor       = locale.T("Worked for {time}")
	roundsOf        = locale.T("{used} of {allowed} rounds")
	secondsOf       = locale.T("{used} of {allowed} s")
	tokensUsed      = locale.T("{count} tokens")
	ofLimit         = locale.T("{used} of {allowed}")
	lineNumber      = locale.T("Line {number}")
	pageOf          = locale.T("Page {page} of {pages}")
	modelGone       = locale.T("{model} is no longer available. Asking again uses {usual}.")
	confidence      = locale.T("Confidence: {words}")
	failedDoing     = locale.T("Failed: {doing}")
	inParallel      = locale.T("{what} in parallel")
	onDayWord       = locale.T("on")
	dayAndTime      = locale.T("on {day} at {time} UTC")
	addedOn         = locale.T("added {day}")
	justNow         = locale.T("just now")
	askAbout        = locale.T("About “{document}”:")
	unavailable     = locale.T("Currently unavailable")
	wentWrong       = locale.T("Something went wrong")
	didNotWork      = locale.T("Request failed")
	listAnd         = locale.T("{all} and {last}")
)

// numberedPlaces are the place prefixes that contain a page number.
var numberedPlaces = []locale.Text{locale.T("p. {number}"), locale.T("slide {number}"), locale.T("cell {number}")}

// pageNames maps a document's word for its pages to the translated texts.
var pageNames = map[string]struct {
	of      locale.Text
	counted locale.Counted
}{
	"page":  {pageOf, pages},
	"slide": {locale.T("Slide {page} of {pages}"), locale.N("{n} slide", "{n} slides")},
	"cell":  {locale.T("Cell {page} of {pages}"), locale.N("{n} cell", "{n} cells")},
}

// siteName is the product's name, which is not translated.
const siteName = "Footnote"

// kindsText lists the supported formats: "PDF, web pages and text".
//
// extract.Formats has at least two.
func kindsText(ctx context.Context) string {
	kinds := extract.Formats.KindList()
	all := locale.Message(kinds[0]).In(ctx)
	for _, kind := range kinds[1 : len(kinds)-1] {
		all = andThen.Say(ctx, all, locale.Message(kind).In(ctx))
	}
	return listAnd.Say(ctx, all, locale.Message(kinds[len(kinds)-1]).In(ctx))
}
