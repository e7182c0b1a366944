package export

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text/lazy"
)

// Source is a cited document's bibliographic data. Unknown fields are empty and left out of files.
//
// Values are unescaped and of any length; each format escapes them.
type Source struct {
	Title     string
	Filename  string
	Authors   []string // as in the document: "Ada Lovelace" or "Lovelace, Ada"
	Year      int      // 0: not known
	Month     int      // 1 to 12; 0: not known
	Day       int      // 1 to 31; 0: not known
	Container string   // the journal or book that contains it
	Publisher string
	DOI       string
	URL       string // the web address
	Form      string // the kind of document in Zotero and CSL: "book", "article-journal"; empty: unknown
}

// NewSource builds a source from a document's title, file name and meta, whose keys differ between formats. Of
// several keys for a property, the first with a value is used.
//
// meta is decoded JSON: texts, numbers and lists. Other types and invalid dates are ignored.
func NewSource(title, filename string, meta map[string]any) Source {
	s := Source{Title: title, Filename: filename}
	// The first name with a text is used.
	word := func(names ...string) string {
		for _, name := range names {
			for _, value := range texts(meta[name]) {
				return value
			}
		}
		return ""
	}
	// The names differ between formats; the first with an author is used.
	for _, name := range []string{"authors", "author", "creator", "from"} {
		if s.Authors = texts(meta[name]); len(s.Authors) > 0 {
			break
		}
	}
	for _, name := range []string{"date", "published", "issued", "year", "created"} {
		if value := word(name); value != "" && s.setDate(value) {
			break
		}
	}
	s.Container, s.Publisher = word("journal", "publication", "container"), word("publisher")
	s.DOI = strings.TrimPrefix(strings.TrimPrefix(word("doi", "DOI"), "https://doi.org/"), "doi:")
	s.URL, s.Form = chat.WebLink(word("source_url", "url")), word("type")
	return s
}

// texts returns the texts of a value of a document's meta: one, or those of a list. White space is normalised; empty
// texts are dropped.
func texts(value any) (list []string) {
	switch v := value.(type) {
	case string:
		if v = strings.Join(strings.Fields(v), " "); v != "" {
			list = append(list, v)
		}
	case float64:
		list = append(list, strconv.FormatFloat(v, 'f', -1, 64))
	case int:
		list = append(list, strconv.Itoa(v))
	case []any:
		for _, one := range v {
			list = append(list, texts(one)...)
		}
	}
	return list
}

// dateForm matches a date of ISO 8601 with year, month or day at the start of a text. A following text, such as a
// time, must start with a non-digit.
var dateForm = lazy.Regexp(`^(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?(?:\D|$)`)

// setDate parses a date like 2026, 2026-01 or 2026-01-31 and ignores any following text. It reports success.
func (s *Source) setDate(value string) bool {
	parts := dateForm().FindStringSubmatch(value)
	if parts == nil {
		return false
	}
	number := func(text string, most int) int {
		n, err := strconv.Atoi(text)
		if err != nil || n > most {
			return 0
		}
		return n
	}
	s.Year, s.Month = number(parts[1], 9999), number(parts[2], 12)
	if s.Month > 0 {
		s.Day = number(parts[3], 31)
	}
	return s.Year > 0
}

// name returns the source's title, or its file name.
func (s Source) name() string {
	if s.Title != "" {
		return s.Title
	}
	return s.Filename
}

// article reports whether a source is part of a publication, which the formats encode as a journal article.
func (s Source) article() bool { return s.Container != "" || strings.Contains(s.Form, "article") }

// keys returns unique short names for the sources: the last name of the first author, the year and the first word of
// the title, without accents. A duplicate gets a number, so a key is stable while the preceding sources are.
func keys(sources []Source) []string {
	plain := func(text string) string {
		var b strings.Builder
		// In decomposed form an accented letter is the letter and a mark, which is removed.
		for _, r := range norm.NFD.String(strings.ToLower(text)) {
			if r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
				b.WriteRune(r)
			}
		}
		return b.String()
	}
	list, taken := make([]string, len(sources)), map[string]bool{}
	for i, s := range sources {
		key := ""
		if len(s.Authors) > 0 {
			// In “Lovelace, Ada” the last name is first; in “Ada Lovelace” it is the last word.
			last, _, turned := strings.Cut(s.Authors[0], ",")
			if !turned {
				last = last[strings.LastIndexByte(last, ' ')+1:]
			}
			key = plain(last)
		}
		if s.Year > 0 {
			key += strconv.Itoa(s.Year)
		}
		for word := range strings.FieldsSeq(s.name()) {
			if word = plain(word); word != "" {
				key += word[:min(len(word), 20)]
				break
			}
		}
		if key == "" {
			key = "source"
		}
		list[i] = key
		for n := 2; taken[list[i]]; n++ {
			list[i] = key + "-" + strconv.Itoa(n)
		}
		taken[list[i]] = true
	}
	return list
}

// texEscapes escapes TeX's special characters. Braces become commands, since BibTeX counts escaped braces, too.
var texEscapes = strings.NewReplacer(`\`, `\textbackslash{}`, `{`, `\textbraceleft{}`, `}`, `\textbraceright{}`,
	`&`, `\&`, `%`, `\%`, `$`, `\$`, `#`, `\#`, `_`, `\_`, `~`, `\textasciitilde{}`, `^`, `\textasciicircum{}`)

// BibTeX encodes sources as entries of BibTeX, in UTF-8. The title is in double braces, so that styles keep its
// capitals. An author whose name contains “and” or several commas is one word in braces.
//
// A month is a number. The file name is a note, since the reader may know the document only by it.
func BibTeX(sources []Source) []byte {
	var b strings.Builder
	ids := keys(sources)
	for i, s := range sources {
		kind := "misc"
		switch {
		case s.article():
			kind = "article"
		case s.Form == "book":
			kind = "book"
		}
		fmt.Fprintf(&b, "@%s{%s,\n", kind, ids[i])
		// An unknown value has no line.
		field := func(name, value string) {
			if value != "" {
				fmt.Fprintf(&b, "  %s = {%s},\n", name, value)
			}
		}
		field("title", "{"+texEscapes.Replace(oneLine(s.name()))+"}")
		authors := make([]string, len(s.Authors))
		for j, author := range s.Authors {
			authors[j] = texEscapes.Replace(oneLine(author))
			if strings.Contains(strings.ToLower(author), " and ") || strings.Count(author, ",") > 1 {
				authors[j] = "{" + authors[j] + "}" // a single name
			}
		}
		field("author", strings.Join(authors, " and "))
		if s.Year > 0 {
			field("year", strconv.Itoa(s.Year))
		}
		if s.Month > 0 {
			field("month", strconv.Itoa(s.Month))
		}
		field("journal", texEscapes.Replace(oneLine(s.Container)))
		field("publisher", texEscapes.Replace(oneLine(s.Publisher)))
		field("doi", texEscapes.Replace(oneLine(s.DOI)))
		field("url", strings.NewReplacer("{", "%7B", "}", "%7D", `\`, "%5C").Replace(s.URL))
		field("note", texEscapes.Replace(oneLine(s.Filename)))
		b.WriteString("}\n\n")
	}
	return []byte(strings.TrimSuffix(b.String(), "\n"))
}

// RIS encodes sources for reference managers. Lines end with CR LF, and each entry with “ER - ”, as readers of the
// format expect.
//
// Each line is a tag of two letters, two spaces, a hyphen, a space and a value.
func RIS(sources []Source) []byte {
	var b strings.Builder
	for _, s := range sources {
		kind := "GEN"
		switch {
		case s.article():
			kind = "JOUR"
		case s.Form == "book":
			kind = "BOOK"
		}
		line := func(tag, value string) {
			if value = oneLine(value); value != "" {
				b.WriteString(tag + "  - " + value + "\r\n")
			}
		}
		line("TY", kind)
		line("TI", s.name())
		for _, author := range s.Authors {
			line("AU", author)
		}
		if s.Year > 0 {
			line("PY", strconv.Itoa(s.Year))
			if s.Month > 0 {
				line("DA", fmt.Sprintf("%04d/%02d/%s", s.Year, s.Month, twoDigits(s.Day)))
			}
		}
		line("JO", s.Container)
		line("PB", s.Publisher)
		line("DO", s.DOI)
		line("UR", s.URL)
		line("N1", s.Filename)
		b.WriteString("ER  - \r\n\r\n")
	}
	return []byte(b.String())
}

// twoDigits formats a day as 07; "" for 0.
func twoDigits(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%02d", n)
}

// oneLine returns a text on one line, without control characters.
func oneLine(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	}), " ")
}

// cslItem is a source in CSL's JSON (csl-data.json of the Citation Style Language, 1.0.2).
//
// Type is one of CSL's types. Unknown fields are left out.
type cslItem struct {
	ID        string    `json:"id"`
	Type      string    `json:"type"`
	Title     string    `json:"title"`
	Author    []cslName `json:"author,omitempty"`
	Issued    *cslDate  `json:"issued,omitempty"`
	Container string    `json:"container-title,omitempty"`
	Publisher string    `json:"publisher,omitempty"`
	DOI       string    `json:"DOI,omitempty"`
	URL       string    `json:"URL,omitempty"`
	Note      string    `json:"note,omitempty"`
}

// cslName is a name in two parts, or unparsed (Literal).
type cslName struct {
	Family  string `json:"family,omitempty"`
	Given   string `json:"given,omitempty"`
	Literal string `json:"literal,omitempty"`
}

// cslDate is a date as a list of year, month and day, as far as known.
type cslDate struct {
	Parts [][]int `json:"date-parts"`
}

// CSL encodes sources as CSL-JSON. A name is split only at its document's comma.
//
// Splitting “Ada King Lovelace” would be a guess, so such a name is literal.
func CSL(sources []Source) ([]byte, error) {
	items, ids := make([]cslItem, len(sources)), keys(sources)
	for i, s := range sources {
		item := cslItem{
			ID: ids[i], Type: "document", Title: s.name(), Container: s.Container, Publisher: s.Publisher, DOI: s.DOI,
			URL: s.URL, Note: s.Filename,
		}
		switch {
		case s.article():
			item.Type = "article-journal"
		case s.Form == "book":
			item.Type = "book"
		}
		for _, author := range s.Authors {
			// A name is split only if it contains exactly one comma.
			family, given, parted := strings.Cut(author, ", ")
			if parted && !strings.Contains(given, ",") {
				item.Author = append(item.Author, cslName{Family: family, Given: given})
			} else {
				item.Author = append(item.Author, cslName{Literal: author})
			}
		}
		if s.Year > 0 {
			parts := []int{s.Year}
			if s.Month > 0 {
				parts = append(parts, s.Month)
			}
			if s.Day > 0 {
				parts = append(parts, s.Day)
			}
			item.Issued = &cslDate{[][]int{parts}}
		}
		items[i] = item
	}
	raw, err := json.MarshalIndent(items, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode sources: %w", err)
	}
	return append(raw, '\n'), nil
}
