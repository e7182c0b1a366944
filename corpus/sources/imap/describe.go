package imap

import (
	"bytes"
	"mime"
	"net/mail"
	"strconv"
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
	name := fileName(subject)
	if name == "" {
		name = "mail " + strconv.FormatUint(uint64(a.uid), 10)
	}
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
	m, err := mail.ReadMessage(bytes.NewReader([]byte(strings.TrimRight(head, "\r\n") + "\r\n\r\n")))
	if err != nil {
		return "", "", time.Time{}
	}
	subject = decoded(m.Header.Get("Subject"))
	sent, _ = mail.ParseDate(m.Header.Get("Date"))
	from := m.Header.Get("From")
	parser := mail.AddressParser{WordDecoder: words}
	if all, err := parser.ParseList(from); err == nil && len(all) > 0 {
		author = plain(all[0].Name)
		if author == "" {
			author = plain(all[0].Address)
		}
	} else {
		author = decoded(from)
	}
	return subject, author, sent
}

// decoded decodes the encoded words of a header's value.
func decoded(raw string) string {
	if text, err := words.DecodeHeader(raw); err == nil {
		raw = text
	} else if !strings.HasPrefix(raw, "=?") { // keep a value that can't be decoded
		raw = strings.ToValidUTF8(raw, "\ufffd")
	}
	return plain(raw)
}

// plain normalises a text to one line without control characters, of at most maxTitle characters.
func plain(text string) string {
	text = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, "\ufffd"), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	}), " ")
	return firstOf(text, maxTitle)
}

// firstOf truncates a text to a number of characters.
func firstOf(text string, characters int) string {
	if runes := []rune(text); len(runes) > characters {
		return string(runes[:characters])
	}
	return text
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
	return strings.Trim(firstOf(text, maxName), " .-")
}
