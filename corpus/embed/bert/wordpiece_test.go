package bert

import (
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func readTestdata(t *testing.T, name string, into any) {
	t.Helper()
	raw, err := os.ReadFile("testdata/" + name)
	if err == nil {
		err = json.Unmarshal(raw, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// testdata/reference.py writes the reference.
func TestTokensAreThoseOfTheReference(t *testing.T) {
	t.Parallel()
	var reference []struct {
		Text string  `json:"text"`
		IDs  []int32 `json:"ids"`
	}
	readTestdata(t, "tokens.json", &reference)
	if len(reference) < 130 {
		t.Fatalf("got %d texts in the reference, want at least 130", len(reference))
	}
	open(t, Config{}) // so that a model that is missing is said
	fromJSON, err := readTokenizer(fetched)
	if err != nil {
		t.Fatal(err)
	}
	fromLines, err := readVocabulary(fetched)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range reference {
		for name, tokenizer := range map[string]*tokenizer{"tokenizer.json": fromJSON, "vocab.txt": fromLines} {
			got := []int32{tokenizer.start}
			for _, token := range tokenizer.encodeText(r.Text) {
				got = append(got, token.id)
			}
			if got = append(got, tokenizer.end); !slices.Equal(got, r.IDs) {
				t.Errorf("%s: %q has the tokens\n got %v\nwant %v", name, r.Text, got, r.IDs)
			}
		}
	}
}

// testdata/tokens.py writes the reference: texts drawn by lot from twenty scripts.
func TestTokensOfTextsByLotAreThoseOfTheReference(t *testing.T) {
	t.Parallel()
	open(t, Config{}) // so that a model that is missing is said
	tokenizer, err := readTokenizer(fetched)
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.Open("testdata/tokens.jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	texts, differ := 0, 0
	for d := json.NewDecoder(lines); d.More(); texts++ {
		var text string
		var want []int32
		if err := d.Decode(&[]any{&text, &want}); err != nil {
			t.Fatal(err)
		}
		got := []int32{tokenizer.start}
		for _, token := range tokenizer.encodeText(text) {
			got = append(got, token.id)
		}
		if got = append(got, tokenizer.end); !slices.Equal(got, want) {
			if differ++; differ <= 20 {
				t.Errorf("%q has the tokens\n got %v\nwant %v", text, got, want)
			}
		}
	}
	if texts != 10_000 || differ > 0 {
		t.Errorf("of %d texts %d have other tokens, want none of 10,000", texts, differ)
	}
}

// A folder of older libraries has vocab.txt alone, and names the tokens around texts beside it.
func TestAVocabularyOfLinesNamesItsMarks(t *testing.T) {
	t.Parallel()
	for said, want := range map[string][]int32{
		`{"cls_token":"<s>","sep_token":{"content":"</s>","lstrip":false},"unk_token":"<unk>"}`: {0, 2, 1, 3},
		`{}`: {4, 6, 5, 3},
	} {
		dir := t.TempDir()
		for name, body := range map[string]string{
			"vocab.txt": "<s>\n<unk>\n</s>\nroof\n[CLS]\n[UNK]\n[SEP]\n", "tokenizer_config.json": said,
		} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(body), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		tokenizer, err := readTokenizer(dir)
		if err != nil {
			t.Fatal(err)
		}
		got := []int32{tokenizer.start, tokenizer.end}
		for _, token := range tokenizer.encodeText("slate roof") {
			got = append(got, token.id)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: got the marks and tokens %v, want %v", said, got, want)
		}
	}
}
