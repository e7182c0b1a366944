package views

import (
	"net/url"
	"slices"

	"github.com/a-h/templ"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text/locale"
)

// The words of approvals.
var (
	txtAsks          = locale.T("Waiting for your approval")
	txtNeedsApproval = locale.T("Waits for your approval.")
	txtApprovalWhy   = locale.T("This tool reaches outside. Look at what it is given.")
	txtApprovalOf    = locale.T("Approve or deny ")
	txtEditInput     = locale.T("Edit input")
	txtApprove       = locale.T("Approve")
	txtDeny          = locale.T("Deny")
)

// needsApproval reports whether the step is a call that needsApproval for the reader's word, or holds one.
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

// NeedsApproval reports whether a call of the turn waits for the reader's word.
func (t *Turn) NeedsApproval() bool {
	return t.Running() && slices.ContainsFunc(t.Steps, (*Step).needsApproval)
}

// holdsApproval reports whether the step itself waits.
//
// Only a call can wait: a phase that is pending has not begun.
func (s *Step) holdsApproval() bool { return s.Status == chat.StatusPending && s.ToolName != "" }

// decide is where a decision is sent.
//
// how is approve or deny, the end of an address of the API.
func (s *Step) decide(how string) templ.SafeURL {
	return templ.URL("/agent/runs/" + s.RunID + "/steps/" + url.PathEscape(s.CallID) + "/" + how)
}
