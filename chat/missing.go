package chat

// NoSuch returns the error for an object that is missing or another user's: "session", "run", "step", "document",
// "waiting question" or "session or run". Each has a complete sentence instead of a template, since the page
// translates sentences and other languages inflect the noun.
func NoSuch(thing string) *Error {
	e := &Error{Code: CodeNotFound}
	switch thing {
	case "session":
		e.Message = "Session not found. It may have been deleted."
	case "run":
		e.Message = "Run not found. It may have been deleted."
	case "step":
		e.Message = "Step not found. It may have been deleted."
	case "document":
		e.Message = "Document not found. It may have been deleted."
	case "waiting question":
		e.Message = "Queued question not found. It may have been deleted."
	case "session or run":
		e.Message = "Session or run not found. It may have been deleted."
	default:
		e.Message = "Not found. It may have been deleted."
	}
	return e
}
