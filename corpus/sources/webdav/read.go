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

// entry is a folder or a file in a PROPFIND response. Its path is below the requested address.
type entry struct {
	at     *url.URL
	folder bool
	status int // the entry's own error status, 400 and above; 0: none
	etag   string
	size   int64
	id     string // Nextcloud's file ID; digits
}

// response is an encoded entry.
type response struct {
	Href   string `xml:"DAV: href"`
	Status string `xml:"DAV: status"` // in place of properties
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

// read parses the response to a PROPFIND and calls do for each entry. Entries on other servers are skipped. A
// response that breaks off is an error, since entries may be missing. Each entry is decoded and limited separately,
// so memory does not depend on their number.
//
// A WebDAV response (207 Multi-Status) has one element for each entry, including the folder itself.
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

// entry converts a response into an entry. ok is false without a valid address on the same host. Unknown properties
// are in a separate propstat with status 404, which is skipped.
//
// Sizes and ETags are hints: an ETag that is too long is dropped, and an invalid size is −1, unknown. The file ID of
// ownCloud and Nextcloud stays the same when a file is moved.
func (r response) entry(address *url.URL) (entry, bool) {
	at, err := address.Parse(strings.TrimSpace(r.Href))
	if err != nil || r.Href == "" || at.Host != address.Host || at.User != nil {
		return entry{}, false
	}
	// Only the path of the server's address is used.
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

// refusal returns the status in a status line if it is an error (400 to 599), else 0.
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
