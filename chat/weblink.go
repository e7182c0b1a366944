package chat

import "net/url"

// WebLink returns an address if it is one of http or https with a host and without a password, and nothing for any
// other: what a document says of itself is drawn as a link only then. A password in an address would be sent by whoever
// follows it, and the schemes keep scripts and files out. 2,000 bytes are more than addresses that people use have.
func WebLink(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil ||
		len(address) > 2000 {
		return ""
	}
	return u.String()
}
