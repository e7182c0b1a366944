package bert

// tokenizer cuts texts into the tokens that a model knows. It is safe for concurrent use.
type tokenizer struct {
	encoder
	start  int32 // before each text
	end    int32 // behind it
	tokens int   // ids go from 0 to tokens-1
}

// encoder returns the tokens of a text, without those before and behind it.
type encoder interface {
	encodeText(text string) []token
}

// A token is a piece of a word.
type token struct {
	id   int32
	head bool // it begins a word
}
