package bert

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
)

// tokenizer splits texts into the tokens of a model's vocabulary. It is safe for concurrent use.
type tokenizer struct {
	encoder
	start  int32 // special token before each text
	end    int32 // special token after it
	tokens int   // IDs range from 0 to tokens-1
	pair   pairForm
}

// pairForm is the encoding of a text pair: a start token, the first text, end tokens, the second text, an end
// token. BERT uses [CLS] a [SEP] b [SEP], RoBERTa <s> a </s></s> b </s>.
type pairForm struct {
	ends int // end tokens between the texts; 0: the model's tokenizer has an unsupported form
	kind int // token type of the second text: 1, or 0 as that of the first
}

var (
	pairOfBERT    = pairForm{ends: 1, kind: 1}
	pairOfRoBERTa = pairForm{ends: 2, kind: 0}
)

// encoder encodes a text as tokens, without special tokens around it.
type encoder interface {
	encodeText(text string) []token
}

// token is a piece of a word.
type token struct {
	id   int32
	head bool // it begins a word
}

// tokenizerFile is the supported part of tokenizer.json, the format of Hugging Face's library tokenizers.
// Truncation and padding are ignored: they are for batches, and the context window is truncated elsewhere.
type tokenizerFile struct {
	Added []struct {
		ID      int32  `json:"id"`
		Text    string `json:"content"`
		Special bool   `json:"special"`
	} `json:"added_tokens"`
	Normalizer *step   `json:"normalizer"`
	Splits     *step   `json:"pre_tokenizer"`
	Around     *around `json:"post_processor"`
	Model      struct {
		Type         string          `json:"type"`
		Vocabulary   json.RawMessage `json:"vocab"`
		Unknown      string          `json:"unk_token"` // of WordPiece, as Prefix
		Prefix       string          `json:"continuing_subword_prefix"`
		UnknownID    *int            `json:"unk_id"` // of Unigram, as ByteFallback
		ByteFallback bool            `json:"byte_fallback"`
	} `json:"model"`
}

// around is the post-processor: the special tokens around a text.
type around struct {
	Type   string         `json:"type"`
	Start  named          `json:"cls"` // of BertProcessing and RobertaProcessing, as End
	End    named          `json:"sep"`
	Single []templateItem `json:"single"` // of TemplateProcessing, as Pair
	Pair   []templateItem `json:"pair"`
}

// templateItem is the text or a special token around it.
type templateItem struct {
	Text *struct {
		Kind int `json:"type_id"`
	} `json:"Sequence"`
	Token *struct {
		Name string `json:"id"`
	} `json:"SpecialToken"`
}

// named is the name of a token in a pair of name and ID.
type named string

// UnmarshalJSON decodes the pair ["[CLS]", 101]. It ignores the ID, which is looked up by name later.
func (n *named) UnmarshalJSON(raw []byte) error {
	var id json.Number
	return json.Unmarshal(raw, &[]any{(*string)(n), &id})
}

// readTokenizer parses tokenizer.json, or vocab.txt as the fallback. It returns an error for unsupported features.
func readTokenizer(dir string) (t *tokenizer, err error) {
	var file tokenizerFile
	if err := readJSON(dir, "tokenizer.json", &file); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return readVocabulary(dir)
		}
		return nil, err
	}
	// A file without a type is parsed as WordPiece, whose validation then applies.
	switch kind := cmp.Or(file.Model.Type, "WordPiece"); kind {
	case "WordPiece":
		t, err = file.wordPiece()
	case "Unigram":
		t, err = file.unigram()
	default:
		err = fmt.Errorf("its model is %s: only WordPiece and Unigram can be used", kind)
	}
	if err != nil {
		return nil, fmt.Errorf("%s can't be used: %w", filepath.Join(dir, "tokenizer.json"), err)
	}
	return t, nil
}

// marks are the names of the special tokens around a text, and the form of a text pair.
type marks struct {
	start, end string
	pair       pairForm
}

// marks returns the special tokens that the file defines, or otherwise if it defines none.
func (f *tokenizerFile) marks(otherwise marks) (marks, error) {
	if f.Around == nil {
		return otherwise, nil
	}
	switch a := f.Around; a.Type {
	case "BertProcessing":
		return marks{string(a.Start), string(a.End), pairOfBERT}, nil
	case "RobertaProcessing":
		return marks{string(a.Start), string(a.End), pairOfRoBERTa}, nil
	case "TemplateProcessing":
		// Only the template of the supported models is accepted: one token before the text and one after it.
		if s := a.Single; len(s) == 3 && s[0].Token != nil && s[1].Text != nil && s[2].Token != nil {
			m := marks{start: s[0].Token.Name, end: s[2].Token.Name}
			m.pair = m.pairOf(a.Pair)
			return m, nil
		}
		return marks{}, errors.New("its post_processor has another template than a token, the text and a token")
	}
	return marks{}, fmt.Errorf("its post_processor is %q, which can't be used", f.Around.Type)
}

// pairOf parses the template of a pair, with the first text at index 1 and the second one before the last. It
// returns the zero form for unsupported templates, which only rerankers reject.
func (m marks) pairOf(template []templateItem) pairForm {
	last := len(template) - 1
	// [CLS] A [SEP] B [SEP] has five items, and <s> A </s> </s> B </s> six: last is 4 or 5.
	if last < 4 || last > 5 || template[1].Text == nil || template[last-1].Text == nil ||
		template[last-1].Text.Kind > 1 { // that of the first text is 0
		return pairForm{}
	}
	for i, item := range template {
		name := m.end
		switch i {
		case 1, last - 1:
			continue
		case 0:
			name = m.start
		}
		if item.Token == nil || item.Token.Name != name {
			return pairForm{}
		}
	}
	return pairForm{ends: last - 3, kind: template[last-1].Text.Kind}
}

// wordPiece returns BERT's tokenizer. It strips accents if the file says so; the default is the value of lowercase.
func (f *tokenizerFile) wordPiece() (*tokenizer, error) {
	n := f.Normalizer
	// Another prefix than "##" or another pre-tokenizer would produce other tokens for the same text, and plausible
	// but wrong vectors.
	if n == nil || n.Type != "BertNormalizer" || f.Splits == nil || f.Splits.Type != "BertPreTokenizer" ||
		cmp.Or(f.Model.Prefix, "##") != "##" {
		return nil, errors.New("its WordPiece is another one than BERT's")
	}
	var vocabulary map[string]int32
	if err := json.Unmarshal(f.Model.Vocabulary, &vocabulary); err != nil {
		return nil, fmt.Errorf("its vocabulary: %w", err)
	}
	around, err := f.marks(marks{"[CLS]", "[SEP]", pairOfBERT})
	if err != nil {
		return nil, err
	}
	// strip_accents null means the value of lowercase, since BERT's first tokenizer had only one option.
	accents := n.Lower
	if n.Accents != nil {
		accents = *n.Accents
	}
	return newTokenizer(vocabulary, folding{clean: n.Clean, cjk: n.CJK, accents: accents, lower: n.Lower},
		cmp.Or(f.Model.Unknown, "[UNK]"), around)
}

// unigram returns SentencePiece's tokenizer. Special tokens are in the list of added tokens, or pieces of the
// vocabulary.
func (f *tokenizerFile) unigram() (*tokenizer, error) {
	if f.Model.ByteFallback {
		return nil, errors.New("its model has byte_fallback, which can't be used")
	}
	list, err := readPieces(f.Model.Vocabulary)
	if err != nil {
		return nil, fmt.Errorf("its vocabulary: %w", err)
	}
	// Unigram needs an unknown token for text outside the vocabulary; without one a text might have no tokens.
	if f.Model.UnknownID == nil || *f.Model.UnknownID < 0 || *f.Model.UnknownID >= len(list) {
		return nil, errors.New("its model has no unk_id of the vocabulary")
	}
	u := &unigram{unk: int32(*f.Model.UnknownID)}
	if u.folds, err = f.Normalizer.folds(); err != nil {
		return nil, err
	}
	if u.words, err = f.Splits.metaspace(); err != nil {
		return nil, err
	}
	// tokens is the number of possible IDs, including special tokens after the end of the vocabulary.
	t := &tokenizer{encoder: u, tokens: len(list)}
	around, err := f.marks(marks{"<s>", "</s>", pairOfRoBERTa})
	if err != nil {
		return nil, err
	}
	t.pair = around.pair
	// Special tokens are not pieces for text: a text that contains "</s>" must not end early.
	ids := make(map[string]int32, len(f.Added)+2) // of special pieces
	for _, a := range f.Added {
		if a.Special {
			ids[a.Text] = a.ID
		}
	}
	for i, p := range list {
		if p.text == around.start || p.text == around.end {
			ids[p.text] = int32(i)
		}
	}
	for _, mark := range []struct {
		name string
		id   *int32
	}{{around.start, &t.start}, {around.end, &t.end}} { // may be the same
		known, ok := ids[mark.name]
		if !ok || known < 0 {
			return nil, fmt.Errorf("the vocabulary has no %q", mark.name)
		}
		*mark.id, t.tokens = known, max(t.tokens, int(known)+1)
	}
	return t, u.setPieces(list, ids)
}

// readVocabulary parses vocab.txt, with a piece in each line whose number is its ID, and tokenizer_config.json: the
// format of BERT's first models.
func readVocabulary(dir string) (*tokenizer, error) {
	raw, err := readFile(dir, "vocab.txt")
	if err != nil {
		return nil, err
	}
	vocabulary := make(map[string]int32)
	for line := range bytes.Lines(raw) {
		if len(vocabulary) == maxVocabulary {
			return nil, fmt.Errorf("%s has over %d lines", filepath.Join(dir, "vocab.txt"), maxVocabulary)
		}
		// A piece may begin or end with other white space, so trim only the line break.
		vocabulary[strings.TrimRight(string(line), "\r\n")] = int32(len(vocabulary))
	}
	said := struct {
		Lower   *bool     `json:"do_lower_case"`
		Accents *bool     `json:"strip_accents"`
		CJK     *bool     `json:"tokenize_chinese_chars"`
		Unknown tokenName `json:"unk_token"`
		Start   tokenName `json:"cls_token"`
		End     tokenName `json:"sep_token"`
	}{Unknown: "[UNK]", Start: "[CLS]", End: "[SEP]"}
	if err := readJSON(dir, "tokenizer_config.json", &said); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	is := func(value *bool, otherwise bool) bool {
		if value == nil {
			return otherwise
		}
		return *value
	}
	// The defaults are those of transformers' BertTokenizer.
	lower := is(said.Lower, true)
	return newTokenizer(vocabulary, folding{
		clean: true, cjk: is(said.CJK, true), accents: is(said.Accents, lower), lower: lower,
	}, string(said.Unknown), marks{string(said.Start), string(said.End), pairOfBERT})
}

// tokenName is the name of a special token, as a string or in an object.
type tokenName string

// UnmarshalJSON decodes "[CLS]", or {"content": "[CLS]", ...} as written by older versions of transformers.
func (n *tokenName) UnmarshalJSON(raw []byte) error {
	if raw[0] != '{' {
		return json.Unmarshal(raw, (*string)(n))
	}
	var token struct {
		Name string `json:"content"`
	}
	err := json.Unmarshal(raw, &token)
	*n = tokenName(token.Name)
	return err
}
