package extract

import (
	"cmp"
	"context"
	"io"
	"mime/quotedprintable"
	"slices"
	"strings"
	"time"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/doctext"
)

// property is a content line of a calendar or an address book, such as "DTSTART;TZID=Europe/Berlin:20260304T101500".
// The syntax is that of RFC 5545 §3.1 and RFC 6350 §3.3.
type property struct {
	name, value string
	parameters  string
}

// cards holds the entries of a calendar or an address book. method is what a mail asks for with them (RFC 5546 §1.4).
type cards struct {
	method  string
	entries [][]property
}

// cardKinds are the MIME types of calendars and address books in mails.
var cardKinds = map[string]bool{
	"text/calendar": true, "text/x-vcalendar": true, "text/vcard": true, "text/x-vcard": true, "text/directory": true,
}

// readCards parses a calendar (RFC 5545) or an address book (RFC 6350). A file without entries falls back to plain
// text.
func readCards(ctx context.Context, src string, f corpus.File) (corpus.Extracted, error) {
	var w doctext.Writer
	all := parseCards(ctx, src)
	for _, entry := range all.entries {
		writeEntry(&w, entry, all.method, 1)
	}
	if ctx.Err() != nil {
		return corpus.Extracted{}, ctx.Err()
	}
	x := w.Result()
	if x.Text == "" {
		return plainText(ctx, src, f)
	}
	return x, nil
}

// parseCards parses the entries of a calendar or an address book. Only properties directly in an entry are read.
// depth is 1 directly in an entry and 0 outside of entries, whose properties are metadata for programs. It doubles
// with each nested component that begins and halves when one ends.
func parseCards(ctx context.Context, src string) (all cards) {
	var entry []property
	depth := 0
	for _, p := range unfolded(src) {
		if ctx.Err() != nil {
			return all
		}
		kind := strings.ToUpper(strings.TrimSpace(p.value))
		switch {
		case p.name == "BEGIN" && (isEntry(kind)):
			entry, depth = nil, 1
		case p.name == "BEGIN":
			depth *= 2 // an alarm or a time zone inside
		case p.name == "END" && isEntry(kind):
			all.entries = append(all.entries, entry)
			entry, depth = nil, 0
		case p.name == "END":
			depth /= 2
		case depth == 1:
			entry = append(entry, p)
		case p.name == "METHOD":
			all.method = kind
		}
	}
	return all
}

// isEntry reports whether a component is an event, a task, a note or a contact.
func isEntry(kind string) bool {
	return kind == "VEVENT" || kind == "VTODO" || kind == "VJOURNAL" || kind == "VCARD"
}

// unfolded parses a text into properties. A line that begins with white space continues the one before. vCard 2.1
// instead breaks quoted-printable values by a "=" at the end of a line. It also groups properties by a prefix, which
// later versions kept. A value with invalid quoted-printable encoding is kept as it is.
func unfolded(src string) (all []property) {
	src = strings.NewReplacer("\n ", "", "\n\t", "", "=\n", "").Replace(src)
	for line := range strings.Lines(src) {
		head, value, ok := strings.Cut(strings.TrimRight(line, "\r\n"), ":")
		if !ok {
			continue
		}
		name, parameters, _ := strings.Cut(head, ";")
		if _, after, grouped := strings.Cut(name, "."); grouped { // "item1.EMAIL"
			name = after
		}
		p := property{strings.ToUpper(name), value, parameters}
		if strings.Contains(strings.ToUpper(parameters), "QUOTED-PRINTABLE") {
			if plain, err := io.ReadAll(quotedprintable.NewReader(strings.NewReader(value))); err == nil {
				p.value = string(plain)
			}
		}
		all = append(all, p)
	}
	return all
}

// cardWords maps property names to the labels shown to readers. Properties without a label are skipped.
var cardWords = map[string]string{
	"DTSTART":     "Start",
	"DTEND":       "End",
	"DUE":         "Due",
	"LOCATION":    "Place",
	"DESCRIPTION": "Description",
	"ORGANIZER":   "Organizer",
	"ATTENDEE":    "Attendee",
	"STATUS":      "Status",
	"CATEGORIES":  "Categories",
	"COMMENT":     "Comment",
	"RRULE":       "Repeats",
	"TEL":         "Phone",
	"EMAIL":       "Mail",
	"ADR":         "Address",
	"ORG":         "Organization",
	"TITLE":       "Title",
	"ROLE":        "Role",
	"BDAY":        "Birthday",
	"NOTE":        "Note",
	"URL":         "Web",
	"NICKNAME":    "Nickname",
	"COMPLETED":   "Completed",
	"PRIORITY":    "Priority",
	"DURATION":    "Duration",
	"ANNIVERSARY": "Anniversary",
}

// methodWords maps the methods of calendars in mails to the labels shown to readers (RFC 5546 §1.4).
var methodWords = map[string]string{
	"REQUEST":        "Invitation",
	"CANCEL":         "Cancellation",
	"REPLY":          "Reply to an invitation",
	"COUNTER":        "Proposal of a change",
	"DECLINECOUNTER": "Refusal of a change",
	"REFRESH":        "Request for the current state",
	"ADD":            "Additional date",
}

// writeEntry writes an entry: a heading, and a row with its title and the properties that have a label. The row is
// one block with the title, so that a quote of it says what it is about. The title is the summary of an event or the
// name of a contact. FN is the display name, N the same name in parts, and ORG the fallback for a company without
// either.
func writeEntry(w *doctext.Writer, entry []property, method string, level int) {
	title := ""
	for _, name := range []string{"SUMMARY", "FN", "N", "ORG"} {
		i := slices.IndexFunc(entry, func(p property) bool { return p.name == name })
		if i >= 0 && title == "" {
			title = cardText(entry[i])
		}
	}
	if title != "" {
		w.Begin(corpus.Block{Kind: corpus.BlockHeading, Level: level})
		w.Text(title)
	}
	fields := [][2]string{{cmp.Or(methodWords[method], "Name"), title}}
	for _, p := range entry {
		if word := cardWords[p.name]; word != "" {
			fields = append(fields, [2]string{word, cardText(p)})
		}
	}
	if len(fields) > 1 || methodWords[method] != "" {
		writeFields(w, fields)
	}
	w.End()
}

// cardText returns a property's display value. Parts of addresses and names are separated by semicolons, and many
// parts are empty. The escapes are those of RFC 5545 §3.3.11.
func cardText(p property) string {
	value := p.value
	switch p.name {
	case "DTSTART", "DTEND", "DUE", "COMPLETED", "BDAY", "ANNIVERSARY":
		return cardTime(value)
	case "ATTENDEE", "ORGANIZER":
		value = value[strings.IndexByte(value, ':')+1:] // "mailto:"
		_, parameters := mediaType("x/x;" + p.parameters)
		if name := parameters["cn"]; name != "" && name != value {
			value = name + " <" + value + ">"
		}
		if answer := strings.ToLower(parameters["partstat"]); answer != "" && answer != "needs-action" {
			value += " (" + answer + ")"
		}
	case "ADR", "N", "ORG":
		parts := strings.FieldsFunc(value, func(r rune) bool { return r == ';' })
		value = strings.Join(parts, ", ")
	}
	return doctext.Line(strings.NewReplacer(`\n`, " ", `\N`, " ", `\,`, ",", `\;`, ";", `\\`, `\`).Replace(value))
}

// cardTime formats a time such as 20260304T101500Z as "2026-03-04 10:15 UTC". A value that doesn't parse is returned
// on one line. A time without Z is local, or in the time zone of a parameter; it is not converted.
func cardTime(value string) string {
	for _, layout := range [][2]string{
		{"20060102T150405Z", "2006-01-02 15:04 UTC"}, {"20060102T150405", "2006-01-02 15:04"},
		{"20060102", "2006-01-02"},
	} {
		if t, err := time.Parse(layout[0], value); err == nil {
			return t.Format(layout[1])
		}
	}
	return doctext.Line(value)
}
