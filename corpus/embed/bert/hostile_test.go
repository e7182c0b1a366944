package bert

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
)

// writeWeights writes a safetensors file with 16 bytes of data.
func writeWeights(t *testing.T, header string, said uint64) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), weightsFile)
	body := binary.LittleEndian.AppendUint64(nil, said)
	body = append(body, header...)
	body = append(body, make([]byte, 16)...)
	if err := os.WriteFile(path, body, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestHostileWeightsAreRejected(t *testing.T) {
	t.Parallel()
	of := func(entry string) string { return `{"__metadata__":{"format":"pt"},"w":` + entry + `}` }
	for _, tt := range []struct {
		name, header string
		said         uint64 // the header's size; 0: the true one
		want         string
	}{
		{"header beyond the file", `{}`, 1 << 12, "its header has 4096 bytes"},
		{"header beyond all memory", `{}`, math.MaxUint64, "its header has"},
		{"header within the file but too large", `{}`, maxHeader + 1, "its header has"},
		{"no JSON", `{"w":`, 0, "its header"},
		{"a list", `[]`, 0, "its header"},
		{"offsets beyond the data", of(`{"dtype":"F32","shape":[2,2],"data_offsets":[4,20]}`), 0,
			"lies at [4 20] of 16"},
		{"offsets before the data", of(`{"dtype":"F32","shape":[2,2],"data_offsets":[-8,8]}`), 0, "lies at"},
		{"offsets backwards", of(`{"dtype":"F32","shape":[2,2],"data_offsets":[16,0]}`), 0, "lies at"},
		{"one offset", of(`{"dtype":"F32","shape":[2,2],"data_offsets":[0]}`), 0, "lies at"},
		{"offset that no integer holds", of(`{"dtype":"F32","shape":[2,2],"data_offsets":[0,1e30]}`), 0, "tensor"},
		{"fewer bytes than the shape", of(`{"dtype":"F32","shape":[2,2],"data_offsets":[0,8]}`), 0,
			"8 bytes instead of 16"},
		{"another shape", of(`{"dtype":"F32","shape":[4],"data_offsets":[0,16]}`), 0, "shape [4] instead of [2 2]"},
		{"a shape whose product overflows", of(`{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,16]}`),
			0, "shape"},
		{"half precision", of(`{"dtype":"F16","shape":[2,2],"data_offsets":[0,8]}`), 0, "only F32"},
		{"missing", `{}`, 0, `"w" is missing`},
		{"right", of(`{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]}`), 0, ""},
		{"right, at an odd place", of(` {"dtype":"F32","shape":[2,2],"data_offsets":[0,16]}`), 0, ""},
	} {
		said := tt.said
		if said == 0 {
			said = uint64(len(tt.header))
		}
		w, err := openWeights(writeWeights(t, tt.header, said))
		if err == nil {
			var values []float32
			if values, err = w.tensorFloats("w", 2, 2); err == nil && len(values) != 4 {
				t.Errorf("%s: got %d numbers, want 4", tt.name, len(values))
			}
			if err := w.close(); err != nil {
				t.Error(err)
			}
		}
		if got := errorText(err); tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
	empty := filepath.Join(t.TempDir(), weightsFile)
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := openWeights(empty); err == nil {
		t.Error("got no error for an empty file, want one")
	}
	if _, err := openWeights(t.TempDir()); err == nil {
		t.Error("got no error for a folder, want one")
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestOtherModelsAreRejected(t *testing.T) {
	t.Parallel()
	const bert = `{"model_type":"bert","hidden_act":"gelu","hidden_size":4,"intermediate_size":8,` +
		`"num_attention_heads":2,"num_hidden_layers":1,"max_position_embeddings":16,"vocab_size":6}`
	xlm := strings.Replace(bert, `"bert"`, `"xlm-roberta","pad_token_id":1`, 1)
	for _, tt := range []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"nothing", nil, "config.json"},
		{"another type", map[string]string{"config.json": `{"model_type":"t5"}`}, `"t5"`},
		{"another activation", map[string]string{"config.json": strings.Replace(bert, "gelu", "relu", 1)}, "relu"},
		{"negative size", map[string]string{"config.json": strings.Replace(bert, ":4", ":-4", 1)}, "hidden_size is -4"},
		{"enormous size", map[string]string{"config.json": strings.Replace(bert, ":8", ":800000000", 1)},
			"intermediate_size"},
		{"heads", map[string]string{"config.json": strings.Replace(bert, "heads\":2", "heads\":3", 1)}, "3 heads"},
		{"positions behind the last",
			map[string]string{"config.json": strings.Replace(xlm, "token_id\":1", "token_id\":15", 1)},
			"begin at 16 of 16"},
		{"positions before the first",
			map[string]string{"config.json": strings.Replace(xlm, "token_id\":1", "token_id\":-2", 1)}, "begin at -1"},
		{"positions beyond all numbers",
			map[string]string{"config.json": strings.Replace(xlm, "token_id\":1", "token_id\":9223372036854775807", 1)},
			"begin at -9223372036854775808"},
		{"a window of 2 tokens",
			map[string]string{"config.json": strings.Replace(xlm, "token_id\":1", "token_id\":13", 1)},
			"has 2 tokens"},
		{"another number of distances",
			map[string]string{"config.json": strings.Replace(xlm, `"xlm-roberta"`,
				`"mpnet","relative_attention_num_buckets":64`, 1)}, "64 kinds"},
		{"another pooling",
			map[string]string{
				"config.json":           bert,
				"modules.json":          `[{"path":"1_Pooling","type":"sentence_transformers.models.Pooling"}]`,
				"1_Pooling/config.json": `{"pooling_mode_max_tokens":true}`,
			}, "max_tokens"},
		{"a pooling outside",
			map[string]string{"config.json": bert, "modules.json": `[{"path":"../..","type":"x.Pooling"}]`},
			"not in the folder"},
		{"a further module",
			map[string]string{"config.json": bert, "modules.json": `[{"path":"2_Dense","type":"x.Dense"}]`}, "Dense"},
		{"no weights", map[string]string{"config.json": bert}, weightsFile},
		{"no tensors", map[string]string{"config.json": bert, weightsFile: "\x02\x00\x00\x00\x00\x00\x00\x00{}"},
			"is missing"},
	} {
		dir := t.TempDir()
		for name, body := range tt.files {
			path := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(body), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := Open(Config{Dir: dir}); !strings.Contains(errorText(err), tt.want) || err == nil {
			t.Errorf("%s: got %v, want %q", tt.name, err, tt.want)
		}
	}
	dir := t.TempDir()
	for body, want := range map[string]string{
		`{"model":{"type":"BPE","vocab":{"a":0}}}`: "BPE",
		`{`: "JSON",
		`{"normalizer":{"type":"BertNormalizer"},"pre_tokenizer":{"type":"BertPreTokenizer"},` +
			`"model":{"vocab":{"[UNK]":-7}}}`: "-7",
		`{"normalizer":{"type":"BertNormalizer"},"pre_tokenizer":{"type":"BertPreTokenizer"},` +
			`"model":{"vocab":{"[UNK]":0}}}`: "[",
	} {
		if err := os.WriteFile(filepath.Join(dir, "tokenizer.json"), []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := readTokenizer(dir); !strings.Contains(errorText(err), want) || err == nil {
			t.Errorf("%s: got %v, want %q", body, err, want)
		}
	}
}

func TestRelativePositionsOfWrongShapeAreRejected(t *testing.T) {
	t.Parallel()
	const shape = `"encoder.relative_attention_bias.weight": {"dtype": "F32", "shape": [32, 3]`
	for other, want := range map[string]string{
		strings.Replace(shape, "[32, 3]", "[3, 32]", 1):        "[3 32] instead of [32 3]",
		strings.Replace(shape, "[32, 3]", "[64, 3]", 1):        "[64 3] instead of [32 3]",
		strings.Replace(shape, "[32, 3]", "[96]", 1):           "[96] instead of [32 3]",
		strings.Replace(shape, "relative_att", "relative_", 1): "is missing",
		shape: "",
	} {
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS("testdata/mpnet")); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, weightsFile)
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		size := binary.LittleEndian.Uint64(raw)
		header := strings.Replace(string(raw[8:8+size]), shape, other, 1)
		if other != shape && header == string(raw[8:8+size]) {
			t.Fatalf("header lacks %s", shape)
		}
		body := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
		body = append(append(body, header...), raw[8+size:]...)
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, body, 0o600); err != nil {
			t.Fatal(err)
		}
		e, err := Open(Config{Dir: dir})
		if got := errorText(err); want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%s: got %q, want %q", other, got, want)
		}
		if err == nil {
			_ = e.Close()
		}
	}
}

func TestHostileUnigramsAreRejected(t *testing.T) {
	t.Parallel()
	// a valid file, parts of which are replaced
	const right = `{"normalizer":null,"pre_tokenizer":{"type":"Metaspace","replacement":"▁"},"post_processor":null,` +
		`"model":{"type":"Unigram","unk_id":0,"byte_fallback":false,` +
		`"vocab":[["<unk>",0],["<s>",0],["</s>",0],["▁a",-1.5]]}}`
	long := strings.Repeat("a", longestPiece+1)
	for _, tt := range []struct{ name, part, by, want string }{
		{"right", "", "", ""},
		{"no list", `[["<unk>",0],["<s>",0],["</s>",0],["▁a",-1.5]]`, `{"a":0}`, "no list"},
		{"no vocabulary", `"vocab"`, `"words"`, "no list"},
		{"an empty vocabulary", `[["<unk>",0],["<s>",0],["</s>",0],["▁a",-1.5]]`, `[]`, "unk_id"},
		{"a score that is no number", "-1.5", "NaN", "invalid character 'N'"},
		{"a score beyond all numbers", "-1.5", "-1e999", "-1e999"},
		{"no score", `["▁a",-1.5]`, `["▁a"]`, "piece 3"},
		{"a score that is nothing", "-1.5", "null", "piece 3"},
		{"more than a score", "-1.5", "-1.5,1", "piece 3"},
		{"a piece that is no list", `["▁a",-1.5]`, `7`, "piece 3"},
		{"two million pieces", `["▁a",-1.5]`,
			`["▁a",-1.5]` + strings.Repeat(`,["b",-2]`, maxVocabulary), "over 2097152"},
		{"a long piece", "▁a", long, "too long"},
		{"an unknown token outside", `"unk_id":0`, `"unk_id":4`, "unk_id"},
		{"an unknown token before all", `"unk_id":0`, `"unk_id":-1`, "unk_id"},
		{"no unknown token", `"unk_id":0`, `"unk_id":null`, "unk_id"},
		{"bytes for what is unknown", `"byte_fallback":false`, `"byte_fallback":true`, "byte_fallback"},
		{"no token before a text", `["<s>",0]`, `["s",0]`, `no "<s>"`},
		{"a token with a negative id", `{"normalizer"`,
			`{"added_tokens":[{"id":-5,"content":"[CLS]","special":true}],"normalizer"`, ""},
		{"a token with a negative id around texts", `"post_processor":null`,
			`"added_tokens":[{"id":-5,"content":"[C]","special":true}],` +
				`"post_processor":{"type":"BertProcessing","cls":["[C]",1],"sep":["</s>",2]}`, `no "[C]"`},
		{"two tokens behind a text", `"post_processor":null`, `"post_processor":` +
			`{"type":"TemplateProcessing","single":[{"Sequence":{"id":"A"}},` +
			`{"SpecialToken":{"id":"</s>"}},{"SpecialToken":{"id":"</s>"}}]}`, "template"},
		{"another post-processor", `"post_processor":null`, `"post_processor":{"type":"ByteLevel"}`, "ByteLevel"},
		{"a mark that is no pair", `"post_processor":null`,
			`"post_processor":{"type":"BertProcessing","cls":7}`, "cls"},
		{"no pre-tokenizer", `"pre_tokenizer":{"type":"Metaspace","replacement":"▁"}`, `"pre_tokenizer":null`,
			"Metaspace"},
		{"another pre-tokenizer", "Metaspace", "ByteLevel", "Metaspace"},
		{"a pre-tokenizer that is nothing", `{"type":"Metaspace","replacement":"▁"}`,
			`{"type":"Sequence","pretokenizers":[null]}`, "Metaspace"},
		{"another space", `"▁"}`, `"_"}`, "Metaspace"},
		{"no space before the first word", `"▁"}`, `"▁","prepend_scheme":"never"}`, "Metaspace"},
		{"no space before a text", `"▁"}`, `"▁","add_prefix_space":false}`, "Metaspace"},
		{"words together", `"▁"}`, `"▁","split":false}`, "Metaspace"},
		{"another normalizer", `"normalizer":null`, `"normalizer":{"type":"Prepend"}`, `"Prepend"`},
		{"another normalizer inside", `"normalizer":null`,
			`"normalizer":{"type":"Sequence","normalizers":[{"type":"Nmt"},{"type":"ByteLevel"}]}`, `"ByteLevel"`},
		{"another expression", `"normalizer":null`,
			`"normalizer":{"type":"Replace","pattern":{"Regex":"(a+)+"}}`, `(a+)+`},
		{"a table that is no base64", `"normalizer":null`,
			`"normalizer":{"type":"Precompiled","precompiled_charsmap":"*"}`, "base64"},
		{"no table", `"normalizer":null`, `"normalizer":{"type":"Precompiled"}`, "precompiled_charsmap"},
		{"a table that is cut", `"normalizer":null`,
			`"normalizer":{"type":"Precompiled","precompiled_charsmap":"/P///wAAAAA="}`, "cut"},
		{"a table without a tree", `"normalizer":null`,
			`"normalizer":{"type":"Precompiled","precompiled_charsmap":"AAAAAA=="}`, "cut"},
		{"a table whose texts are no text", `"normalizer":null`,
			`"normalizer":{"type":"Precompiled","precompiled_charsmap":"BAAAAAAAAAD/"}`, "UTF-8"},
	} {
		body := strings.Replace(right, tt.part, tt.by, 1)
		if body == right && tt.part != "" {
			t.Fatalf("%s: file lacks %s", tt.name, tt.part)
		}
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "tokenizer.json"), []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := readTokenizer(dir)
		if got := errorText(err); tt.want == "" && got != "" || !strings.Contains(got, tt.want) ||
			got != "" && !strings.Contains(got, "tokenizer.json") {
			t.Errorf("%s: got %q, want %q and the file's name", tt.name, got, tt.want)
		}
	}
}

// A table whose trie leads out of bounds must leave texts unchanged.
func TestHostileCharacterMapsKeepText(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name       string
		root       uint32 // offset from the trie's root
		way, value uint32 // from the unit of an a, to one with the offset of a text
		want       string
	}{
		{"right", 0, 1, 0, "b"},
		{"the second text", 0, 1, 2, "é"},
		{"the end", 0, 1, 4, ""},
		{"behind all texts", 0, 1, 5, "a"},
		{"far behind all texts", 0, 1, 1<<31 - 1, "a"},
		{"within a character", 0, 1, 3, "a"},
		{"a text outside the tree", 0, 1 << 10, 0, "a"},
		{"a first unit outside the tree", 1 << 20, 1, 0, "a"},
	} {
		units := make([]uint32, 128)
		units[0], units['a'], units['a'^1] = tt.root<<10, 'a'|1<<8|tt.way<<10, tt.value
		raw := binary.LittleEndian.AppendUint32(nil, uint32(4*len(units)))
		for _, unit := range units {
			raw = binary.LittleEndian.AppendUint32(raw, unit)
		}
		table, err := newCharsmap(append(raw, "b\x00é"...))
		if err != nil {
			t.Fatal(err)
		}
		if got, want := table.fold("a世\x00\xff"), tt.want+"世\x00\xff"; got != want {
			t.Errorf("%s: got %q, want %q", tt.name, got, want)
		}
	}
}

func TestPoolProcessesEachTextOnce(t *testing.T) {
	for _, yields := range []bool{false, canYield()} {
		c := concurrencyLimit{slots: make(chan struct{}, 3), yields: yields}
		processors := runtime.GOMAXPROCS(0)
		var done [50]atomic.Int32
		var now, most atomic.Int32
		err := c.run(t.Context(), len(done), func(_ context.Context, i int) error {
			for n := now.Add(1); ; {
				if was := most.Load(); was >= n || most.CompareAndSwap(was, n) {
					break
				}
			}
			done[i].Add(1)
			runtime.Gosched()
			now.Add(-1)
			return nil
		})
		if err != nil || most.Load() > 3 {
			t.Errorf("threads that give way %t: %v, %d at once, want at most 3", yields, err, most.Load())
		}
		for i := range done {
			if n := done[i].Load(); n != 1 {
				t.Errorf("threads that give way %t: number %d was done %d times, want once", yields, i, n)
			}
		}
		if after := runtime.GOMAXPROCS(0); after != processors {
			t.Errorf("threads that give way %t: %d processors are left, want %d", yields, after, processors)
		}
	}
}

func TestPoolStopsAtFirstError(t *testing.T) {
	failed := errors.New("the weights are gone")
	var begun atomic.Int32
	limit := concurrencyLimit{slots: make(chan struct{}, 2)}
	err := limit.run(t.Context(), 1000, func(ctx context.Context, i int) error {
		switch n := begun.Add(1); {
		case n == 5:
			return failed
		case n > 5: // otherwise the other thread starts many before it receives the error
			<-ctx.Done()
		}
		return ctx.Err()
	})
	if !errors.Is(err, failed) || begun.Load() > 10 {
		t.Errorf("%d were begun, error %v; want few and %v", begun.Load(), err, failed)
	}
}
