package chat

import "net/url"

// WebLink returns an http or https address that has a host and no password, and "" for any other. It validates links
// taken from document content. A browser would send a password in the address, and the scheme check keeps out
// scripts and files. The limit of 2,000 bytes exceeds addresses in practice.
func WebLink(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil ||
		len(address) > 2000 {
		return ""
	}
	return u.String()
}
