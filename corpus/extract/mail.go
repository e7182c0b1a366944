package extract

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path"
	"regexp"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/html"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/doctext"
	"github.com/footnote/footnote/corpus/extract/members"
	"github.com/footnote/footnote/text/english"
)

// letter is a mail, whatever file it came in. from, to and cc are as people read them, with names and addresses. text
// wins over html where a mail has both. sent is zero if the mail names no time that can be read.
type letter struct {
	from, to, cc, subject string
	sent                  time.Time
	text, html            string
	attachments           []attachment
}

// attachment is a file of a mail. open fails with an error of the mail.
type attachment struct {
	name string
	id   string // by which the mail's HTML shows it; empty: it does not
	open func() (io.Reader, error)
}

// A mail is in memory as a whole, and its decoded attachments are too.
const maxMail = 128 << 20 // bytes of a mail with its attachments

// readMail reads a mail (RFC 5322). Its head, its text and the names of its attachments become blocks; the attachments
// become documents of their own.
func readMail(ctx context.Context, f corpus.File) (corpus.Extracted, error) {
	data, err := readAll(f.Path, maxMail)
	if err != nil {
		return corpus.Extracted{}, err
	}
	l := parseMail(data)
	m := mailWriter{taken: members.New(f)}
	if err := m.writeLetter(ctx, l); err != nil {
		return corpus.Extracted{}, err
	}
	x := m.result()
	x.Title = doctext.Line(l.subject)
	l.applyFields(&x)
	return x, nil
}

// readAll reads a file of at most limit bytes. One byte more is asked for than allowed, so that a file that grows while
// it is read is noticed.
func readAll(name string, limit int64) ([]byte, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("open the original: %w", err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err != nil {
		return nil, fmt.Errorf("read the original: %w", err)
	}
	if int64(len(data)) > limit {
		return nil, tooLarge(int64(len(data)), limit)
	}
	return data, nil
}

// mailWriter writes mails as blocks and takes their attachments. One of them writes a single mail or all mails of a
// box, so that all share the limits on what may be taken out.
type mailWriter struct {
	w       doctext.Writer
	taken   *members.Taken
	letters int
	leftOut int // attachments
}

// title is "Re: Roof, 4 March 2026": the words by which people know a mail. "" if it has neither a subject, nor a
// sender, nor a date.
func (l letter) title() string {
	subject := l.subject
	if subject == "" {
		subject = l.from
	}
	if l.sent.IsZero() {
		return subject
	}
	return strings.TrimPrefix(subject+", "+l.sent.Format("2 January 2006"), ", ")
}

// writeLetter writes a mail: a heading, the fields of its head in one row, its text, and its files. In a mailbox the
// heading keeps the mails apart, and every passage of a mail has it above.
func (m *mailWriter) writeLetter(ctx context.Context, l letter) error {
	m.letters++
	if title := l.title(); title != "" {
		m.w.Begin(corpus.Block{Kind: corpus.BlockHeading, Level: 1})
		m.w.Text(title)
	}
	head := [][2]string{{"From", l.from}, {"To", l.to}, {"Cc", l.cc}}
	if !l.sent.IsZero() {
		head = append(head, [2]string{"Date", l.sent.Format("Mon, 2 Jan 2006 15:04 -0700")})
	}
	m.writeFields(append(head, [2]string{"Subject", l.subject}))
	if err := m.writeBody(ctx, l); err != nil {
		return err
	}
	return m.takeAttachments(l)
}

// writeFields writes a row of names with their values, without those that are empty.
func (m *mailWriter) writeFields(fields [][2]string) {
	m.w.Begin(corpus.Block{Kind: corpus.BlockRow})
	joint := ""
	for _, f := range fields {
		if f[1] == "" {
			continue
		}
		m.w.Text(joint)
		end := m.w.Mark("strong", "")
		m.w.Text(f[0] + ":")
		end()
		m.w.Text(" " + f[1])
		joint = " · "
	}
	m.w.End()
}

// writeBody writes the text part, or the HTML part of a mail without one. HTML that is too large for a tree loses its
// form and keeps its text.
func (m *mailWriter) writeBody(ctx context.Context, l letter) error {
	if strings.TrimSpace(l.text) != "" {
		return m.writeQuoted(ctx, strings.ReplaceAll(l.text, "\r\n", "\n"))
	}
	if l.html == "" {
		return nil
	}
	doc, err := html.Parse(strings.NewReader(l.html))
	if err != nil || len(l.html) > maxHTML || strings.Count(l.html, "<") > maxTags {
		stripTags(&m.w, l.html, invisible, 0)
		return nil
	}
	walk := htmlWalk{w: &m.w}
	walk.walkNode(doc, place{})
	m.w.End()
	return nil
}

// writeQuoted writes plain text. Lines that begin with ">" are words of an earlier mail: a quotation. Quotations are
// marked, lest someone else's words of last week pass for the sender's. Lines are collected into stretches of one kind
// and written as plain text; how deep a quotation is doesn't matter.
func (m *mailWriter) writeQuoted(ctx context.Context, text string) error {
	var own, earlier strings.Builder
	flush := func(b *strings.Builder, quoted bool) error {
		m.w.Quoting(quoted)
		defer m.w.Quoting(false)
		err := writeLines(ctx, &m.w, b.String())
		b.Reset()
		return err
	}
	for line := range strings.Lines(text) {
		rest, quoted := strings.CutPrefix(line, ">")
		if quoted {
			if own.Len() > 0 {
				if err := flush(&own, false); err != nil {
					return err
				}
			}
			earlier.WriteString(strings.TrimLeft(rest, "> "))
			continue
		}
		if earlier.Len() > 0 {
			if err := flush(&earlier, true); err != nil {
				return err
			}
		}
		if strings.TrimRight(line, " \r\n") == "--" { // a signature follows: it stays apart from the text
			line = "\n"
		}
		own.WriteString(line)
	}
	return errors.Join(flush(&own, false), flush(&earlier, true))
}

// takeAttachments takes a mail's files out and names them. A name is only the last part of a path: it comes from a
// stranger, and must not lead anywhere. A file that can't be taken is counted in leftOut and stays in the list of
// names, so that a reader sees that there was one; any other error is the disk's, and ends the reading. Pictures that
// the HTML shows are marked, because they are mostly logos.
func (m *mailWriter) takeAttachments(l letter) error {
	var names []string
	shown := shownParts(l.html)
	for i, a := range l.attachments {
		name := path.Base(strings.ReplaceAll(doctext.Line(a.name), `\`, "/"))
		if name == "." || name == "/" {
			name = "attachment " + strconv.Itoa(i+1)
		}
		names = append(names, name)
		body, err := a.open()
		if err == nil {
			inside := name
			if m.letters > 1 || m.taken.Has(name) { // of a mailbox, or two files of one name
				inside = strconv.Itoa(m.letters) + "-" + strconv.Itoa(i+1) + "/" + name
			}
			err = m.taken.Add(inside, body)
		}
		if err == nil && shown[a.id] {
			m.taken.List[len(m.taken.List)-1].Shown = true
		}
		if errors.Is(err, members.ErrLeftOut) || errors.Is(err, errDamagedPart) {
			m.leftOut++
			continue
		}
		if err != nil {
			return err
		}
	}
	m.writeFields([][2]string{{"Attachments", strings.Join(names, ", ")}})
	return nil
}

// errDamagedPart says that an attachment can't be read.
var errDamagedPart = errors.New("the attachment is damaged")

// result is the document so far, with the files that were taken and, in its metadata, how many were not.
func (m *mailWriter) result() corpus.Extracted {
	x := m.w.Result()
	x.Members = m.taken.List
	if m.leftOut > 0 {
		x.Meta[corpus.MetaLeftOut] = english.Count(m.leftOut, "attachment")
	}
	return x
}

// applyFields puts what a mail says about itself into the document's metadata.
func (l letter) applyFields(x *corpus.Extracted) {
	for key, value := range map[string]string{"author": l.from, "to": l.to, "subject": l.subject} {
		if value != "" {
			x.Meta[key] = value
		}
	}
	if !l.sent.IsZero() {
		x.Meta["date"] = l.sent.Format(time.DateOnly)
	}
}

// shownPart is an address of a part of the same mail (RFC 2392).
var shownPart = regexp.MustCompile(`(?i)\bcid:([^"'\s<>)]+)`)

// shownParts are the ids of the parts that HTML shows.
func shownParts(html string) map[string]bool {
	ids := map[string]bool{}
	for _, m := range shownPart.FindAllStringSubmatch(html, -1) {
		if id, err := url.PathUnescape(m[1]); err == nil {
			ids[id] = true
		}
	}
	return ids
}
