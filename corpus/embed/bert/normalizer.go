package bert

import (
	"errors"
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// step is a normalizer or pre-tokenizer of a tokenizer.json: its type, and the fields of all supported types.
type step struct {
	Type string `json:"type"`

	Clean   bool  `json:"clean_text"` // of BertNormalizer, to Lower
	CJK     bool  `json:"handle_chinese_chars"`
	Accents *bool `json:"strip_accents"`
	Lower   bool  `json:"lowercase"`

	Normalizers   []*step `json:"normalizers"` // of Sequence
	PreTokenizers []*step `json:"pretokenizers"`

	Charsmap []byte `json:"precompiled_charsmap"` // of Precompiled

	Pattern struct { // of Replace, with Content
		Text   string `json:"String"`
		Regexp string `json:"Regex"`
	} `json:"pattern"`
	Content string `json:"content"`

	Left  bool `json:"strip_left"` // of Strip
	Right bool `json:"strip_right"`

	Space       string `json:"replacement"` // of Metaspace, to Split
	PrefixSpace *bool  `json:"add_prefix_space"`
	Prepend     string `json:"prepend_scheme"`
	Split       *bool  `json:"split"`
}

// Limits for the output of a normalizer, so that a wrong one does not exhaust memory: XLM-R's has two steps, and
// the longest NFKC replacement of one character has 33 bytes.
const (
	maxFolds   = 8
	maxContent = 64 // bytes
	maxGrowth  = 24 // times the bytes of the text, after all steps
)

// folds returns the functions of a normalizer, in order; none for nil. An unsupported type returns an error:
// ignoring it would produce other tokens. The order matters: NFKC before or after lower-casing gives other texts.
func (s *step) folds() (out []func(string) string, err error) {
	if s == nil {
		return nil, nil
	}
	if len(s.Content) > maxContent {
		return nil, fmt.Errorf("its normalizer puts %d bytes in the place of some", len(s.Content))
	}
	switch s.Type {
	case "Sequence":
		for _, part := range s.Normalizers {
			folds, err := part.folds()
			if err != nil {
				return nil, err
			}
			if out = append(out, folds...); len(out) > maxFolds {
				return nil, fmt.Errorf("its normalizer has over %d steps", maxFolds)
			}
		}
		return out, nil
	case "Precompiled":
		m, err := newCharsmap(s.Charsmap)
		if err != nil {
			return nil, fmt.Errorf("its precompiled_charsmap: %w", err)
		}
		return append(out, m.fold), nil
	case "Replace":
		// The tokenizer.json of XLM-R has only this pattern, which needs no regular expression.
		if s.Pattern.Regexp == " {2,}" {
			return append(out, func(text string) string { return replaceSpaces(text, s.Content) }), nil
		}
		if s.Pattern.Text == "" {
			return nil, fmt.Errorf("its normalizer replaces what matches %q, which can't be used", s.Pattern.Regexp)
		}
		return append(out, strings.NewReplacer(s.Pattern.Text, s.Content).Replace), nil
	case "Strip":
		return append(out, func(text string) string {
			if s.Left {
				text = strings.TrimLeftFunc(text, unicode.IsSpace)
			}
			if s.Right {
				text = strings.TrimRightFunc(text, unicode.IsSpace)
			}
			return text
		}), nil
	case "Nmt":
		return append(out, func(text string) string { return strings.Map(cleanRune, text) }), nil
	case "Lowercase":
		return append(out, lowercase.Replace, strings.ToLower), nil
	}
	form, ok := map[string]norm.Form{"NFC": norm.NFC, "NFD": norm.NFD, "NFKC": norm.NFKC, "NFKD": norm.NFKD}[s.Type]
	if !ok {
		return nil, fmt.Errorf("its normalizer %q can't be used", s.Type)
	}
	return append(out, form.String), nil
}

// lowercase maps the one letter whose lower case is two characters. Go's lower case is only the first.
var lowercase = strings.NewReplacer("İ", "i̇")

// replaceSpaces replaces two or more spaces with by.
func replaceSpaces(text, by string) string {
	var b strings.Builder
	for {
		at := strings.Index(text, "  ")
		if at < 0 {
			b.WriteString(text)
			return b.String()
		}
		b.WriteString(text[:at])
		b.WriteString(by)
		text = strings.TrimLeft(text[at:], " ")
	}
}

// cleanRune maps a character like the normalizer Nmt: it removes control characters, and replaces white and
// invisible characters with a space.
func cleanRune(r rune) rune {
	switch {
	case r >= 0x01 && r <= 0x08, r == 0x0B, r >= 0x0E && r <= 0x1F, r == 0x7F, r == 0x8F, r == 0x9F:
		return -1
	case r == '\t', r == '\n', r == '\f', r == '\r', r == 0x1680, r >= 0x200B && r <= 0x200F,
		r == 0x2028, r == 0x2029, r == 0x2581, r == 0xFEFF, r == 0xFFFD:
		return ' '
	}
	return r
}

// metaspace validates that a pre-tokenizer only puts ▁ before each word, and reports whether any white space ends a
// word, rather than only spaces. Newer versions of the library write prepend_scheme, older ones add_prefix_space.
func (s *step) metaspace() (words bool, err error) {
	var steps []*step
	if s != nil {
		steps = []*step{s}
		if s.Type == "Sequence" {
			steps = s.PreTokenizers
		}
	}
	if len(steps) == 2 && steps[0] != nil && steps[0].Type == "WhitespaceSplit" {
		words, steps = true, steps[1:]
	}
	if len(steps) != 1 || steps[0] == nil || steps[0].Type != "Metaspace" {
		return false, errors.New("its pre_tokenizer is another one than Metaspace, with or without WhitespaceSplit")
	}
	// These defaults are required: a tokenizer without ▁ before the first word selects other pieces for it.
	m := steps[0]
	is := func(value *bool) bool { return value == nil || *value }
	if m.Space != space || !is(m.PrefixSpace) || !is(m.Split) || m.Prepend != "" && m.Prepend != "always" {
		return false, fmt.Errorf("its Metaspace does something else than to put %s before each word", space)
	}
	return words, nil
}
