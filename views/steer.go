package views

import (
	"context"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text/locale"
)

// The words of steering, judging and exporting.
var (
	txtGood       = locale.T("Good answer")
	txtPoor       = locale.T("Poor answer")
	txtWithdraw   = locale.T("Withdraw")
	txtWhy        = locale.T("Say why")
	txtComment    = locale.T("What was right or wrong? (optional)")
	txtExport     = locale.T("Export")
	txtExportAll  = locale.T("Export the conversation")
	txtQueue      = locale.T("Waiting questions")
	txtQueueIt    = locale.T("Let this question wait its turn")
	txtSendNow    = locale.T("Send now")
	txtSendNowHow = locale.T("Stop what is under way and send this")
	txtRerun      = locale.T("Edit & run again from here")
	txtRerunInput = locale.T("Input as JSON")
	txtRerunGo    = locale.T("Run again from here")
	txtRerunHow   = locale.T("Makes a new version of the answer. The steps before this one are kept as they are.")
)

var reasonWord = map[string]locale.Text{
	"accurate": locale.T("Accurate"), "complete": locale.T("Complete"), "well_sourced": locale.T("Well sourced"),
	"clear": locale.T("Clear"), "wrong": locale.T("Wrong"), "incomplete": locale.T("Incomplete"),
	"wrong_sources": locale.T("Wrong sources"), "off_topic": locale.T("Not what I asked"),
	"unclear": locale.T("Unclear"),
}

// exportFormats are the files that an answer can be had as.
var exportFormats = []struct {
	Name  string
	Label locale.Text
}{
	{"docx", locale.T("Word document")}, {"html", locale.T("Web page")}, {"md", locale.T("Markdown")},
	{
		"bib",
		locale.T("Sources as BibTeX"),
	}, {"csl", locale.T("Sources as CSL-JSON")}, {"ris", locale.T("Sources as RIS")},
	{"json", locale.T("JSON")},
}

// feedbackURL is where a rating is sent.
func feedbackURL(run string) templ.SafeURL { return templ.URL("/agent/runs/" + run + "/feedback") }

// exportURL is where an answer is downloaded in a format.
func exportURL(run, format string) templ.SafeURL {
	return templ.URL("/agent/runs/" + run + "/export?format=" + format)
}

// sessionExportURL is where a conversation is downloaded in a format.
func sessionExportURL(session, format string) templ.SafeURL {
	return templ.URL("/agent/session/" + session + "/export?format=" + format)
}

// queueURL is where a waiting question is changed, sent or removed.
func queueURL(session, item, what string) templ.SafeURL {
	return templ.URL("/c/" + session + "/queue/" + item + "/" + what)
}

// rerunURL is where a call is sent with another input.
func rerunURL(s *Step) templ.SafeURL {
	return templ.URL("/agent/runs/" + s.RunID + "/steps/" + s.CallID + "/rerun")
}

// judgedText is what a reader said, in a line.
//
// A comment is cut at 60 characters, which is a choice: it stands in a line.
func judgedText(ctx context.Context, f *chat.Feedback) string {
	var parts []string
	if f.Reason != "" {
		parts = append(parts, reasonWord[f.Reason].In(ctx))
	}
	if f.Comment != "" {
		words := []rune(strings.Join(strings.Fields(f.Comment), " "))
		if len(words) > 60 {
			words = append(words[:59], '…')
		}
		parts = append(parts, "“"+string(words)+"”")
	}
	return strings.Join(parts, " · ")
}

// editable reports whether the step is a tool call that could be made again with another input. The server has the
// last word.
func (s *Step) editable() bool {
	return s.ToolName != "" && s.Capability != chat.CapabilityAnswer && !s.Grouping && !s.Repeat &&
		len(s.ToolInput) > 0 &&
		s.CallID != ""
}

// inputText is a call's arguments as they are edited.
//
// JSON that is too long to be set out is edited as it was sent.
func (s *Step) inputText() string {
	if text, ok := indented(s.ToolInput); ok {
		return text
	}
	return string(s.ToolInput)
}

// inputRows is how high the box for them is: 3 to 12 lines.
func (s *Step) inputRows() string {
	return strconv.Itoa(min(12, max(3, strings.Count(s.inputText(), "\n")+1)))
}
