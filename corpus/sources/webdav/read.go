package webdav

import (
	"encoding/xml"
	"errors"
	"io"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/html/charset"

	"github.com/footnote/footnote/corpus/sources"
	"github.com/footnote/footnote/corpus/sources/request"
)

// entry is what a server says of a folder or a file. Its path is below the address that was asked for.
type entry struct {
	at     *url.URL
	folder bool
	status int // that the server answers in the place of properties, 400 and above; 0: none
	etag   string
	size   int64  // -1: not said
	id     string // Nextcloud's; digits
}

// response is an entry as it is sent.
type response struct {
	Href   string `xml:"DAV: href"`
	Status string `xml:"DAV: status"` // in the place of properties
	Stats  []struct {
		Status string `xml:"DAV: status"`
		Prop   struct {
			Type struct {
				Collection *struct{} `xml:"DAV: collection"`
			} `xml:"DAV: resourcetype"`
			ETag   string `xml:"DAV: getetag"`
			Length string `xml:"DAV: getcontentlength"`
			ID     string `xml:"http://owncloud.org/ns fileid"`
		} `xml:"DAV: prop"`
	} `xml:"DAV: propstat"`
}

// read reads the answer to a PROPFIND at an address, and calls do for each entry as it comes. Entries at other servers
// are left out. An answer that breaks off is an error: what is not in it might be there. Each response is decoded and
// bounded by itself, so memory does not depend on their number.
//
// WebDAV's answer (207 Multi-Status) has a response for each entry, the folder itself among them.
func read(r io.Reader, address *url.URL, do func(entry) error) error {
	parts := request.NewParts(r, request.MaxPart)
	d := xml.NewDecoder(parts)
	d.CharsetReader = charset.NewReaderLabel
	begun := false
	for n := 0; n <= maxEntries; {
		token, err := d.Token()
		switch {
		case errors.Is(err, io.EOF) && begun:
			return nil
		case err != nil:
			return err
		}
		element, ok := token.(xml.StartElement)
		switch {
		case !ok:
			continue
		case !begun:
			if begun = element.Name == (xml.Name{Space: "DAV:", Local: "multistatus"}); !begun {
				return errors.New("the root is not DAV's multistatus")
			}
			continue
		case element.Name == xml.Name{Space: "DAV:", Local: "response"}:
			var sent response
			if err := d.DecodeElement(&sent, &element); err != nil {
				return err
			}
			if e, ok := sent.entry(address); ok {
				if err := do(e); err != nil {
					return err
				}
			}
		default:
			if err := d.Skip(); err != nil {
				return err
			}
		}
		n++
		parts.Next()
	}
	return sources.ErrTooLarge
}

// entry is what is understood of a response. Properties that a server does not have come in a propstat of their own
// with 404, which is passed over. Only addresses at the same host count. An entry without a usable address is passed
// over: ok is false.
//
// Sizes and tags are only hints: a tag that is too long is left out, and a size that is no number is unknown, −1. A
// number of a file, as ownCloud and Nextcloud give one, stays when the file is moved.
func (r response) entry(address *url.URL) (entry, bool) {
	at, err := address.Parse(strings.TrimSpace(r.Href))
	if err != nil || r.Href == "" || at.Host != address.Host || at.User != nil {
		return entry{}, false
	}
	// Only the path is believed of what the server says.
	at = &url.URL{Scheme: address.Scheme, Host: address.Host, Path: at.Path, RawPath: at.RawPath}
	e := entry{at: at, size: -1, status: refusal(r.Status)}
	for _, stat := range r.Stats {
		if stat.Status != "" && !strings.Contains(stat.Status, " 200") {
			continue
		}
		p := stat.Prop
		e.folder = e.folder || p.Type.Collection != nil
		if tag := strings.TrimSpace(p.ETag); tag != "" && len(tag) <= 300 {
			e.etag = strings.ToValidUTF8(tag, "\ufffd")
		}
		if n, err := strconv.ParseInt(strings.TrimSpace(p.Length), 10, 64); err == nil && n >= 0 {
			e.size = n
		}
		if id := strings.TrimSpace(p.ID); len(id) < 20 && id != "" && strings.Trim(id, "0123456789") == "" {
			e.id = id
		}
	}
	return e, true
}

// refusal is the status of a status line that refuses something; 0: it does not. 2xx is no refusal.
func refusal(line string) int {
	fields := strings.Fields(line) // HTTP/1.1 403 Forbidden
	if len(fields) < 2 {
		return 0
	}
	if status, err := strconv.Atoi(fields[1]); err == nil && status >= 400 && status < 600 {
		return status
	}
	return 0
}
