package grants

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text/host"
	"github.com/footnote/footnote/text/lazy"
)

// Client is a program that registered itself. It has no secret: any program can register under the same name.
type Client struct {
	ID        string   `json:"-"`
	Name      string   `json:"name"`
	Redirects []string `json:"redirects"`
}

const (
	maxRedirects = 10
	maxRedirect  = 2000 // bytes of an address
	maxName      = 100  // runes of a name
)

// Register stores a client and assigns it an id. Registration is open (RFC 7591): see docs/decisions/access.md. The
// id is random. The client's name is shown to the user as its own, unverified words.
func (iss *Issuer) Register(ctx context.Context, c Client) (Client, error) {
	if len(c.Redirects) == 0 || len(c.Redirects) > maxRedirects {
		return c, &Error{"invalid_redirect_uri", "redirect_uris must have 1 to 10 entries."}
	}
	for _, address := range c.Redirects {
		if _, err := readRedirect(address); err != nil {
			return c, err
		}
	}
	c.Name = cleanName(c.Name)
	c.ID, _ = secret("fnc_")
	return c, iss.put(
		ctx, Record{Kind: KindClient, ID: c.ID, Expires: iss.now().Add(clientLife)}, c, mostClients,
	)
}

// cleanName returns a name for display on one line.
func cleanName(name string) string {
	name = strings.Join(strings.FieldsFunc(name, func(r rune) bool {
		return unicode.IsSpace(r) || !unicode.IsPrint(r)
	}), " ")
	if runes := []rune(name); len(runes) > maxName {
		name = string(runes[:maxName]) + "…"
	}
	return name
}

// readRedirect validates a redirect address: https, or http on this machine. Characters that could end an attribute
// or a header are refused, although a URL may contain some of them: the address is part of a Content-Security-Policy
// and of a Location header.
func readRedirect(address string) (*url.URL, error) {
	bad := &Error{
		"invalid_redirect_uri", "A redirect_uri must be an https URL, or an http URL of this machine, without a " +
			"fragment.",
	}
	u, err := url.Parse(address)
	if err != nil || len(address) > maxRedirect || u.Host == "" || u.User != nil ||
		strings.ContainsAny(address, "#*") ||
		strings.ContainsFunc(
			address,
			func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune("\\\"';,", r) },
		) {
		return nil, bad
	}
	port, err := strconv.Atoi(cmp.Or(u.Port(), "443"))
	if err != nil || port < 1 || port > 65535 || strings.HasSuffix(u.Host, ":") || !isHost(u.Hostname()) {
		return nil, bad
	}
	if u.Scheme == "https" || u.Scheme == "http" && host.IsHere(u.Hostname()) {
		return u, nil
	}
	return nil, bad
}

// hostForm matches a DNS name in ASCII (RFC 1123): labels of letters, digits and hyphens.
var hostForm = lazy.Regexp(
	`^([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)*[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?$`)

// isHost reports whether a text is an IP address without a zone, or a name whose last label is no number: browsers
// parse such a name as an IPv4 address.
func isHost(host string) bool {
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.Zone() == ""
	}
	last := strings.ToLower(host[strings.LastIndexByte(host, '.')+1:])
	return len(host) <= 253 && hostForm().MatchString(host) && strings.Trim(last, "0123456789") != "" &&
		!strings.HasPrefix(last, "0x")
}

// Client returns a registered client that has not expired. A client with a grant expires a year after its
// registration, any other after a day.
func (iss *Issuer) Client(ctx context.Context, id string) (c Client, err error) {
	unknown := &chat.Error{
		Code: chat.CodeInvalid, Message: "This program is not known here, or no longer. Connect from it again.",
	}
	r, err := iss.Store.Get(ctx, KindClient, id)
	if err != nil {
		if chat.CodeOf(err) == chat.CodeNotFound {
			err = unknown
		}
		return c, err
	}
	expires := r.Expires
	if r.Used {
		expires = r.Made.Add(usedLife)
	}
	if !iss.now().Before(expires) {
		return c, unknown
	}
	if err := json.Unmarshal(r.Body, &c); err != nil {
		return c, fmt.Errorf("read a client: %w", err)
	}
	c.ID = r.ID
	return c, nil
}

// allowsRedirect reports whether a client registered an address: exactly, or on this machine with any port. The port on
// loopback may vary (RFC 8252, section 7.3), since a program listens on a free one.
func (c Client) allowsRedirect(address string) bool {
	to, err := readRedirect(address)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(c.Redirects, func(known string) bool {
		if known == address {
			return true
		}
		u, err := readRedirect(known)
		if err != nil || u.Scheme != "http" || to.Scheme != "http" {
			return false
		}
		u.Host, to.Host = u.Hostname(), to.Hostname()
		return u.String() == to.String()
	})
}
