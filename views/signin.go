package views

// Field is a field of a form.
type Field struct{ Name, Value string }

const (
	txtQuestionKept = "Your question was not sent. It will be in the question box when you have signed in."
	txtSignedOut    = "You are signed out. Your question stays here."
	txtSignIn       = "Sign in"
	txtSignInWith   = "This server answers those who have a key."
	txtKey          = "Your key"
	txtSignOut      = "Sign out"
	txtSignedIn     = "Signed in as "
)
