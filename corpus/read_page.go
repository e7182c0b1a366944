package corpus

import "strconv"

// ReadPage is the text that was recognised in the picture of a page. Package pdf makes blocks of it as of a page with
// text.
type ReadPage struct {
	Number        int // from 1
	Turn          int // quarters clockwise by which the picture was turned, so that its text is upright
	Width, Height int // of the upright picture, in pixels
	Lines         []ReadLine
}

// ReadLine is a line of a picture.
type ReadLine struct {
	Words []ReadWord
	Size  float64 // of its letters, from the top of the tallest to the bottom of the lowest, in pixels
}

// ReadWord is a word of a picture and where it stands, in pixels from the top left. A word whose box is empty has no
// place: models say what a page says, and not where.
type ReadWord struct {
	Text           string
	X0, Y0, X1, Y1 float64
}

// MetaTurned is the key of Meta under which a reader of pictures says which pages it turned to read them: the quarters,
// clockwise, by the number of the page. They are drawn so.
const MetaTurned = "turned"

// TurnOf is by how many quarters, clockwise, page n is turned when it is drawn.
func (d Document) TurnOf(n int) int {
	turned, _ := d.Meta[MetaTurned].(map[string]any)
	quarters, _ := turned[strconv.Itoa(n)].(float64)
	return int(quarters) & 3
}

// MetaUnread is the key of Meta under which a reader says which pages of a file are pictures that nothing could read:
// "pages 3, 7".
const MetaUnread = "unread"
