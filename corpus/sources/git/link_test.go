package git

import (
	"net/url"
	"testing"
)

func TestLinksLeadToTheFileAtItsCommit(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ root, agent, base string }{
		{"https://github.com/ada/book.git", "", "https://github.com/ada/book/blob/abc/"},
		{"https://code.example.org/ada/book", "git/github-5e1f", "https://code.example.org/ada/book/blob/abc/"},
		{"https://gitlab.com/a/b/book.git", "", "https://gitlab.com/a/b/book/-/blob/abc/"},
		{"https://gitlab.example.org:8443/a/book", "", "https://gitlab.example.org:8443/a/book/-/blob/abc/"},
		{"https://codeberg.org/ada/book.git", "", "https://codeberg.org/ada/book/src/commit/abc/"},
		{"https://gitea.example.org/git/ada/book.git", "", "https://gitea.example.org/git/ada/book/src/commit/abc/"},
		{"https://bitbucket.org/ada/book.git", "", "https://bitbucket.org/ada/book/src/abc/"},
		{"https://git.sr.ht/~ada/book", "", "https://git.sr.ht/~ada/book/tree/abc/item/"},
		{"https://git.example.org/book.git", "git/2.40", ""},
		{"https://notgithub.example.org/book.git", "", ""},
	} {
		want := test.base
		if want != "" {
			want += "in/a%20b%25.md"
		}
		root, err := url.Parse(test.root)
		if err != nil {
			t.Fatal(err)
		}
		if got := linksTo(&server{root: root, agent: test.agent}, "abc")("in/a b%25.md"); got != want {
			t.Errorf("%s: %q, want %q", test.root, got, want)
		}
	}
}
