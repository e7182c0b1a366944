package chat

import "testing"

func TestWebLink(t *testing.T) {
	for address, want := range map[string]string{
		"https://example.org/book#c1": "https://example.org/book#c1",
		"http://example.org":          "http://example.org",
		"javascript:alert(1)":         "",
		"data:text/html,x":            "",
		"//example.org/x":             "",
		"/d/1":                        "",
		"https://":                    "",
		"https://a:b@example.org/":    "",
		"":                            "",
	} {
		if got := WebLink(address); got != want {
			t.Errorf("WebLink(%q) = %q, want %q", address, got, want)
		}
	}
}
