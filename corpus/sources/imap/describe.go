package imap

import (
	"cmp"
	"fmt"
	"mime"
	"net/mail"
	"strings"
	"time"
	"unicode"

	"golang.org/x/net/html/charset"

	"github.com/footnote/footnote/corpus/sources"
)

const (
	maxTitle = 300 // characters of a subject or an author
	maxName  = 120 // characters of a name, without date and extension
)

// words decodes encoded words of headers, in all charsets that browsers support.
var words = &mime.WordDecoder{CharsetReader: charset.NewReaderLabel}

// item converts a mail into an item. Mails never change, so the version is constant. A mail without a valid date has
// the date of its arrival.
//
// The name is the date and the subject, so that mails sort by time. The extension .eml identifies the format. A mail
// without a subject is named by its UID.
func (a about) item(validity uint32) sources.Item {
	item := sources.Item{
		Key: keyOf(validity, a.uid), Version: version, Size: a.size, Meta: map[string]any{},
	}
	subject, author, sent := readHead(a.head)
	if sent.IsZero() {
		sent = a.came
	}
	if subject != "" {
		item.Meta["title"] = subject
	}
	if author != "" {
		item.Meta["author"] = author
	}
	name := cmp.Or(fileName(subject), fmt.Sprint("mail ", a.uid))
	if !sent.IsZero() && sent.Year() > 0 && sent.Year() < 10_000 {
		date := sent.Format(time.DateOnly)
		item.Meta["date"] = date
		name = date + " " + name
	}
	item.Name = name + ".eml"
	return item
}

// readHead parses the subject, the author and the date of a mail's header. An invalid header returns empty values.
// Encoded words (RFC 2047) are decoded in any charset of the library.
//
// A header is untrusted, so each value may be missing, too long or malformed.
func readHead(head string) (subject, author string, sent time.Time) {
	// A truncated header, or one without its end, is parsed as far as possible.
	m, err := mail.ReadMessage(strings.NewReader(strings.TrimRight(head, "\r\n") + "\r\n\r\n"))
	if err != nil {
		return "", "", time.Time{}
	}
	subject = decoded(m.Header.Get("Subject"))
	sent, _ = mail.ParseDate(m.Header.Get("Date"))
	from := m.Header.Get("From")
	parser := mail.AddressParser{WordDecoder: words}
	if all, err := parser.ParseList(from); err == nil && len(all) > 0 {
		author = cmp.Or(plain(all[0].Name), plain(all[0].Address))
	} else {
		author = decoded(from)
	}
	return subject, author, sent
}

// decoded decodes the encoded words of a header's value.
func decoded(raw string) string {
	if text, err := words.DecodeHeader(raw); err == nil {
		raw = text
	}
	return plain(raw)
}

// plain normalises a text to one line without control characters, of at most maxTitle characters.
func plain(text string) string {
	return sources.OneLine(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text), maxTitle)
}

// fileName converts a text into a file name that is valid on every system. Characters that some system forbids and
// invisible ones become hyphens.
func fileName(text string) string {
	text = strings.Map(func(r rune) rune {
		if strings.ContainsRune(`/\:*?"<>|`, r) || unicode.Is(unicode.Cf, r) {
			return '-'
		}
		return r
	}, text)
	return strings.Trim(sources.Cut(text, maxName), " .-")
}
