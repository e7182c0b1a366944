package extract

import "strings"

const (
	csvRows   = 1000     // records of a section that are buffered; a longer one continues
	maxQuoted = 1 << 20  // bytes of a quoted field
	maxWasted = 64 << 20 // bytes after quotes without an end; beyond them a quote is an ordinary character
)

// csvDialect is how a program writes tables.
type csvDialect struct{ delimiter, quote byte }

// csvParser splits a text into records. A quote is special only at the start of a field, with or without spaces
// before it. It may be doubled or escaped by a backslash inside. A quoted field ends at a quote before a delimiter or
// the end of a line. A single quote inside is text, if the field ends in the same line. A field without an end is
// not quoted.
type csvParser struct {
	csvDialect
	src    string
	inside bool // the last section continues the one before
	wide   bool // a record has more than csvColumns fields
	wasted int
	cut    bool // the last section was cut at csvRows
}

// section returns the records up to a blank line or record, at most csvRows. It skips blank lines before them, and
// returns none at the end. The records stay valid.
func (p *csvParser) section() (records csvSection) {
	p.inside, p.cut = p.cut, false
	for p.src != "" && !p.wide {
		line, rest, _ := strings.Cut(p.src, "\n")
		if strings.Trim(line, " \t\r"+string(p.delimiter)) == "" {
			p.src = rest
			if p.inside = false; len(records) > 0 {
				return records
			}
			continue
		}
		if len(records) == csvRows {
			p.cut = true
			return records
		}
		records = append(records, p.record())
	}
	return records
}

// record returns the fields of the next record.
func (p *csvParser) record() (fields []string) {
	if line := p.line(); strings.IndexByte(line, p.quote) < 0 { // the usual one
		p.src = p.src[min(len(line)+1, len(p.src)):]
		fields = strings.Split(line, string(p.delimiter))
		p.wide = len(fields) > csvColumns
		return fields
	}
	for {
		field, end := p.field()
		fields = append(fields, field)
		p.src = p.src[end:]
		if p.src == "" {
			return fields
		}
		ended := p.src[0] == '\n'
		p.src = p.src[1:]
		if p.wide = len(fields) > csvColumns; ended || p.wide {
			return fields
		}
		if p.src == "" { // a delimiter ends the text
			return append(fields, "")
		}
	}
}

// line returns the next line without its end.
func (p *csvParser) line() string {
	line, _, _ := strings.Cut(p.src, "\n")
	return line
}

// field returns the next field, and the offset of the delimiter or the line feed after it.
func (p *csvParser) field() (field string, end int) {
	if start := strings.TrimLeft(p.src, " "); start != "" && start[0] == p.quote && p.wasted < maxWasted {
		skipped := len(p.src) - len(start) + 1
		field, end, ok := p.quoted(start[1:])
		if ok {
			return field, skipped + end
		}
		p.wasted += end
	}
	end = strings.IndexAny(p.src, string(p.delimiter)+"\n")
	if end < 0 {
		end = len(p.src)
	}
	return p.src[:end], end
}

// quoted returns the content of a quoted field, and the offset after it. s begins after the opening quote. ok is
// false without an end, and the offset is then where it gave up.
func (p *csvParser) quoted(s string) (field string, end int, ok bool) {
	loose, plain := false, true // it has a single quote inside; it has no escape
	for i := 0; i < min(len(s), maxQuoted); i++ {
		switch {
		case s[i] == '\n' && loose:
			return "", i, false
		case s[i] != p.quote:
		case i > 0 && s[i-1] == '\\' && !p.ends(s[i+1:]):
			plain = false
		default:
			if p.ends(s[i+1:]) {
				field = s[:i]
				if !plain {
					q := string(p.quote)
					field = strings.NewReplacer(q+q, q, `\`+q, q).Replace(field)
				}
				return field, i + 1 + len(s[i+1:]) - len(strings.TrimLeft(s[i+1:], " ")), true
			}
			if i+1 < len(s) && s[i+1] == p.quote {
				plain = false
				i++
				continue
			}
			loose = true
		}
	}
	return "", min(len(s), maxQuoted), false
}

// ends reports whether a field ends here, after spaces.
func (p *csvParser) ends(s string) bool {
	s = strings.TrimLeft(s, " ")
	return s == "" || s[0] == p.delimiter || s[0] == '\n'
}
