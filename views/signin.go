package views

const (
	txtSignIn     = "Sign in"
	txtSignInWith = "This server answers those who have a key."
	txtKey        = "Your key"
)
