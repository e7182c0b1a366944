package extract

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/html"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/doctext"
	"github.com/footnote/footnote/corpus/extract/members"
	"github.com/footnote/footnote/corpus/extract/rtf"
	"github.com/footnote/footnote/text/english"
)

// letter is a parsed mail of any format. from, to and cc are display strings with names and addresses. sent is zero
// if the mail has no valid date. bodies are displayed one below the other.
type letter struct {
	from, to, cc, subject string
	sent                  time.Time
	bodies                []body
	shown                 map[string]bool // Content-IDs that the HTML refers to
	attachments           []attachment
}

// attachment is a file attached to a mail.
type attachment struct {
	name string
	id   string // Content-ID for references from the mail's HTML; may be empty
	data []byte
}

// maxMail bounds memory: a whole mail and its decoded attachments are in memory.
const maxMail = 128 << 20 // bytes of a mail with its attachments

// readMail parses a mail (RFC 5322). Its headers, its text and the names of its attachments become blocks. The
// attachments become separate documents.
func readMail(ctx context.Context, f corpus.File) (corpus.Extracted, error) {
	data, err := readAll(f.Path, maxMail)
	if err != nil {
		return corpus.Extracted{}, err
	}
	return parseMail(ctx, data).read(ctx, f)
}

// read returns the document of a mail, with its headers in the metadata.
func (l letter) read(ctx context.Context, f corpus.File) (corpus.Extracted, error) {
	m := mailWriter{taken: members.New(f)}
	if err := m.writeLetter(ctx, l); err != nil {
		return corpus.Extracted{}, err
	}
	x := m.result()
	x.Title = doctext.Line(l.subject)
	for key, value := range map[string]string{"author": l.from, "to": l.to, "subject": l.subject} {
		if value != "" {
			x.Meta[key] = value
		}
	}
	if !l.sent.IsZero() {
		x.Meta["date"] = l.sent.Format(time.DateOnly)
	}
	return x, nil
}

// readAll reads a file of at most limit bytes. It tries to read one byte more than the limit, so that it detects a
// file that grows during the read.
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

// mailWriter writes mails as blocks and extracts their attachments. A single mail or all mails of a mailbox share
// one, so that the limits of extraction apply to the whole file.
type mailWriter struct {
	w       doctext.Writer
	taken   *members.Collector
	letters int
	leftOut int // attachments
}

// title returns the heading of a mail, such as "Re: Roof, 4 March 2026". The sender is the fallback for the subject.
// It returns "" without subject, sender and date.
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

// writeLetter writes a mail: a heading, its headers in one row, its text, and its attachments. In a mailbox the
// heading separates the mails and is the context of each passage.
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
	writeFields(&m.w, append(head, [2]string{"Subject", l.subject}))
	if err := m.writeBodies(ctx, l.bodies); err != nil {
		return err
	}
	return m.takeAttachments(l)
}

// writeFields writes a row of names with their values. It skips those without a name or a value.
func writeFields(w *doctext.Writer, fields [][2]string) {
	w.Begin(corpus.Block{Kind: corpus.BlockRow})
	joint := ""
	for _, f := range fields {
		if f[0] == "" || f[1] == "" {
			continue
		}
		w.Text(joint)
		end := w.Mark("strong", "")
		w.Text(f[0] + ":")
		end()
		w.Text(" " + f[1])
		joint = " · "
	}
	w.End()
}

// writeBodies writes the displayed parts. An appointment that is sent in several parts is written once.
func (m *mailWriter) writeBodies(ctx context.Context, all []body) error {
	written := map[string]bool{}
	var words wordSides
	for _, b := range all {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case b.kind == htmlBody:
			writePage(&m.w, b.text)
		case b.kind == rtfBody:
			if err := rtf.Write(ctx, &m.w, []byte(b.text)); ctx.Err() != nil { // damaged text is read up to the damage
				return err
			}
		case b.kind == cardBody:
			if words == nil {
				words = wordSides{}
				words.add(ctx, all, inPlain)
			}
			cards := parseCards(ctx, b.text)
			for _, e := range cards.entries {
				e = slices.DeleteFunc(e, func(p property) bool {
					return p.name == "DESCRIPTION" && words.contain(cardText(p))
				})
				if key := fmt.Sprint(e); !written[key] {
					written[key] = true
					cards.write(&m.w, e, 2)
				}
			}
		default:
			if err := m.writeQuoted(ctx, strings.ReplaceAll(b.text, "\r\n", "\n")); err != nil {
				return err
			}
		}
	}
	return nil
}

// writePage writes the visible text of a whole page. HTML above the limits of parsing is stripped to its text.
func writePage(w *doctext.Writer, src string) {
	if len(src) <= maxHTML && strings.Count(src, "<") <= maxTags {
		if doc, err := html.Parse(strings.NewReader(src)); err == nil {
			walk := htmlWalk{w: w}
			walk.walkNode(doc, place{})
			w.End()
			return
		}
	}
	stripTags(w, src, invisible, 0)
}

// writeQuoted writes plain text. Lines that begin with ">" quote an earlier mail and are marked as a quotation, so
// that they are not attributed to the sender. Adjacent lines of one kind are collected and written as plain text.
// The nesting depth of a quotation is ignored.
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
		if strings.TrimRight(line, " \r\n") == "--" { // a signature follows: it is kept apart from the text
			line = "\n"
		}
		own.WriteString(line)
	}
	return errors.Join(flush(&own, false), flush(&earlier, true))
}

// takeAttachments extracts a mail's attachments and writes their names. Only the last part of a path is used as a
// name, because the sender is untrusted and the path could point elsewhere. An attachment beyond the limits is counted
// in leftOut and stays in the list of names. Pictures that the HTML shows are marked, because they are mostly logos.
func (m *mailWriter) takeAttachments(l letter) error {
	var names []string
	for i, a := range l.attachments {
		name := path.Base(strings.ReplaceAll(doctext.Line(a.name), `\`, "/"))
		if name == "." || name == "/" {
			name = "attachment " + strconv.Itoa(i+1)
		}
		names = append(names, name)
		if m.letters > 1 || m.taken.Has(name) { // in a mailbox, or a duplicate name
			name = strconv.Itoa(m.letters) + "-" + strconv.Itoa(i+1) + "/" + name
		}
		switch err := m.taken.Add(name, bytes.NewReader(a.data)); {
		case errors.Is(err, members.ErrLeftOut):
			m.leftOut++
		case err != nil:
			return err
		case l.shown[a.id]:
			m.taken.List[len(m.taken.List)-1].Shown = true
		}
	}
	writeFields(&m.w, [][2]string{{"Attachments", strings.Join(names, ", ")}})
	return nil
}

// result returns the document with the extracted files, and the number of skipped attachments in its metadata.
func (m *mailWriter) result() corpus.Extracted {
	x := m.w.Result()
	x.Members = m.taken.List
	if m.leftOut > 0 {
		x.Meta[corpus.MetaLeftOut] = english.Count(m.leftOut, "attachment")
	}
	return x
}

// shownParts returns the Content-IDs that HTML refers to by cid: URLs (RFC 2392).
func shownParts(html string) map[string]bool {
	const scheme, longest = "cid:", 1000
	ids := map[string]bool{}
	for at := 0; ; {
		next := strings.IndexByte(html[at:], ':')
		if next < 0 {
			return ids
		}
		at += next + 1
		if at < len(scheme) || !strings.EqualFold(html[at-len(scheme):at], scheme) {
			continue
		}
		id := html[at:min(at+longest, len(html))]
		if end := strings.IndexAny(id, "\"' \t\r\n<>)"); end >= 0 {
			id = id[:end]
		}
		at += len(id)
		if id, err := url.PathUnescape(id); err == nil {
			ids[id] = true
		}
	}
}
