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
	maxTitle = 300 // characters of a subject or of an author
	maxName  = 120 // characters of a name, without date and extension
)

// words decodes encoded words of heads. The charset reader knows those of browsers, as mails use many.
var words = &mime.WordDecoder{CharsetReader: charset.NewReaderLabel}

// item describes a mail. Mails never change, so their version is always the same. A mail without a readable date has
// that of its arrival.
//
// The name is the date with the subject, so that mails sort by time, and .eml, by which the library knows the format.
// A mail without a subject is called by its number.
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

// readHead reads what of a mail's head is shown. What is no mail's head leaves it empty. Encoded words (RFC 2047) are
// decoded in any charset that the library knows.
//
// A head of a mail is written by anybody, so each value may be missing, too long or of a form of its own.
func readHead(head string) (subject, author string, sent time.Time) {
	// a head that was cut off, or whose end is missing, is read as far as it goes
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

// decoded is a head's text as people read it.
func decoded(raw string) string {
	if text, err := words.DecodeHeader(raw); err == nil {
		raw = text
	} else if !strings.HasPrefix(raw, "=?") { // what can't be decoded stays as it is
		raw = strings.ToValidUTF8(raw, "\ufffd")
	}
	return plain(raw)
}

// plain is a text in one line without what is not seen.
func plain(text string) string {
	text = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, "\ufffd"), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	}), " ")
	return firstOf(text, maxTitle)
}

// firstOf is the begin of a text.
func firstOf(text string, characters int) string {
	if runes := []rune(text); len(runes) > characters {
		return string(runes[:characters])
	}
	return text
}

// fileName is a text as the name of a file that every system takes. Signs that some system forbids, and those that are
// not seen, become hyphens.
func fileName(text string) string {
	text = strings.Map(func(r rune) rune {
		if strings.ContainsRune(`/\:*?"<>|`, r) || unicode.Is(unicode.Cf, r) {
			return '-'
		}
		return r
	}, text)
	return strings.Trim(firstOf(text, maxName), " .-")
}
