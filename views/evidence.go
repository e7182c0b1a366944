package views

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/footnote/footnote/chat"
)

// The data block of a readable evidence file is a comment at its end. Base64 has no character that could close it.
const (
	dataOpen  = "<!-- " + chat.EvidenceFormat + "\n"
	dataClose = "\n-->\n"
	// The line width is that of MIME's base64 (RFC 2045, section 6.8).
	dataWidth = 76
)

// EvidenceFile encodes sealed evidence as md, html or json. The encoding is deterministic: the readable part is
// verified by encoding it again from the data.
//
// It fails with chat.CodeInvalid for another format. The text is English in every locale, since the file must be
// the same wherever it is verified.
func EvidenceFile(e chat.Evidence, format string) ([]byte, error) {
	raw, err := json.MarshalIndent(e, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode evidence: %w", err)
	}
	var b bytes.Buffer
	switch format {
	case "json":
		return append(raw, '\n'), nil
	case "md":
		evidenceMarkdown(&b, e)
	case "html":
		if err := evidencePage(e, evidenceAnswer(e)).Render(context.Background(), &b); err != nil {
			return nil, fmt.Errorf("draw evidence: %w", err)
		}
		b.WriteByte('\n')
	default:
		return nil, &chat.Error{Code: chat.CodeInvalid, Message: "format must be md, html or json."}
	}
	b.WriteString(dataOpen)
	data := base64.StdEncoding.EncodeToString(raw)
	for len(data) > dataWidth {
		b.WriteString(data[:dataWidth] + "\n")
		data = data[dataWidth:]
	}
	b.WriteString(data + dataClose)
	return b.Bytes(), nil
}

// ReadEvidence parses an evidence file of any format. problems lists the problems of the file and of its citations.
//
// err has chat.CodeInvalid for any other file. Windows line ends and a byte order mark, which mail clients and
// editors insert, are not counted as changes.
func ReadEvidence(file []byte) (e chat.Evidence, problems []string, err error) {
	file = bytes.ReplaceAll(bytes.TrimPrefix(file, []byte("\uFEFF")), []byte("\r\n"), []byte("\n"))
	if bytes.HasPrefix(bytes.TrimSpace(file), []byte("{")) {
		if e, err = chat.DecodeEvidence(file); err != nil {
			return e, nil, err
		}
		return e, e.Problems(), nil
	}
	// The data block is at the end of the file, so the last one is decoded.
	at := bytes.LastIndex(file, []byte(dataOpen))
	if at < 0 {
		return e, nil, &chat.Error{
			Code: chat.CodeInvalid, Message: "This file has no evidence in it: the block at its end is missing.",
		}
	}
	data, behind, ok := bytes.Cut(file[at+len(dataOpen):], []byte(strings.TrimSuffix(dataClose, "\n")))
	if !ok {
		return e, nil, &chat.Error{Code: chat.CodeInvalid, Message: "The evidence at the end of the file is cut off."}
	}
	raw, err := base64.StdEncoding.DecodeString(string(bytes.ReplaceAll(data, []byte("\n"), nil)))
	if err != nil {
		return e, nil, &chat.Error{Code: chat.CodeInvalid, Message: "The evidence at the end of the file is damaged."}
	}
	if e, err = chat.DecodeEvidence(raw); err != nil {
		return e, nil, err
	}
	problems = e.Problems()
	format := "md"
	if bytes.HasPrefix(file, []byte("<!doctype html>")) {
		format = "html"
	}
	// The readable part is encoded again from the data and compared.
	again, err := EvidenceFile(e, format)
	if err != nil {
		return e, nil, err
	}
	if line, same := firstDifference(again, file); !same || len(bytes.TrimSpace(behind)) > 0 {
		problems = append(problems, fmt.Sprintf(
			"What the file shows is not what its data says, from line %d on: it was changed, or written by another "+
				"version of Footnote.",
			line,
		))
	}
	return e, problems, nil
}

// firstDifference returns the number of the first line that differs. Trailing white space is ignored.
func firstDifference(a, b []byte) (line int, same bool) {
	one, two := bytes.Split(bytes.TrimRight(a, "\n "), []byte("\n")), bytes.Split(
		bytes.TrimRight(b, "\n "), []byte("\n"),
	)
	for i := range max(len(one), len(two)) {
		if i >= len(one) || i >= len(two) || !bytes.Equal(one[i], two[i]) {
			return i + 1, false
		}
	}
	return 0, true
}

// evidenceMarkdown writes the readable part. Text from documents, models and users is escaped, on one line, or in a
// block quote that it can't close.
func evidenceMarkdown(b *bytes.Buffer, e chat.Evidence) {
	fmt.Fprintf(b, "# %s\n\n", literalMarkdown(e.Question))
	fmt.Fprintf(b, "Asked %s · answered %s · model %s · %s\n\n", moment(e.AskedAt), moment(e.AnsweredAt),
		literalMarkdown(
			e.Model,
		), literalMarkdown(string(e.Status)))
	fmt.Fprintf(b, "Run %s · check this file with `footnote verify`\n\n## Answer\n\n", literalMarkdown(e.RunID))
	for line := range strings.SplitSeq(plainMarks(e.Answer), "\n") {
		b.WriteString(strings.TrimRight("> "+line, " ") + "\n")
	}
	if len(e.Citations) > 0 {
		b.WriteString("\n## Quotes\n")
	}
	for _, c := range e.Citations {
		fmt.Fprintf(b, "\n### \\[%d\\] %s\n\n", c.Number, literalMarkdown(c.Title))
		if c.Quote != "" {
			fmt.Fprintf(b, "> %s\n\n", literalMarkdown(c.Quote))
		} else {
			fmt.Fprintf(b, "Quote not found: %s\n\n", literalMarkdown(c.Claimed))
		}
		for _, fact := range evidenceFacts(c) {
			fmt.Fprintf(b, "- %s: %s\n", fact.Key, literalMarkdown(fact.Value))
		}
	}
	if len(e.Unsupported) > 0 {
		b.WriteString("\n## Without support\n\n")
		for _, sentence := range e.Unsupported {
			fmt.Fprintf(b, "- %s\n", literalMarkdown(sentence))
		}
	}
	b.WriteString("\n## Steps\n\n")
	for i, s := range e.Steps {
		fmt.Fprintf(b, "%d. %s", i+1, literalMarkdown(evidenceStep(s)))
		if len(s.Input) > 0 {
			fmt.Fprintf(b, " — %s %s", literalMarkdown(s.Tool), literalMarkdown(string(s.Input)))
		}
		b.WriteString("\n")
	}
	b.WriteString("\n")
}

// evidenceFacts returns the metadata of a citation, without its quote.
func evidenceFacts(c chat.EvidenceCitation) []pair {
	facts := []pair{{"File", c.Filename}, {"SHA-256", c.SHA256}}
	if c.Page > 0 {
		facts = append(facts, pair{"Page", strconv.Itoa(c.Page)})
	} else if c.Place != "" {
		facts = append(facts, pair{"Place", c.Place})
	}
	if c.Section != "" {
		facts = append(facts, pair{"Section", c.Section})
	}
	if link := chat.WebLink(c.SourceURL); link != "" {
		facts = append(facts, pair{"Address", link})
	}
	facts = append(facts, pair{"Characters", strconv.Itoa(c.Start) + "–" + strconv.Itoa(c.End)})
	if c.Claimed != "" && c.Quote != "" {
		facts = append(facts, pair{"As the model put it", c.Claimed})
	}
	if c.Added {
		facts = append(facts, pair{"Added by", "Footnote"})
	}
	return append(facts, pair{"Check", strings.ReplaceAll(string(c.Check), "_", " ")})
}

// evidenceStep formats a step as one line.
func evidenceStep(s chat.EvidenceStep) string {
	parts := []string{s.Message}
	if s.Summary != "" {
		parts = append(parts, s.Summary)
	}
	if s.Error != "" {
		parts = append(parts, s.Error)
	}
	took := duration(context.Background(), s.DurationMS)
	return strings.Join(append(parts, string(s.Status), moment(s.At), took), " · ")
}

// moment formats a time to the second in UTC, so that an exported answer is the same in every time zone.
func moment(t time.Time) string {
	if t.IsZero() {
		return "–"
	}
	return t.UTC().Format("2006-01-02 15:04:05 UTC")
}

// literalMarkdown escapes text for Markdown and HTML and joins it to one line. Bidirectional control characters are
// made visible. Right-to-left text is enclosed in U+2068 and U+2069, Unicode's isolates (UAX #9).
func literalMarkdown(text string) string {
	var b strings.Builder
	rightToLeft := false
	for _, r := range strings.Join(strings.Fields(visible(text)), " ") {
		switch {
		case r == '<':
			b.WriteString("&lt;")
			continue
		case r == '&':
			b.WriteString("&amp;")
			continue
		// Markdown allows an escape before every ASCII punctuation character.
		case r < 0x80 && unicode.In(r, unicode.Punct, unicode.Symbol):
			b.WriteByte('\\')
		case unicode.In(r, unicode.Hebrew, unicode.Arabic, unicode.Syriac, unicode.Thaana):
			rightToLeft = true
		}
		b.WriteRune(r)
	}
	if rightToLeft {
		return "\u2068" + b.String() + "\u2069"
	}
	return b.String()
}

// visible replaces invisible characters that change how other text is rendered with U+FFFD.
//
// These are bidirectional controls and control characters except tab and newline, which could disguise a name.
// Bytes that are not valid UTF-8 become U+FFFD as well.
func visible(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r >= 0x202A && r <= 0x202E, r >= 0x2066 && r <= 0x2069, r == 0x200E, r == 0x200F, r == 0x061C,
			unicode.IsControl(r):
			return '\uFFFD'
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
}

// plainMarks returns an answer's Markdown without HTML, images and comments. Other markup is kept.
func plainMarks(answer string) string {
	answer = strings.ReplaceAll(visible(answer), "![", `!\[`)
	var b strings.Builder
	for i := 0; i < len(answer); i++ {
		if answer[i] == '<' && i+1 < len(answer) &&
			(answer[i+1] == '/' || answer[i+1] == '!' || answer[i+1] == '?' || unicode.IsLetter(rune(answer[i+1]))) {
			b.WriteString("&lt;")
			continue
		}
		b.WriteByte(answer[i])
	}
	return b.String()
}

// evidenceAnswer renders an answer whose footnotes link to its quotes on the same page.
func evidenceAnswer(e chat.Evidence) string {
	var b strings.Builder
	cite := func(n int) (chat.Citation, bool) {
		for _, c := range e.Citations {
			if c.Number == n {
				return chat.Citation{
					Number:  n,
					Title:   visible(c.Title),
					Page:    c.Page,
					Place:   visible(c.Place),
					Section: visible(c.Section),
					Check:   c.Check,
					URL:     "#quote-" + strconv.Itoa(n),
				}, true
			}
		}
		return chat.Citation{}, false
	}
	for _, block := range newMarkdown(func(address string) string { return address }).Whole(
		visible(e.Answer), nil, cite,
	) {
		b.WriteString(block.HTML)
	}
	return b.String()
}

// evidenceStyle is the style sheet of an evidence page. The file loads no other resource.
const evidenceStyle = `body{margin:0;font:1rem/1.6 ` +
	`system-ui,sans-serif}main{max-width:44rem;margin:auto;padding:2rem 1rem;overflow-wrap:anywhere}` +
	`h1{font-size:1.375rem;line-height:1.35}h2{margin-top:2.5rem;font-size:1.125rem}h3{margin-bottom:.5rem;` +
	`font-size:1rem}` +
	`blockquote{margin:0;padding-inline-start:.75rem;border-inline-start:3px solid #c99b1d;white-space:pre-line}` +
	`.quiet,dt{color:light-dark(#5c5c56,#a5a59d)}dl{margin:.5rem 0;font-size:.8125rem}dl ` +
	`div{display:flex;gap:.75rem}dt{flex:none;width:9rem}dd{margin:0}` +
	`pre{overflow:auto;margin:.25rem ` +
	`0;padding:.5rem;background:light-dark(#f2f2ee,#252523);font-size:.8125rem;white-space:pre-wrap}` +
	`table{border-collapse:collapse}td,th{padding:.25rem .75rem;border-bottom:1px solid ` +
	`#8888;text-align:start}a.cite{color:light-dark(#2450be,#96b4ff)}` +
	`.vh{font-size:inherit}article:target{outline:2px solid ` +
	`#c99b1d;outline-offset:.5rem}ol,ul{padding-inline-start:1.5rem}` +
	`ol.paren>li::marker{content:counter(list-item) ") "}`
