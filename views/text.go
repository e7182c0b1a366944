package views

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"footnote/chat"
	"footnote/corpus"
	"footnote/corpus/extract"
	"footnote/english"
)

// The page's words, in one place so that they can be translated.
const (
	txtName        = "Footnote"
	txtSkip        = "Skip to content"
	txtNewQuestion = "New question"
	txtSearch      = "Search"
	txtSearchLabel = "Search conversations and documents"
	txtDocuments   = "Documents"
	txtMenu        = "Menu"
	txtCloseMenu   = "Close menu"
	txtTheme       = "Change between light and dark"
	txtKeys        = "Keyboard shortcuts"
	txtClose       = "Close"
	txtReloads     = "This page loads again every 2 seconds."
	txtHoldStill   = "Hold it still to write"
	txtStill       = "This page stands still while you write."
	txtGoOn        = "Show what is new"

	txtNoSessions  = "Your questions will be kept here"
	txtRename      = "Rename"
	txtDelete      = "Delete"
	txtTitle       = "Title"
	txtSave        = "Save"
	txtUndo        = "Undo"
	txtDeleted     = "Deleted. It can be brought back for a minute."
	txtMore        = "More"
	txtIsRunning   = "running"
	txtOffline     = "Offline mode"
	txtOfflineLong = "Offline mode: answers are sentences taken word for word from your documents, each with its " +
		"footnote."
	txtConnected    = "Model connected"
	txtSemanticOff  = "Semantic search off: documents are searched by their words."
	txtConversation = "Conversation"
	txtPanel        = "Source"
	txtAsk          = "Ask about your documents"
	txtFollowUp     = "Ask a follow-up"
	txtWaits        = "Ask the next question, it waits its turn"
	txtSend         = "Send"
	txtStop         = "Stop generating"
	txtFull         = "This conversation is full. A new one goes on with the same choices."
	txtAskAnew      = "Ask it in a new conversation"
	txtAnswerNow    = "Answer now"
	txtToSend       = "to send"
	txtNext         = "Next"
	txtEditQueued   = "Edit the waiting question"
	txtDropQueued   = "Remove the waiting question"
	txtJump         = "Jump to latest"
	txtWelcome      = "What would you like to know?"
	txtEmptyHead    = "Ask your documents. Check every word."
	txtEmptyText    = "Footnote searches and reads in front of you, and every claim in its answer opens the page it " +
		"came from."
	txtKept           = "Your question is kept here. Add documents, which opens another tab, then send it."
	txtDrop           = "Drop files or a folder here"
	txtChoose         = "Choose files"
	txtUpload         = "Upload"
	txtSamples        = "Try with the sample documents"
	txtSamplesText    = "Footnote's own handbook, ready in a few seconds. Remove it whenever you like."
	txtConnect        = "Connect a model"
	txtConnectWritten = "Connect a model for written answers"
	txtConnectText    = "For answers in a model's own words, let Footnote find one on this machine, or give it a key."
	txtBySettings     = "By settings"
	txtConnectSet     = "Or by settings such as these, with which the server starts. Any OpenAI-compatible server " +
		"works."
	txtConnectMore = "In a container, localhost is the container: name the machine that the model runs on. The " +
		"command " +
		"doctor says which model servers it finds, and whether the settings work."
	txtOfflineNow     = "Offline mode now"
	txtModels         = "The model that answers"
	txtAnswersNow     = " answers, unless a question names another."
	txtAnswering      = "answers now"
	txtModelsHere     = "On this machine"
	txtNoModelsHere   = "None was found. Start Ollama, LM Studio, llama.cpp, vLLM, Jan or LocalAI, and look again."
	txtServerEmpty    = "It has no model yet."
	txtPort           = "port"
	txtSuggested      = "suggested"
	txtUse            = "Use it"
	txtTrying         = "Trying it …"
	txtLookAgain      = "Look again"
	txtModelsAway     = "With a key"
	txtModelsAwayText = "Questions, and the passages that answer them, then go to that service. The key is tried " +
		"first, kept in the settings file that only you can read, and not shown again."
	txtService         = "Service"
	txtModelName       = "Model"
	txtUsualModel      = "its usual one"
	txtTryAndUse       = "Try it and use it"
	txtGoOffline       = "Use no model: go offline"
	txtModelKept       = "What you choose takes effect with the next question, and stays in the settings file."
	txtFindModel       = "Find a model"
	txtEnvironment     = "Environment"
	txtCanAnswer       = "Questions your documents can answer"
	txtCopy            = "Copy"
	txtCopyOutput      = "Copy output"
	txtRegenerate      = "Regenerate"
	txtEdit            = "Edit question"
	txtAskEdited       = "Ask again"
	txtVersions        = "Versions of this answer"
	txtOlder           = "Previous version"
	txtNewer           = "Next version"
	txtSources         = "Sources"
	txtAnswerNotes     = "Notes on this answer"
	txtAskNext         = "Ask next"
	txtNotCited        = "read, not cited"
	txtTable           = "Table"
	txtNoneAdded       = "Nothing was added"
	txtSomeAdded       = "added, not all"
	txtLeave           = "Leave Footnote?"
	txtLeaveTo         = "This link leads to another site:"
	txtLeaveWhy        = "Footnote does not know that site. The address was written by a model or stands in a document."
	txtLeaveGo         = "Open this address"
	txtLeaveStay       = "Back to Footnote"
	txtFormulaTooLarge = "This formula is too large to draw. It is shown as it was written."
	txtTooLarge        = "This text is too large to draw. It is shown as it was written."
	txtPageUnplaced    = "A model read this page, and does not say where its words stand. Its text is shown below."
	txtPageTooLarge    = "This page has too many words to draw over its picture. Its text is shown below."
	txtNoPicture       = "The picture of this page did not arrive. Load it again to see it, or read its text."
	txtTooLargeCut     = "Only its beginning is shown: Export has all of it."
	txtNoSource        = "no source"
	txtNotInSource     = "not in its source"
	txtDoubted         = "A sentence that cites this is not supported by it."
	txtStarting        = "Starting"
	txtWaitingFor      = "Waiting for "
	txtTheModel        = "the model"
	txtWriting         = "Writing the answer"
	txtFailedWord      = "failed"
	txtExpand          = "Expand all"
	txtInput           = "Input"
	txtOutput          = "Output"
	txtReason          = "Reason"
	txtRaw             = "Raw JSON"
	txtShowAll         = "Show all"
	txtScore           = "Score"
	txtFromMemory      = "from memory"
	txtStopped         = "Stopped by you."
	txtStays           = "What was written stays."
	txtContinue        = "Continue"
	txtRetry           = "Try again"
	txtInterrupted     = "The server was restarted before this answer was finished."
	txtRefused         = "Your documents don't say. This is what was searched."
	txtGuardrail       = "This question was not answered because a guardrail stopped it."
	txtNotValid        = "This answer was held back because its footnotes could not be verified."
	txtRunFailed       = "This answer could not be finished."
	txtUnsent          = "That could not be sent: the server did not answer. Nothing is lost, try again."
	txtGone            = "This answer is not on the server any more. What was written stays until you leave the page."
	txtFellBack        = "The model failed, so this answer was made in offline mode: its sentences are word for word " +
		"from your documents."
	txtLost          = "Connection lost. The run keeps going on the server."
	txtReconnecting  = "Reconnecting"
	txtNotThere      = "That page isn't here"
	txtBack          = "Ask a question"
	txtNothing       = "Nothing found. Try another word."
	txtConversations = "Conversations"
	txtPassages      = "Passages"
	txtNothingYet    = "There is nothing to search yet."
	txtAddDocuments  = "Add documents"
	txtOtherWords    = "Try fewer or other words, or ask it as a question."
	txtAskThis       = "Ask “%s”"
	txtAllFound      = "Show more on a page"
	txtUnsearched    = "The search did not answer. Check the connection and try again."
	txtPanelFailed   = "The source could not be opened. Try again."
	txtConfidence    = "Confidence"
	txtLikely        = "likely to answer"
	txtUnlikely      = "may not answer"
	txtLookIn        = "Look in: "
	txtFindDocument  = "Find a document"
	txtManage        = "Manage documents"
	txtOptions       = "Options"
	txtHow           = "Answer with: "
	txtModel         = "Model"
	txtTools         = "Tools"
	txtEverywhere    = "All namespaces"
	txtQuotesOnly    = "word for word"
	txtAnsweredBy    = "Answered by"
	txtModelGone     = " is no longer offered. Asking again uses "
	txtBudget        = "What this run has used"
	txtSteps         = "Rounds"
	txtTime          = "Time"
	txtCopied        = "Copied"
	txtAtTime        = "at {time}"
	txtTomorrow      = "tomorrow at {time}"
	txtOnDay         = "on {day} at {time}"
	txtToday         = "Today"
	txtYesterday     = "Yesterday"
	txtThisWeek      = "Previous 7 days"
	txtCollapse      = "Collapse all"
	txtZoom          = "Zoom"
	txtZoomIn        = "Larger pages"
	txtZoomOut       = "Smaller pages"
	txtZoomFit       = ", back to the whole width"
	txtResizePanel   = "Width of the source panel"
	txtDropHere      = "Drop to add to your documents"
	txtUploadFailed  = "The files could not be sent. Check the connection and try again."
	txtNoChange      = "Cancel"
	txtConnectHow    = "Footnote looks for one on this machine. Until then answers are sentences taken word for " +
		"word from what was read."
)

// connectSettings shows how a model is set, in a form that shells, containers and files of settings all take.
const connectSettings = "OPENAI_API_KEY=…\n\n# or a server of your own, here Ollama\n" +
	"OPENAI_BASE_URL=http://localhost:11434/v1\nOPENAI_MODEL=qwen3:8b"

var statusWord = map[chat.Status]string{
	chat.StatusPending: "Waiting", chat.StatusRunning: "Under way", chat.StatusComplete: "Done",
	chat.StatusError: "Failed", chat.StatusCancelled: "Cancelled", chat.StatusSkipped: "Skipped",
}

var statusIcon = map[chat.Status]string{
	chat.StatusPending: "pending", chat.StatusRunning: "running", chat.StatusComplete: "done",
	chat.StatusError: "error", chat.StatusCancelled: "error", chat.StatusSkipped: "skipped",
}

var checkWord = map[chat.Check]string{
	chat.CheckVerified: "Verified", chat.CheckApproximate: "Approximate", chat.CheckNotFound: "Quote not found",
}

// stopNotes say why an answer came early.
var stopNotes = map[chat.StopReason]string{
	chat.StopAnswerNow:         "You asked for the answer early. It uses what was found until then.",
	chat.StopMaxSteps:          "The steps were used up. This answer uses what was found until then.",
	chat.StopMaxRetrievalCalls: "The searches were used up. This answer uses what was found until then.",
	chat.StopMaxTokens:         "The tokens were used up. This answer uses what was found until then.",
	chat.StopUnusableCalls:     "The model's tool calls could not be read. This answer uses what was found until then.",
	chat.StopTimeout:           "The time was used up. This answer uses what was found until then.",
}

// maxAnswerNotes is how many notes on an answer the page shows. The API has all of them.
const maxAnswerNotes = 20

// moreNotes says that so many notes are left out.
func moreNotes(n int) string {
	return english.Count(n, "further note") + " of this kind."
}

// TurnsLost says that so many turns of a conversation are missing.
func TurnsLost(n int) string {
	return english.Count(n, "turn") + " of this conversation can't be read."
}

// removedAfter tells how long conversations are kept.
func removedAfter(days int) string {
	return "A conversation is removed " + english.Count(days, "day") + " after its last question."
}

// duration returns "<1s", "2.3s", "14s", "1m 4s".
func duration(ms int64) string {
	switch {
	case ms < 1000:
		return "<1s"
	case ms < 10_000:
		return fmt.Sprintf("%.1fs", math.Floor(float64(ms)/100)/10)
	case ms < 60_000:
		return fmt.Sprintf("%ds", ms/1000)
	default:
		return fmt.Sprintf("%dm %ds", ms/60_000, ms/1000%60)
	}
}

// seconds returns "<1 s", "6.2 s", "14 s", "1 min 4 s".
func seconds(d time.Duration) string {
	switch {
	case d < time.Second:
		return "<1 s"
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", math.Floor(d.Seconds()*10)/10)
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	default:
		return fmt.Sprintf("%d min %d s", int(d.Minutes()), int(d.Seconds())%60)
	}
}

// placeAndSection returns "p. 4 · Roof › Condition". A place that begins with the section says all by itself, and one
// that begins with a heading of it stands for that: "Rents, row 4 · Flat | Rent".
func placeAndSection(place, section string) string {
	if place == "" || strings.HasPrefix(place, section) {
		return firstOf(place, section)
	}
	parts := strings.Split(section, " › ")
	parts = slices.DeleteFunc(parts, func(part string) bool { return strings.HasPrefix(place, part+", ") })
	return strings.TrimSuffix(place+" · "+strings.Join(parts, " › "), " · ")
}

// sourcePlace is a locator beside a title: a section that begins with the same words leaves them out.
func sourcePlace(title, place, section string) string {
	return placeAndSection(place, chat.SectionIn(title, section))
}

// citeLabel is what a screen reader says of a chip.
func citeLabel(c chat.Citation) string {
	label := "Source " + strconv.Itoa(c.Number) + ": " + shownName(c.Title)
	if place, paged := strings.CutPrefix(c.PlaceWords(), "p. "); paged {
		label += ", page " + place
	} else if place != "" {
		label += ", " + place
	} else if c.Section != "" {
		label += ", " + c.Section
	}
	if c.Check != chat.CheckVerified && checkWord[c.Check] != "" {
		label += " (" + strings.ToLower(checkWord[c.Check]) + ")"
	}
	return label
}

// coverageText says what a run looked at.
func coverageText(c chat.Coverage) string {
	if c.Searched+c.Opened+c.PagesRead+len(c.EmptySearches) == 0 {
		return "Nothing was searched."
	}
	s := "Searched " + english.Count(c.Searched, "document") + ", opened " + english.Digits(c.Opened)
	if c.Searched == 0 {
		s = "Opened " + english.Count(c.Opened, "document")
	}
	if c.PagesRead > 0 {
		s += ", read " + english.Count(c.PagesRead, "page")
	}
	if n := len(c.EmptySearches); n > 0 {
		s += ", " + english.Count(n, "search") + " found nothing"
	}
	return s + "."
}

// fileKind returns the word for a file's format, from its name or its MIME type.
func fileKind(filename, mime string) string { return extract.Formats.Badge(filename, mime) }

// formatsText says which files are taken.
func formatsText(maxFile int64) string {
	return extract.Formats.Kinds() + ", up to " + humanize.IBytes(uint64(maxFile)) + " each. They stay on this server."
}

// Starter is a question to begin with, made from a document.
type Starter struct {
	Question string
	Document corpus.Document
}

// libraryText says what the library holds, in parts.
func libraryText(c corpus.Counts) []string {
	var parts []string
	if c.Pages > 0 {
		parts = append(parts, english.Count(c.Pages, "page"))
	}
	if c.Working > 0 {
		parts = append(parts, english.Digits(c.Working)+" still being indexed, you can ask already")
	}
	return parts
}
