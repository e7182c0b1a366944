package git

import (
	"net/url"
	"strings"
)

// links are how servers show a file of a commit: what their names or what they call themselves begins with or holds,
// and what stands between the repository, the commit and the file. The ways to a file are those that the servers use in
// their own pages.
var links = []struct{ host, agent, before, between string }{
	{host: "github", agent: "git/github-", before: "/blob/", between: "/"},
	{host: "gitlab", before: "/-/blob/", between: "/"},
	{host: "codeberg", before: "/src/commit/", between: "/"},
	{host: "gitea", before: "/src/commit/", between: "/"},
	{host: "forgejo", before: "/src/commit/", between: "/"},
	{host: "bitbucket.org", before: "/src/", between: "/"},
	{host: "git.sr.ht", before: "/tree/", between: "/item/"},
}

// linksTo returns what makes the address at which people open a file of a commit; it makes none for a server that is
// not known. Links name the commit, so they lead to what was read even when the branch goes on.
func linksTo(s *server, commit string) func(way string) string {
	host := strings.ToLower(s.root.Hostname())
	for _, l := range links {
		if !isNamed(host, l.host) && (l.agent == "" || !strings.HasPrefix(s.agent, l.agent)) {
			continue
		}
		base := s.root.Scheme + "://" + s.root.Host + strings.TrimSuffix(s.root.EscapedPath(), ".git")
		return func(way string) string {
			names := strings.Split(way, "/")
			for i, name := range names {
				if plain, err := url.PathUnescape(name); err == nil {
					names[i] = url.PathEscape(plain)
				}
			}
			return base + l.before + commit + l.between + strings.Join(names, "/")
		}
	}
	return func(string) string { return "" }
}

// isNamed reports whether a host has a name, or one of the words between its dots is that. So gitlab.example.org is
// known as a GitLab by its name.
func isNamed(host, name string) bool {
	return host == name || strings.Contains("."+host+".", "."+name+".")
}
