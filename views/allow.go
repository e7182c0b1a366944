package views

import (
	"time"

	"github.com/footnote/footnote/text/locale"
)

// AllowPage is the OAuth consent page: it asks whether a program may use the documents.
//
// Kept holds the request's fields, which the form sends back unchanged. They are validated again then.
type AllowPage struct {
	Assets Assets
	Name   string // the program's own name, unverified
	Goes   string // the redirect target of the browser
	User   string
	Kept   []Field
}

// Connection is a program that has access to the documents.
type Connection struct {
	ID    string
	Name  string
	Since time.Time
}

var (
	txtAllowTitle = locale.T("Connect an app")
	txtAllowAsks  = locale.T("{name} wants to access your documents.")
	txtUnnamed    = locale.T("An unnamed app")
	txtAllowMay   = locale.T(
		"It can search and read your documents and ask questions as {user} until you disconnect it. It can't add or " +
			"delete documents.",
	)
	txtAllowGoes     = locale.T("You will be redirected to {address}. Allow access only if you started this there.")
	txtAllow         = locale.T("Allow")
	txtRefuse        = locale.T("Deny")
	txtConnections   = locale.T("Connected apps")
	txtNoConnections = locale.T("No connected apps.")
	txtEndConnection = locale.T("End connection with {name}")
	txtEnd           = locale.T("End")
)

// programName returns a program's display name in quotation marks, since the program chose the name itself.
func programName(name, unnamed string) string {
	if name == "" {
		return unnamed
	}
	return "“" + name + "”"
}
