package views

import (
	"time"

	"github.com/footnote/footnote/text/locale"
)

// AllowPage asks whether a program may use the documents.
//
// Kept are the fields of the request, which the form sends back as they came: they are checked once more then.
type AllowPage struct {
	Assets Assets
	Name   string // as the program calls itself, which nobody checked
	Goes   string // where the browser goes with the answer
	User   string
	Kept   []Field
}

// Connection is a program that may use the documents.
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

// programName is what a program is called.
// The name is in quotation marks, since the program chose it.
func programName(name, unnamed string) string {
	if name == "" {
		return unnamed
	}
	return "“" + name + "”"
}
