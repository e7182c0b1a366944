package views

import "footnote/corpus"

// MaxBlockNodes bounds the sum of BlockNodes of the blocks that are drawn at once.
const MaxBlockNodes = maxNodes

// plainNodes is the BlockNodes of a block that is shown as plain text: its notice and its text.
const plainNodes = 4

// BlockNodes returns how many nodes a block of a document counts against MaxBlockNodes. It is never above
// MaxBlockNodes: a larger block is shown as plain text.
func BlockNodes(b corpus.Block) int {
	if tooLarge(b) {
		return plainNodes
	}
	return formattedNodes(b)
}

// tooLarge reports whether a block is beyond the budget by itself.
func tooLarge(b corpus.Block) bool { return formattedNodes(b) > MaxBlockNodes }

// formattedNodes counts the nodes of a block with its form. A cell is an element and its text. A mark cuts the text
// in up to two more pieces, each of them an element and its text.
func formattedNodes(b corpus.Block) int {
	n := 2 + 4*len(b.Marks)
	for _, row := range b.Cells {
		n += 1 + 2*len(row)
	}
	return n
}
