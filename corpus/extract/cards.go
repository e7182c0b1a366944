package extract

import (
	"cmp"
	"context"
	"io"
	"mime/quotedprintable"
	"slices"
	"strings"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/doctext"
	"github.com/footnote/footnote/text/lazy"
)

// property is a content line of a calendar or an address book, such as "DTSTART;TZID=Europe/Berlin:20260304T101500".
// The syntax is that of RFC 5545 §3.1 and RFC 6350 §3.3.
type property struct {
	name, value string
	parameters  string
}

// parameter returns a parameter of a property by its name in lower case.
func (p property) parameter(name string) string {
	_, parameters := mediaType("x/x;" + p.parameters)
	return parameters[name]
}

// cards holds the entries of a calendar or an address book. method is what a mail asks for with them (RFC 5546 §1.4).
type cards struct {
	method  string
	entries [][]property
	zones   timeZones
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
		all.write(&w, entry, 1)
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
// with each nested component that begins and halves when one ends. The last entry may have no end.
func parseCards(ctx context.Context, src string) (all cards) {
	var entry []property
	var zone *timeZone
	all.zones = timeZones{}
	depth := 0
	for _, p := range unfolded(src) {
		if ctx.Err() != nil {
			return all
		}
		kind := strings.ToUpper(strings.TrimSpace(p.value))
		switch {
		case p.name == "BEGIN" && isEntry(kind):
			entry, zone, depth = nil, nil, 1
		case p.name == "BEGIN" && kind == "VTIMEZONE":
			zone = &timeZone{}
		case zone != nil && p.name == "BEGIN" && len(zone.observances) < maxObservances:
			zone.observances = append(zone.observances, observance{})
		case zone != nil && p.name == "END" && kind == "VTIMEZONE":
			zone = nil
		case zone != nil && p.name == "TZID":
			all.zones[strings.TrimSpace(p.value)] = zone
		case zone != nil:
			zone.set(p)
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
	if depth > 0 && len(entry) > 0 {
		all.entries = append(all.entries, entry)
	}
	return all
}

// isEntry reports whether a component is an event, a task, a note or a contact.
func isEntry(kind string) bool {
	return kind == "VEVENT" || kind == "VTODO" || kind == "VJOURNAL" || kind == "VCARD"
}

// unfolded parses a text into properties. A line that begins with white space continues the one before. vCard 2.1
// instead breaks quoted-printable values by a "=" at the end of a line, which some programs also write at the end of a
// value. It also groups properties by a prefix, which later versions kept. A value with invalid quoted-printable
// encoding is kept as it is.
func unfolded(src string) (all []property) {
	var one strings.Builder
	quoted := false
	flush := func() {
		if p, ok := parseProperty(one.String(), quoted); ok {
			all = append(all, p)
		}
		one.Reset()
	}
	soft := false
	for line := range strings.Lines(src) {
		line = strings.TrimRight(line, "\r\n")
		switch {
		case strings.HasPrefix(line, " "), strings.HasPrefix(line, "\t"):
			line = line[1:]
		case !soft || propertyHead().MatchString(line):
			flush()
			head, _, _ := strings.Cut(line, ":")
			quoted = strings.Contains(strings.ToUpper(head), "QUOTED-PRINTABLE")
		}
		if soft = quoted && strings.HasSuffix(line, "="); soft {
			line = line[:len(line)-1]
		}
		one.WriteString(line)
	}
	flush()
	return all
}

// propertyHead matches the beginning of a line that can't continue quoted-printable text.
var propertyHead = lazy.Regexp(`^[A-Z][A-Z-]*[;:]`)

// parseProperty parses a content line. A colon in quotes is part of a parameter. Outlook has zones with colons in
// their names also without quotes; times have none.
func parseProperty(line string, quoted bool) (p property, ok bool) {
	end, inside := 0, false
	for ; end < len(line) && (inside || line[end] != ':'); end++ {
		inside = inside != (line[end] == '"')
	}
	if end == len(line) {
		if end = strings.IndexByte(line, ':'); end < 0 {
			return property{}, false
		}
	}
	if strings.Contains(strings.ToUpper(line[:end]), ";TZID=") {
		end = strings.LastIndexByte(line, ':')
	}
	name, parameters, _ := strings.Cut(line[:end], ";")
	if _, after, grouped := strings.Cut(name, "."); grouped { // "item1.EMAIL"
		name = after
	}
	p = property{strings.ToUpper(name), line[end+1:], parameters}
	if quoted {
		if plain, err := io.ReadAll(quotedprintable.NewReader(strings.NewReader(p.value))); err == nil {
			p.value = decoded(plain, p.parameter("charset"))
		}
	}
	return p, true
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

	"RECURRENCE-ID": "Instead of",
	"EXDATE":        "Except",
	"RDATE":         "Also",
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

// write writes an entry: a heading, and a row with its title and the properties that have a label. The row is
// one block with the title, so that a quote of it says what it is about. The title is the summary of an event or the
// name of a contact. FN is the display name, N the same name in parts, and ORG the fallback for a company without
// either.
func (c cards) write(w *doctext.Writer, entry []property, level int) {
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
	fields := [][2]string{{cmp.Or(methodWords[c.method], "Name"), title}}
	clock := cardClock{zones: c.zones}
	slices.SortStableFunc(entry, func(a, b property) int { return timeOrder(b.name) - timeOrder(a.name) })
	for _, p := range entry {
		word := cardWords[p.name]
		if word == "" {
			continue
		}
		value := ""
		switch p.name {
		case "DTSTART", "DTEND", "DUE", "COMPLETED", "RECURRENCE-ID", "EXDATE", "RDATE", "BDAY", "ANNIVERSARY":
			value = clock.text(p)
		case "RRULE":
			value = clock.recurrence(p.value)
		case "DURATION":
			value = duration(p.value)
		default:
			value = cardText(p)
		}
		fields = append(fields, [2]string{word, value})
	}
	if len(fields) > 1 || methodWords[c.method] != "" {
		writeFields(w, fields)
	}
	w.End()
}

// timeOrder is greatest for the start of an event and second for its end. Outlook writes them in the order of names.
func timeOrder(name string) int { return slices.Index([]string{"", "DTEND", "DTSTART"}, name) }

// cardText returns a property's display value. Parts of addresses and names are separated by semicolons, and many
// parts are empty. Some calendars describe events in HTML. The escapes are those of RFC 5545 §3.3.11.
func cardText(p property) string {
	value := p.value
	switch p.name {
	case "ATTENDEE", "ORGANIZER":
		value = value[strings.IndexByte(value, ':')+1:] // "mailto:"
		if name := p.parameter("cn"); name != "" && name != value {
			value = name + " <" + value + ">"
		}
		if answer := strings.ToLower(p.parameter("partstat")); answer != "" && answer != "needs-action" {
			value += " (" + answer + ")"
		}
	case "ADR", "N", "ORG":
		parts := strings.FieldsFunc(value, func(r rune) bool { return r == ';' })
		value = strings.Join(parts, ", ")
	}
	value = strings.NewReplacer(`\n`, " ", `\N`, " ", `\,`, ",", `\;`, ";", `\\`, `\`).Replace(value)
	if p.name == "DESCRIPTION" && (strings.Contains(value, "</") || strings.Contains(value, "<br")) {
		var w doctext.Writer
		writePage(&w, value)
		value = w.Result().Text
	}
	return doctext.Line(value)
}
