package chat

// NoSuch returns the error for an object that is missing or another user's: "session", "run", "step", "document",
// "waiting question" or "session or run". Each has a complete sentence instead of a template, since the page
// translates sentences and other languages inflect the noun.
func NoSuch(thing string) *Error {
	e := &Error{Code: CodeNotFound}
	switch thing {
	case "session":
		e.Message = "There is no such session. It may have been deleted."
	case "run":
		e.Message = "There is no such run. It may have been deleted."
	case "step":
		e.Message = "There is no such step. It may have been deleted."
	case "document":
		e.Message = "There is no such document. It may have been deleted."
	case "waiting question":
		e.Message = "There is no such waiting question. It may have been deleted."
	case "session or run":
		e.Message = "There is no such session or run. It may have been deleted."
	default:
		e.Message = "There is nothing of that name. It may have been deleted."
	}
	return e
}
