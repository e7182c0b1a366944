package extract

import (
	"context"
	"strings"

	"footnote/corpus"
)

// readToy reads a text whose words stand between tildes.
func readToy(ctx context.Context, src string, f corpus.File) (corpus.Extracted, error) {
	return plainText(ctx, strings.ReplaceAll(src, "~", " "), f)
}
