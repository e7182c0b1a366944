package views

import (
	"context"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text/locale"
)

// The text of steering, feedback and exports.
var (
	txtGood       = locale.T("Good answer")
	txtPoor       = locale.T("Poor answer")
	txtWithdraw   = locale.T("Remove rating")
	txtWhy        = locale.T("Add reason")
	txtComment    = locale.T("What was right or wrong? (optional)")
	txtExport     = locale.T("Export")
	txtExportAll  = locale.T("Export conversation")
	txtQueue      = locale.T("Queued questions")
	txtQueueIt    = locale.T("Add to queue")
	txtSendNow    = locale.T("Send now")
	txtSendNowHow = locale.T("Stop the current run and send this")
	txtRerun      = locale.T("Edit and rerun from here")
	txtRerunInput = locale.T("Tool input (JSON)")
	txtRerunGo    = locale.T("Rerun from here")
	txtRerunHow   = locale.T("Creates a new version of the answer. Earlier steps are kept.")
)

var reasonWord = map[string]locale.Text{
	"accurate": locale.T("Accurate"), "complete": locale.T("Complete"), "well_sourced": locale.T("Well sourced"),
	"clear": locale.T("Clear"), "wrong": locale.T("Incorrect"), "incomplete": locale.T("Incomplete"),
	"wrong_sources": locale.T("Wrong sources"), "off_topic": locale.T("Not what I asked"),
	"unclear": locale.T("Unclear"),
}

// exportFormats are the file formats of an exported answer.
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

// feedbackURL returns the URL that a rating is sent to.
func feedbackURL(run string) templ.SafeURL { return templ.URL("/agent/runs/" + run + "/feedback") }

// exportURL returns the download URL of an answer in a format.
func exportURL(run, format string) templ.SafeURL {
	return templ.URL("/agent/runs/" + run + "/export?format=" + format)
}

// sessionExportURL returns the download URL of a conversation in a format.
func sessionExportURL(session, format string) templ.SafeURL {
	return templ.URL("/agent/session/" + session + "/export?format=" + format)
}

// byMethod returns the URL of a form that sends another method than POST: the server takes it from the query.
func byMethod(method, path string) templ.SafeURL {
	mark := "?"
	if strings.Contains(path, "?") {
		mark = "&"
	}
	return templ.URL(path + mark + "_method=" + method)
}

// queuedURL returns the URL of a queued question.
func queuedURL(session, item string) string { return "/sessions/" + session + "/queue/" + item }

// rerunURL returns the URL that reruns a tool call with another input.
func rerunURL(s *Step) templ.SafeURL {
	return templ.URL("/agent/runs/" + s.RunID + "/steps/" + s.CallID + "/rerun")
}

// judgedText returns a reader's feedback as one line.
//
// A comment is cut at 60 characters to fit the line.
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

// editable reports whether the step is a tool call that can be rerun with another input. The server validates the
// request again.
func (s *Step) editable() bool {
	return s.ToolName != "" && s.Capability != chat.CapabilityAnswer && !s.Grouping && !s.Repeat &&
		len(s.ToolInput) > 0 &&
		s.CallID != ""
}

// inputText returns a call's arguments for editing.
//
// JSON that is too long to be indented is returned as it was sent.
func (s *Step) inputText() string {
	if text, ok := indented(s.ToolInput); ok {
		return text
	}
	return string(s.ToolInput)
}

// inputRows returns the height of the text area for them: 3 to 12 lines.
func (s *Step) inputRows() string {
	return strconv.Itoa(min(12, max(3, strings.Count(s.inputText(), "\n")+1)))
}
