package views

import (
	"context"

	"github.com/footnote/footnote/corpus/extract"
	"github.com/footnote/footnote/text/locale"
)

// What the page counts.
var (
	// The two forms are those of English; package locale has the ones of other languages.
	documents     = locale.N("{n} document", "{n} documents")
	pages         = locale.N("{n} page", "{n} pages")
	passages      = locale.N("{n} passage", "{n} passages")
	conversations = locale.N("{n} conversation", "{n} conversations")
	questions     = locale.N("{n} question", "{n} questions")
	results       = locale.N("{n} result", "{n} results")
	files         = locale.N("{n} file", "{n} files")
	filesAdded    = locale.N("{n} file added, not all", "{n} files added, not all")
	moreFiles     = locale.N("{n} more file", "{n} more files")
	andMoreFiles  = locale.N("and {n} more", "and {n} more")
	characters    = locale.N("Show all ({n} character)", "Show all ({n} characters)")
	stillIndexed  = locale.N("{n} still being indexed, you can ask already", "{n} still being indexed, you can ask "+
		"already")
	failedDocuments = locale.N("{n} failed", "{n} failed")

	steps         = locale.N("{n} step", "{n} steps")
	stepsDone     = locale.N("{n} step done", "{n} steps done")
	stepsFailed   = locale.N("{n} failed", "{n} failed")
	rounds        = locale.N("{n} round", "{n} rounds")
	documentsRead = locale.N("{n} document read", "{n} documents read")
	timesOver     = locale.N("once", "{n} times")
	callsOf       = locale.N("{n} call of {tool}", "{n} calls of {tool}")
	timesCited    = locale.N("{n} cited", "{n} cited")
	timesRead     = locale.N("{n} read", "{n} read")
	notCited      = locale.N("{n} more document read, not cited", "{n} more documents read, not cited")
	rowsMore      = locale.N("{n} more.", "{n} more.")
	rowsUsed      = locale.N("Which row", "Which {n} rows")
	showAll       = locale.N("Show all {n}", "Show all {n}")
	showMore      = locale.N("Show {n} more", "Show {n} more")

	furtherNotes = locale.N("{n} further note of this kind.", "{n} further notes of this kind.")
	lostTurns    = locale.N("{n} turn of this conversation can't be read.", "{n} turns of this conversation can't be "+
		"read.")
	daysKept = locale.N("A conversation is removed {n} day after its last question.", "A conversation is removed {n} "+
		"days after its last question.")

	searchedAndOpened = locale.N("Searched {n} document, opened {opened}", "Searched {n} documents, opened {opened}")
	searchedOnly      = locale.N("Searched {n} document", "Searched {n} documents")
	openedOnly        = locale.N("Opened {n} document", "Opened {n} documents")
	pagesRead         = locale.N("read {n} page", "read {n} pages")
	searchesEmpty     = locale.N("{n} search found nothing", "{n} searches found nothing")
	byNameOnly        = locale.N("{n} by name only", "{n} by name only")

	indexingOf  = locale.N("Indexing {done} of {n} passage", "Indexing {done} of {n} passages")
	vectorsOf   = locale.N("Semantic index: {done} of {n} passage", "Semantic index: {done} of {n} passages")
	vectorsToGo = locale.N("Semantic index: {n} passage to go", "Semantic index: {n} passages to go")
	minutesLeft = locale.N("about {n} minute left", "about {n} minutes left")
	hoursLeft   = locale.N("about {n} hour left", "about {n} hours left")
	minutesAgo  = locale.N("{n} min ago", "{n} min ago")

	allDocuments  = locale.N("The one document", "All {n} documents")
	someDocuments = locale.N("{chosen} of {n} document", "{chosen} of {n} documents")
)

// What the page puts together.
var (
	andThen         = locale.T("{first}, {second}")
	sentence        = locale.T("{words}.")
	nothingSearched = locale.T("Nothing was searched.")
	citedSource     = locale.T("Source {number}: {title}")
	onPage          = locale.T("page {number}")
	filesTaken      = locale.T("{kinds}, up to {size} each. They stay on this server.")
	readingPage     = locale.T("Reading page {page} of {pages}")
	lookedThrough   = locale.T("Looked through {all}")
	nothingHas      = locale.T("Nothing has “{words}”.")
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
	modelGone       = locale.T("{model} is no longer offered. Asking again uses {usual}.")
	confidence      = locale.T("Confidence: {words}")
	failedDoing     = locale.T("Failed: {doing}")
	inParallel      = locale.T("{what} in parallel")
	onDayWord       = locale.T("on")
	dayAndTime      = locale.T("on {day} at {time} UTC")
	addedOn         = locale.T("added {day}")
	justNow         = locale.T("now")
	askAbout        = locale.T("About “{document}”:")
	unavailable     = locale.T("Not available now")
	wentWrong       = locale.T("Something went wrong")
	didNotWork      = locale.T("That didn't work")
	listAnd         = locale.T("{all} and {last}")
)

// numberedPlaces are the words that a place begins with which counts pages.
var numberedPlaces = []locale.Text{locale.T("p. {number}"), locale.T("slide {number}"), locale.T("cell {number}")}

// pageNames are what a page is called, by the word that documents have for it.
var pageNames = map[string]struct {
	of      locale.Text
	counted locale.Counted
}{
	"page":  {pageOf, pages},
	"slide": {locale.T("Slide {page} of {pages}"), locale.N("{n} slide", "{n} slides")},
	"cell":  {locale.T("Cell {page} of {pages}"), locale.N("{n} cell", "{n} cells")},
}

// siteName is the product's name, the same in every language.
const siteName = "Footnote"

// kindsText lists the kinds of files that can be added: "PDF, web pages and text".
//
// There are at least two kinds, as extract.Formats has them.
func kindsText(ctx context.Context) string {
	kinds := extract.Formats.KindList()
	all := locale.Known(ctx, kinds[0])
	for _, kind := range kinds[1 : len(kinds)-1] {
		all = andThen.Say(ctx, all, locale.Known(ctx, kind))
	}
	return listAnd.Say(ctx, all, locale.Known(ctx, kinds[len(kinds)-1]))
}
