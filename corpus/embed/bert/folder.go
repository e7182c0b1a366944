package bert

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Limits for the memory that a model's folder can use, far above all models known to work: the tokenizer.json of
// XLM-R has 17 MB and a vocabulary of 250,002 pieces.
const (
	maxConfig     = 64 << 20 // bytes of a file other than the weights
	maxVocabulary = 1 << 21
)

// config is the part of config.json that the forward pass needs. The names are those of Hugging Face's library
// transformers.
type config struct {
	Type       string  `json:"model_type"`
	Hidden     int     `json:"hidden_size"`
	Inner      int     `json:"intermediate_size"`
	Heads      int     `json:"num_attention_heads"`
	Layers     int     `json:"num_hidden_layers"`
	Positions  int     `json:"max_position_embeddings"`
	Types      int     `json:"type_vocab_size"`
	Tokens     int     `json:"vocab_size"`
	Activation string  `json:"hidden_act"`
	Epsilon    float64 `json:"layer_norm_eps"`
	Position   string  `json:"position_embedding_type"`
	// of xlm-roberta and mpnet: positions begin after it
	Padding *int `json:"pad_token_id,omitempty"`
	Buckets int  `json:"relative_attention_num_buckets,omitempty"` // of mpnet
}

// firstPosition returns the position of the first token. BERT counts from 0; the others begin after the padding ID,
// which is 1 in models trained with fairseq.
func (c *config) firstPosition() int {
	if c.Padding == nil {
		return 0
	}
	return *c.Padding + 1
}

// folder holds the settings of a model's folder.
type folder struct {
	config
	window                     int  // context window in tokens, including the two special tokens
	poolFirst                  bool // pool by the first token, else by the mean of all
	queryPrefix, passagePrefix string
}

// readFolder reads and validates the settings in a model's folder. config.json is required, the files of
// sentence-transformers are optional. Their defaults are the model's maximum window, mean pooling and no prefixes.
func readFolder(dir string) (f folder, err error) {
	if err := readJSON(dir, "config.json", &f.config); err != nil {
		return f, err
	}
	if err := f.checkConfig(); err != nil {
		return f, fmt.Errorf("%s can't be used: %w", filepath.Join(dir, "config.json"), err)
	}
	// The first two of XLM-R's 514 positions are never used, which leaves 512.
	f.window = f.Positions - f.firstPosition()
	var sentence struct {
		Longest int `json:"max_seq_length"`
	}
	if err := readJSON(dir, "sentence_bert_config.json", &sentence); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return f, err
	}
	if sentence.Longest > 0 {
		f.window = min(f.window, sentence.Longest)
	}
	// The minimum is two special tokens and one of the text.
	if f.window < 3 {
		return f, fmt.Errorf("the window of the model in %s has %d tokens", dir, f.window)
	}
	if f.poolFirst, err = readPooling(dir); err != nil {
		return f, err
	}
	// Models such as E5 were trained with the prefixes "query: " and "passage: ", and are much worse without them.
	var prompts struct {
		Prompts map[string]string `json:"prompts"`
	}
	err = readJSON(dir, "config_sentence_transformers.json", &prompts)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return f, err
	}
	f.queryPrefix = prompts.Prompts["query"]
	f.passagePrefix = cmp.Or(prompts.Prompts["passage"], prompts.Prompts["document"])
	return f, nil
}

// checkConfig sets the defaults of transformers, and returns an error for unsupported features and for sizes beyond
// any model, which would exhaust memory.
func (c *config) checkConfig() error {
	if c.Type != "mpnet" {
		c.Buckets = 0
	}
	switch c.Type {
	// pad_token_id shifts no positions in BERT, regardless of the file.
	case "bert":
		c.Padding = nil
	case "xlm-roberta":
		if c.Padding == nil {
			c.Padding = new(1)
		}
	// MPNet has no token types and always pads with 1. Its attention adds a learned bias by relative distance.
	case "mpnet":
		c.Padding, c.Types, c.Buckets = new(1), 1, cmp.Or(c.Buckets, distanceBuckets)
		if c.Buckets != distanceBuckets {
			return fmt.Errorf("it tells %d kinds of distances apart instead of %d", c.Buckets, distanceBuckets)
		}
	default:
		return fmt.Errorf("the model's type is %q; only bert, xlm-roberta and mpnet can be used", c.Type)
	}
	// gelu is the exact function with erf; "gelu_new" is its approximation with tanh and gives slightly different
	// vectors.
	if c.Activation != "gelu" {
		return fmt.Errorf("its activation is %q instead of gelu", c.Activation)
	}
	if p := cmp.Or(c.Position, "absolute"); p != "absolute" {
		return fmt.Errorf("its positions are %q instead of absolute", p)
	}
	// The defaults of transformers' BertConfig.
	c.Types, c.Epsilon = cmp.Or(c.Types, 2), cmp.Or(c.Epsilon, 1e-12)
	for _, size := range []struct {
		name      string
		got, most int
	}{
		{"hidden_size", c.Hidden, 8192}, {"intermediate_size", c.Inner, 32768}, {"num_attention_heads", c.Heads, 256},
		{"num_hidden_layers", c.Layers, 128}, {"max_position_embeddings", c.Positions, 32768},
		{"type_vocab_size", c.Types, 64}, {"vocab_size", c.Tokens, maxVocabulary},
	} {
		if size.got < 1 || size.got > size.most {
			return fmt.Errorf("%s is %d, not between 1 and %d", size.name, size.got, size.most)
		}
	}
	if first := c.firstPosition(); first < 0 || first >= c.Positions {
		return fmt.Errorf("its positions begin at %d of %d", first, c.Positions)
	}
	// Each head uses an equal part of a token's vector.
	if c.Hidden%c.Heads != 0 {
		return fmt.Errorf("its %d dimensions can't be shared by %d heads", c.Hidden, c.Heads)
	}
	// This form also rejects NaN.
	if !(c.Epsilon > 0 && c.Epsilon < 1) {
		return fmt.Errorf("layer_norm_eps is %v", c.Epsilon)
	}
	return nil
}

// readPooling reports whether pooling uses the first token; the default is the mean of all tokens. modules.json
// lists the layers after the transformer. A dense layer would change the vectors and is rejected.
func readPooling(dir string) (first bool, err error) {
	var modules []struct {
		Path string `json:"path"`
		Type string `json:"type"`
	}
	if err := readJSON(dir, "modules.json", &modules); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		return false, err
	}
	for _, m := range modules {
		switch kind := m.Type[strings.LastIndex(m.Type, ".")+1:]; kind {
		case "Transformer", "Normalize":
		case "Pooling":
			// A path outside the folder could expose any file of the machine in an error message.
			if !filepath.IsLocal(m.Path) {
				return false, fmt.Errorf("modules.json names %q, which is not in the folder", m.Path)
			}
			var modes map[string]any
			if err := readJSON(dir, filepath.Join(m.Path, "config.json"), &modes); err != nil {
				return false, err
			}
			if first, err = poolingMode(modes); err != nil {
				return false, err
			}
		default:
			return false, fmt.Errorf("modules.json has a %s: only Transformer, Pooling and Normalize can be used", kind)
		}
	}
	return first, nil
}

// poolingMode parses the settings of a Pooling module. Exactly one mode must be on.
func poolingMode(modes map[string]any) (first bool, err error) {
	var on []string
	for name, value := range modes {
		if mode, ok := strings.CutPrefix(name, "pooling_mode_"); ok && value == true {
			on = append(on, mode)
		}
	}
	if mode, ok := modes["pooling_mode"].(string); ok { // format of newer versions
		on = []string{mode}
	}
	if len(on) == 1 {
		switch on[0] {
		case "cls_token", "cls":
			return true, nil
		case "mean_tokens", "mean":
			return false, nil
		}
	}
	return false, fmt.Errorf("the model's pooling is %v: only that of the first token, or the mean, can be used", on)
}

// readJSON decodes a JSON file of the folder. A missing file returns fs.ErrNotExist.
func readJSON(dir, name string, into any) error {
	raw, err := readFile(dir, name)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("%s: %w", filepath.Join(dir, name), err)
	}
	return nil
}

// readFile reads a file of the folder, up to maxConfig bytes.
func readFile(dir, name string) ([]byte, error) {
	f, err := os.Open(filepath.Join(dir, name))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxConfig+1))
	if err == nil && len(raw) > maxConfig {
		err = fmt.Errorf("%s has over %d bytes", f.Name(), maxConfig)
	}
	return raw, err
}
