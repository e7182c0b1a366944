package sources

import "github.com/footnote/footnote/chat"

// maxKept is how many bytes of text one listing may keep at once. A hundred thousand paths of 600 bytes fit.
const maxKept = 64 << 20

// ErrTooLarge ends a listing that would take more memory than one may.
var ErrTooLarge = &chat.Error{
	Code: chat.CodeTooLarge,
	Message: "What the server lists is too large to be read safely. Choose a smaller part of it, or ask who runs the " +
		"server.",
}

// Kept counts the text that a listing keeps until it ends, such as the keys that were seen. It is used by one
// goroutine.
type Kept int

// Add counts texts that are kept from now on. It fails with ErrTooLarge beyond 64 MiB.
func (k *Kept) Add(texts ...string) error {
	for _, text := range texts {
		*k += Kept(len(text))
	}
	if *k > maxKept {
		return ErrTooLarge
	}
	return nil
}
