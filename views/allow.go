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
	txtAllowTitle = locale.T("Connect a program")
	txtAllowAsks  = locale.T("{name} asks to use your documents.")
	txtUnnamed    = locale.T("A program without a name")
	txtAllowMay   = locale.T(
		"It may search and read your documents and ask questions as {user}, until you end it. It can't add or " +
			"delete documents.",
	)
	txtAllowGoes     = locale.T("The answer goes to {address}. Allow it only if you have just begun this there.")
	txtAllow         = locale.T("Allow")
	txtRefuse        = locale.T("Refuse")
	txtConnections   = locale.T("Connected programs")
	txtNoConnections = locale.T("No program is connected.")
	txtEndConnection = locale.T("End the connection of {name}")
	txtEnd           = locale.T("End")
)

// programName returns a program's display name in quotation marks, since the program chose the name itself.
func programName(name, unnamed string) string {
	if name == "" {
		return unnamed
	}
	return "“" + name + "”"
}
