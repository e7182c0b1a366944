package views

const (
	txtSignIn     = "Sign in"
	txtSignInWith = "This server answers those who have a key."
	txtKey        = "Your key"
	txtSignOut    = "Sign out"
	txtSignedIn   = "Signed in as "
)
