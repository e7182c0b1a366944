package bert

// tokenizer cuts texts into the tokens that a model knows. It is safe for concurrent use.
type tokenizer struct {
	encoder
	start  int32 // before each text
	end    int32 // behind it
	tokens int   // ids go from 0 to tokens-1
	pair   pairForm
}

// pairForm says how two texts are put together: a start, the first text, ends, the second text, an end. BERT's is [CLS]
// a [SEP] b [SEP], RoBERTa's <s> a </s></s> b </s>.
type pairForm struct {
	ends int // between the texts; 0: the model's tokenizer has another form
	kind int // of the second text: 1, or 0 as that of the first
}

var (
	pairOfBERT    = pairForm{ends: 1, kind: 1}
	pairOfRoBERTa = pairForm{ends: 2, kind: 0}
)

// encoder returns the tokens of a text, without those before and behind it.
type encoder interface {
	encodeText(text string) []token
}

// A token is a piece of a word.
type token struct {
	id   int32
	head bool // it begins a word
}
