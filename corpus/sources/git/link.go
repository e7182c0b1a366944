package git

import (
	"net/url"
	"strings"
)

// links are the URL formats of known servers for a file of a commit. A server is identified by its host name or by a
// prefix of its agent. before and between separate the repository, the commit and the file.
var links = []struct{ host, agent, before, between string }{
	{host: "github", agent: "git/github-", before: "/blob/", between: "/"},
	{host: "gitlab", before: "/-/blob/", between: "/"},
	{host: "codeberg", before: "/src/commit/", between: "/"},
	{host: "gitea", before: "/src/commit/", between: "/"},
	{host: "forgejo", before: "/src/commit/", between: "/"},
	{host: "bitbucket.org", before: "/src/", between: "/"},
	{host: "git.sr.ht", before: "/tree/", between: "/item/"},
}

// linksTo returns a function that makes the web link to a file of a commit. The link is empty for an unknown server.
// Links contain the commit, so they lead to the version that was read even after later commits.
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

// isNamed reports whether a host is name, or contains it as a label. So gitlab.example.org is recognised as a GitLab
// server.
func isNamed(host, name string) bool {
	return host == name || strings.Contains("."+host+".", "."+name+".")
}
