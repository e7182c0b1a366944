package text

import "testing"

func TestABracketInAnAddressIsNoRunningText(t *testing.T) {
	t.Parallel()
	for before, want := range map[string]bool{
		"The roof leaks ": true, "The roof leaks": true, "The roof leaks.": true, "": true, "Vitamin C": true,
		"It was built in 1904": true,
		"das Dach":             true, "(see": true, "屋根": true, "See https://x.org": true, "See https://x.org/a ": true,
		"[the survey](https://x.org/a)":      true,
		"[the survey](https://x.org/a) says": true, "**bold**": true, "_it leaks_": true, "<b>": true, "à": true,
		"See https://x.org/a": false, "https://x.org/a[1]/b": false, "www.x.org/?q=": false, "<https://x.org/a": false,
		"<urn:isbn:1":    false,
		"[the survey](a": false, "[the survey](/a(1)": false, "[the survey](<a b": false,
		`[the survey](a "title`: false, "![roof](x": false,
		`It says \`: false, `C:\\`: true,
		"set a": false, "x=a": false, "max_size": false,
	} {
		if got := IsRunning(before); got != want {
			t.Errorf("IsRunning(%q) = %v, want %v", before, got, want)
		}
	}
}
