package git

import (
	"bytes"
	"context"
	"crypto/sha1"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus/sources/placestest"
)

// TestWalkEndsInRepeatedTrees serves three trees that repeat one tree of 100,000 names that are not listed.
func TestWalkEndsInRepeatedTrees(t *testing.T) {
	t.Parallel()
	file := made{kind: blobObject, data: "# A"}
	var names []any
	for i := range 100_000 {
		names = append(names, fmt.Sprintf(".%05d", i), file)
	}
	repeat := func(n int, of made) made {
		var entries []any
		for i := range n {
			entries = append(entries, fmt.Sprint(i), of)
		}
		return folderOf(entries...)
	}
	bottom := folderOf(names...)
	middle := repeat(300, bottom)
	top := repeat(300, middle)
	commit := commitOf(top)
	h := speaking(commit, packed(4, commit, top, middle, bottom))
	_, err := placestest.List(t, openSpeaking(t, h))
	placestest.WantCode(t, "repeated trees", err, chat.CodeTooLarge)
}

// TestWalkEndsWithItsContext cancels the context at the first item.
func TestWalkEndsWithItsContext(t *testing.T) {
	t.Parallel()
	file := made{kind: blobObject, data: "# A"}
	var names []any
	for i := range 1000 {
		names = append(names, fmt.Sprintf("%d.md", i), file)
	}
	top := folderOf(names...)
	commit := commitOf(top)
	p := openSpeaking(t, speaking(commit, packed(2, commit, top)))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	items, last := 0, error(nil)
	for _, err := range p.List(ctx) {
		cancel()
		items, last = items+1, err
	}
	if items != 2 || !errors.Is(last, context.Canceled) {
		t.Errorf("got %d items and %v, want one item and the end of the context", items-1, last)
	}
}

// TestPackBoundsOneTree sends a tree and a difference that are each larger than one tree may be.
func TestPackBoundsOneTree(t *testing.T) {
	t.Parallel()
	large := made{kind: treeObject, data: strings.Repeat("\x00", maxTree+1)}
	base := folderOf()
	difference := made{kind: namedDifference, data: base.name() + "\x00\x00" + large.data}
	for name, pack := range map[string][]byte{
		"a tree": packed(1, large), "a difference": packed(2, base, difference),
	} {
		_, err := placestest.List(t, openSpeaking(t, speaking(commitOf(base), pack)))
		placestest.WantCode(t, name, err, chat.CodeTooLarge)
	}
}

// TestPackBoundsDifferences sends differences that unpack to much more than the objects that they make.
func TestPackBoundsDifferences(t *testing.T) {
	t.Parallel()
	base := folderOf("a.md", made{kind: blobObject, data: "# A"})
	size := string(rune(len(base.data)))
	difference := made{kind: namedDifference, data: base.name() + size + "\x00" + strings.Repeat("\x00", 1<<10)}
	pack := packed(2, base, difference)
	p, err := openPack(bytes.NewReader(pack), format{"sha1", sha1.Size, sha1.New}, want{
		keep: func(kind) bool { return true }, room: 1 << 20, most: 1 << 20, skip: 1 << 9,
	})
	for err == nil {
		_, err = p.next()
	}
	if !errors.Is(err, errRoom) {
		t.Errorf("got %v, want %v", err, errRoom)
	}
}
