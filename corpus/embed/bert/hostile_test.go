package bert

import (
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"strings"
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

func TestHostileWeightsAreRefused(t *testing.T) {
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

func TestFoldersOfOtherModelsAreRefused(t *testing.T) {
	t.Parallel()
	const bert = `{"model_type":"bert","hidden_act":"gelu","hidden_size":4,"intermediate_size":8,` +
		`"num_attention_heads":2,"num_hidden_layers":1,"max_position_embeddings":16,"vocab_size":6}`
	for _, tt := range []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"nothing", nil, "config.json"},
		{"another type", map[string]string{"config.json": `{"model_type":"xlm-roberta"}`}, "xlm-roberta"},
		{"another activation", map[string]string{"config.json": strings.Replace(bert, "gelu", "relu", 1)}, "relu"},
		{"negative size", map[string]string{"config.json": strings.Replace(bert, ":4", ":-4", 1)}, "hidden_size is -4"},
		{"enormous size", map[string]string{"config.json": strings.Replace(bert, ":8", ":800000000", 1)},
			"intermediate_size"},
		{"heads", map[string]string{"config.json": strings.Replace(bert, "heads\":2", "heads\":3", 1)}, "3 heads"},
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
		`{"model":{"type":"Unigram","vocab":[["a",-1.5]]}}`: "Unigram",
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
