package bert

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// unzipTestdata returns the content of a compressed file in testdata.
func unzipTestdata(t testing.TB, name string) []byte {
	t.Helper()
	file, err := os.Open("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(unzipped)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// unigramFile decodes the tokenizer.json in testdata, which has the form of XLM-R's.
func unigramFile(t testing.TB) (file map[string]any) {
	t.Helper()
	if err := json.Unmarshal(unzipTestdata(t, "unigram/tokenizer.json.gz"), &file); err != nil {
		t.Fatal(err)
	}
	return file
}

// readTokenizerOf parses a tokenizer.json.
func readTokenizerOf(t testing.TB, file any) (*tokenizer, error) {
	t.Helper()
	raw, err := json.Marshal(file)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "tokenizer.json"), raw, 0o600); err != nil {
		t.Fatal(err)
	}
	return readTokenizer(dir)
}

// testdata/unigram.py writes the reference: random texts, for each form of file.
func TestUnigramPiecesMatchReference(t *testing.T) {
	t.Parallel()
	lines := json.NewDecoder(bytes.NewReader(unzipTestdata(t, "unigram/tokens.jsonl.gz")))
	for range 4 {
		var line map[string]json.RawMessage
		if err := lines.Decode(&line); err != nil {
			t.Fatal(err)
		}
		file := unigramFile(t)
		table, _ := file["normalizer"].(map[string]any)
		for part, raw := range line {
			var other map[string]any
			if json.Unmarshal(raw, &other) == nil {
				fillTable(other, table["precompiled_charsmap"])
				file[part] = other
			}
		}
		tokenizer, err := readTokenizerOf(t, file)
		if err != nil {
			t.Fatal(err)
		}
		var texts [][]json.RawMessage
		if err := json.Unmarshal(line["texts"], &texts); err != nil {
			t.Fatal(err)
		}
		differ := 0
		for _, pair := range texts {
			var text string
			var want []int32
			if err := json.Unmarshal(pair[0], &text); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(pair[1], &want); err != nil {
				t.Fatal(err)
			}
			got := []int32{tokenizer.start}
			for _, token := range tokenizer.encodeText(text) {
				got = append(got, token.id)
			}
			if got = append(got, tokenizer.end); !slices.Equal(got, want) {
				if differ++; differ <= 10 {
					t.Errorf("%.300s: %q has the tokens\n got %v\nwant %v", line["normalizer"], text, got, want)
				}
			}
		}
		if len(texts) < 1000 || differ > 0 {
			t.Errorf("of %d texts %d have other tokens, want none of 1000 or more", len(texts), differ)
		}
	}
}

// fillTable inserts the character table where the reference omits it.
func fillTable(part map[string]any, table any) {
	if part["type"] == "Precompiled" {
		part["precompiled_charsmap"] = table
	}
	steps, _ := part["normalizers"].([]any)
	for _, step := range steps {
		if step, ok := step.(map[string]any); ok {
			fillTable(step, table)
		}
	}
}

func TestSpecialTokenNamesAreText(t *testing.T) {
	t.Parallel()
	tokenizer, err := readTokenizerOf(t, unigramFile(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, token := range tokenizer.encodeText("before </s> and <s>behind<mask>") {
		if token.id <= 2 || token.id == int32(tokenizer.tokens-1) {
			t.Errorf("text has the special token %d", token.id)
		}
	}
}

func TestPiecesMarkWordStarts(t *testing.T) {
	t.Parallel()
	u := &unigram{unk: 0}
	list := []piece{{"<unk>", 0}, {"▁", -3}, {"▁ab", -2}, {"a", -4}, {"b", -4}, {"世", -4}, {"。", -4}}
	if err := u.setPieces(list, nil); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string][]token{
		"":      {},
		"ab b":  {{2, true}, {1, true}, {4, false}},
		"abab":  {{2, true}, {3, false}, {4, false}},
		"xyb":   {{1, true}, {0, false}, {4, false}},
		"世。世a":  {{1, true}, {5, true}, {6, false}, {5, true}, {3, false}},
		"bq人":   {{1, true}, {4, false}, {0, false}},
		"世界人a":  {{1, true}, {5, true}, {0, true}, {3, false}},
		"\xffb": {{1, true}, {0, false}, {4, false}},
	} {
		if got := u.encodeText(text); !slices.Equal(got, want) {
			t.Errorf("%q has the tokens %v, want %v", text, got, want)
		}
	}
}

// The score of an unknown character is 10 below the minimum.
func TestUnknownCharactersScoreLowest(t *testing.T) {
	t.Parallel()
	for score, want := range map[float64][]token{
		-10.5: {{1, true}, {2, false}, {4, false}}, // -21.5 in all; with an unknown one -22
		-11:   {{1, true}, {0, false}, {3, false}}, // -22 in all, as with an unknown one, which is found first
	} {
		u := &unigram{unk: 0}
		list := []piece{{"<unk>", 0}, {"▁", 0}, {"ab", -11}, {"bcd", -1}, {"cd", score}}
		if err := u.setPieces(list, nil); err != nil {
			t.Fatal(err)
		}
		if got := u.encodeText("abcd"); !slices.Equal(got, want) {
			t.Errorf("with a piece of %g: got %v, want %v", score, got, want)
		}
	}
}

func TestNormalizersByName(t *testing.T) {
	t.Parallel()
	for normalizer, want := range map[string]string{
		`null`:                                " İΣ--  ﬁ\n",
		`{"type":"Lowercase"}`:                " i\u0307σ--  ﬁ\n",
		`{"type":"NFKC"}`:                     " İΣ--  fi\n",
		`{"type":"NFKD"}`:                     " I\u0307Σ--  fi\n",
		`{"type":"NFC"}`:                      " İΣ--  ﬁ\n",
		`{"type":"NFD"}`:                      " I\u0307Σ--  ﬁ\n",
		`{"type":"Nmt"}`:                      " İΣ--  ﬁ ",
		`{"type":"Strip","strip_left":true}`:  "İΣ--  ﬁ\n",
		`{"type":"Strip","strip_right":true}`: " İΣ--  ﬁ",
		`{"type":"Replace","pattern":{"Regex":" {2,}"},"content":"_"}`:             " İΣ--_ﬁ\n",
		`{"type":"Replace","pattern":{"String":"-"},"content":"+-"}`:               " İΣ+-+-  ﬁ\n",
		`{"type":"Sequence","normalizers":[{"type":"NFKC"},{"type":"Lowercase"}]}`: " i\u0307σ--  fi\n",
	} {
		var s *step
		if err := json.Unmarshal([]byte(normalizer), &s); err != nil {
			t.Fatal(err)
		}
		folds, err := s.folds()
		if err != nil {
			t.Fatal(err)
		}
		got := " İΣ--  ﬁ\n"
		for _, fold := range folds {
			got = fold(got)
		}
		if got != want {
			t.Errorf("%s makes %q, want %q", normalizer, got, want)
		}
	}
}
