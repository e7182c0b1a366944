package corpus

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/footnote/footnote/chat"
)

const (
	defaultMatches = 20
	maxMatches     = 100
	maxPattern     = 1000 // bytes
	maxProgram     = 5000 // instructions of the compiled pattern
	grepTime       = 4 * time.Second
	maxLine        = 300 // runes around a match
)

// Grep finds exact matches in the text of documents, newest documents first. Case does not matter, unless the pattern
// says (?-i). More is set when there are more matches than asked for, or when looking took too long. It reads whole
// texts, for which there is no index; the time is bounded instead. It fails with chat.CodeInvalid for a pattern that
// can't be used.
func (l *Library) Grep(ctx context.Context, s chat.Scope, g GrepRequest) (Grepped, error) {
	// 0 is no mistake: it stands for a number that was left out.
	if g.Max < 0 || g.Max > maxMatches {
		return Grepped{}, invalidError("Ask for 1 to 100 matches.")
	}
	if g.Max == 0 {
		g.Max = defaultMatches
	}
	pattern, literal, err := compilePattern(g.Pattern)
	if err != nil {
		return Grepped{}, err
	}
	out := Grepped{Literal: literal}
	work, stop := context.WithTimeout(ctx, grepTime)
	defer stop()
	err = l.grepDocuments(work, s, g, pattern, &out)
	// Our own time has run out, not the caller's: what was found by then is an answer, and More says that it is not
	// all.
	if errors.Is(work.Err(), context.DeadlineExceeded) && ctx.Err() == nil {
		out.More, err = true, nil
	}
	return out, err
}

// grepDocuments looks through the documents one after the other, newest first, until there are enough matches.
func (l *Library) grepDocuments(
	ctx context.Context, s chat.Scope, g GrepRequest, pattern *regexp.Regexp, out *Grepped,
) error {
	f := Filter{IDs: g.Documents, Limit: 200}
	for {
		docs, next, err := l.cfg.Documents.List(ctx, s, f)
		if err != nil {
			return fmt.Errorf("list documents: %w", err)
		}
		for _, d := range docs {
			// Such a document has no text yet, so that it isn't read.
			if d.Passages == 0 {
				continue
			}
			if err := l.grepOne(ctx, s, d, pattern, g.Max, out); err != nil || out.More {
				return err
			}
		}
		if f.Cursor = next; next == "" {
			return nil
		}
	}
}

// compilePattern reads a pattern as RE2, or literally when it is none. One that would cost too much fails with
// chat.CodeInvalid. RE2 takes time that is linear in the text, so that no pattern can hang; only its size has to be
// bounded. "m" lets ^ and $ stand for lines.
func compilePattern(pattern string) (re *regexp.Regexp, literal bool, err error) {
	if strings.TrimSpace(pattern) == "" {
		return nil, false, invalidError("The pattern is empty. Give the exact words to look for.")
	}
	if len(pattern) > maxPattern {
		return nil, false,
			invalidError(fmt.Sprintf("The pattern is longer than %d bytes. Give a shorter one.", maxPattern))
	}
	// The compiled size is what counts: "(a{500}){2}" is a short pattern of a thousand instructions.
	if parsed, err := syntax.Parse(pattern, syntax.Perl); err == nil {
		program, err := syntax.Compile(parsed.Simplify())
		if err == nil && len(program.Inst) > maxProgram {
			return nil, false, invalidError("The pattern is too complex. Use fewer or smaller repetitions.")
		}
		if re, err := regexp.Compile("(?im)" + pattern); err == nil {
			return re, false, nil
		}
	}
	// Whoever asks for "f(x" means these characters, and Literal tells that they were taken so.
	re, err = regexp.Compile("(?i)" + regexp.QuoteMeta(strings.ToValidUTF8(pattern, "")))
	if err != nil {
		return nil, true, invalidError("The pattern can't be used. Give plain words.")
	}
	return re, true, nil
}

// grepOne adds the matches of one document. One that went away meanwhile has none. Offsets are counted in runes as the
// matches come, which are in order, so that the text is walked through once.
func (l *Library) grepOne(
	ctx context.Context, s chat.Scope, d Document, pattern *regexp.Regexp, limit int, out *Grepped,
) error {
	body, err := l.cfg.Documents.Text(ctx, s, d.ID)
	if err != nil {
		if chat.CodeOf(err) == chat.CodeNotFound {
			return nil // deleted meanwhile
		}
		return fmt.Errorf("read text: %w", err)
	}
	out.Documents++
	first, runes, bytes := len(out.Matches), 0, 0
	for at := 0; at <= len(body) && ctx.Err() == nil; {
		loc := pattern.FindStringIndex(body[at:])
		if loc == nil {
			break
		}
		start, end := at+loc[0], at+loc[1]
		at = end
		if start == end { // an empty match shows nothing
			_, size := utf8.DecodeRuneInString(body[at:])
			at += max(size, 1)
			continue
		}
		// One more than asked for was found, which is all that More says.
		if len(out.Matches) == limit {
			out.More = true
			break
		}
		// Only what lies between two matches is counted, not the text from its beginning.
		runes += utf8.RuneCountInString(body[bytes:start])
		bytes = start
		out.Matches = append(out.Matches, Match{
			Document: d, Start: runes, End: runes + utf8.RuneCountInString(body[start:end]),
			Line: lineAround(body, start, end),
		})
	}
	if len(out.Matches) == first {
		return ctx.Err()
	}
	return l.placeMatches(ctx, s, d, out.Matches[first:])
}

// placeMatches adds to matches where they stand. The page is that of the match's own words, where the block may go on
// to the next page.
func (l *Library) placeMatches(ctx context.Context, s chat.Scope, d Document, matches []Match) error {
	passages, err := l.cfg.Documents.Passages(ctx, s, d.ID, 0, -1)
	if err != nil {
		return fmt.Errorf("read passages: %w", err)
	}
	blocks, err := l.cfg.Documents.Blocks(ctx, s, d.ID)
	if err != nil {
		return fmt.Errorf("read blocks: %w", err)
	}
	b := 0
	for i := range matches {
		m := &matches[i]
		if p := passageAt(passages, m.Start); p >= 0 {
			m.PassageID, m.Section, m.Page = passages[p].ID, passages[p].Section, passages[p].Page
		}
		for b < len(blocks) && blocks[b].End <= m.Start {
			b++
		}
		// The block's page is where it begins; pageOf finds that of the match's own words.
		if b < len(blocks) {
			m.BlockID = blocks[b].ID
			if m.Page, err = l.pageOf(ctx, s, d.ID, blocks, b, m.Start, m.End); err != nil {
				return err
			}
		}
	}
	return nil
}

// lineAround returns the line that holds body[start:end], at most maxLine runes of it with the match in the middle.
func lineAround(body string, start, end int) string {
	from := strings.LastIndexByte(body[:start], '\n') + 1
	to := len(body)
	if i := strings.IndexByte(body[end:], '\n'); i >= 0 {
		to = end + i
	}
	if utf8.RuneCountInString(body[from:to]) <= maxLine {
		return strings.TrimSpace(strings.ReplaceAll(body[from:to], "\n", " "))
	}
	// Half of what the match leaves goes before it. What stands behind it has the rest.
	before := lastRunes(body[from:start], max(0, maxLine-utf8.RuneCountInString(body[start:end]))/2)
	match := shortenRunes(body[start:end], maxLine)
	after := shortenRunes(body[end:to], max(0, maxLine-utf8.RuneCountInString(before)-utf8.RuneCountInString(match)))
	if len(before) < start-from {
		before = "…" + before
	}
	return strings.TrimSpace(strings.ReplaceAll(before+match+after, "\n", " "))
}

// lastRunes returns the last n runes of s.
func lastRunes(s string, n int) string {
	i := len(s)
	for ; i > 0 && n > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(s[:i])
		i -= size
	}
	return s[i:]
}
