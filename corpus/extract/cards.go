package extract

import (
	"context"
	"io"
	"mime/quotedprintable"
	"slices"
	"strings"
	"time"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/doctext"
)

// property is a line of a calendar or an address book: "DTSTART;TZID=Europe/Berlin:20260304T101500". The form is that
// of a content line in RFC 5545 §3.1 and RFC 6350 §3.3.
type property struct {
	name, value string
	parameters  string // in capitals
}

// readCards reads a calendar (RFC 5545) or an address book (RFC 6350): each entry is a heading with a list of what is
// said of it. Only what is right inside an entry counts. depth doubles with each component that begins inside and
// halves with its end, so that it is 1 for the entry itself, and stays 0 outside of entries: what stands there is for
// programs. A text without any entry is read as plain text.
func readCards(ctx context.Context, src string, f corpus.File) (corpus.Extracted, error) {
	var w doctext.Writer
	var entry []property
	depth := 0
	for _, p := range unfolded(src) {
		if ctx.Err() != nil {
			return corpus.Extracted{}, ctx.Err()
		}
		kind := strings.ToUpper(strings.TrimSpace(p.value))
		switch {
		case p.name == "BEGIN" && (isEntry(kind)):
			entry, depth = nil, 1
		case p.name == "BEGIN":
			depth *= 2 // an alarm or a time zone inside
		case p.name == "END" && isEntry(kind):
			writeEntry(&w, entry)
			depth = 0
		case p.name == "END":
			depth /= 2
		case depth == 1:
			entry = append(entry, p)
		}
	}
	x := w.Result()
	if x.Text == "" {
		return plainText(ctx, src, f)
	}
	return x, nil
}

// isEntry reports whether a component is one that people would call an entry: an event, a task, a note, a contact.
func isEntry(kind string) bool {
	return kind == "VEVENT" || kind == "VTODO" || kind == "VJOURNAL" || kind == "VCARD"
}

// unfolded splits a text into properties. A line that begins with white space goes on from the one before. vCard 2.1
// breaks quoted-printable values by a "=" at the end of a line instead, and groups properties by a prefix, which later
// versions kept. A value whose quoted-printable is broken stays as it is.
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
		p := property{strings.ToUpper(name), value, strings.ToUpper(parameters)}
		if strings.Contains(p.parameters, "QUOTED-PRINTABLE") {
			if plain, err := io.ReadAll(quotedprintable.NewReader(strings.NewReader(value))); err == nil {
				p.value = string(plain)
			}
		}
		all = append(all, p)
	}
	return all
}

// cardWords are the names of properties as people say them; the others are for programs.
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

// writeEntry writes the properties that have a word. The title is the summary of an event, or the name of a contact: FN
// is the name as it is shown, N the same in parts, and ORG stands for a company that has neither.
func writeEntry(w *doctext.Writer, entry []property) {
	title := ""
	for _, name := range []string{"SUMMARY", "FN", "N", "ORG"} {
		i := slices.IndexFunc(entry, func(p property) bool { return p.name == name })
		if i >= 0 && title == "" {
			title = cardText(entry[i])
		}
	}
	if title != "" {
		w.Begin(corpus.Block{Kind: corpus.BlockHeading, Level: 1})
		w.Text(title)
	}
	for _, p := range entry {
		word, value := cardWords[p.name], cardText(p)
		if word == "" || value == "" {
			continue
		}
		w.Begin(corpus.Block{Kind: corpus.BlockList, Level: 1})
		w.Text(word + ": " + value)
	}
	w.End()
}

// cardText is a property's value as people read it. Parts of addresses and names are separated by semicolons, of which
// many are empty. The escapes are those of RFC 5545 §3.3.11.
func cardText(p property) string {
	value := p.value
	switch p.name {
	case "DTSTART", "DTEND", "DUE", "COMPLETED", "BDAY", "ANNIVERSARY":
		return cardTime(value)
	case "ATTENDEE", "ORGANIZER":
		value = value[strings.IndexByte(value, ':')+1:] // "mailto:"
	case "ADR", "N", "ORG":
		parts := strings.FieldsFunc(value, func(r rune) bool { return r == ';' })
		value = strings.Join(parts, ", ")
	}
	return doctext.Line(strings.NewReplacer(`\n`, " ", `\N`, " ", `\,`, ",", `\;`, ";", `\\`, `\`).Replace(value))
}

// cardTime is a time such as 20260304T101500Z as "2026-03-04 10:15 UTC"; what is none stays as it is. A time without Z
// is local, or in a zone that a parameter names; it is written as it stands, which is what its owner sees.
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
