package page

import (
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/views"
)

// repeatsFold is how many calls of one tool, one after the other, become one row.
// It is a choice: two rows are read as fast as one that has to be opened.
const repeatsFold = 3

// foldRepeat puts s, the newest row of the timeline, into one row with the calls of the same tool right before it. The
// returned parent is that row, nil if there is none; moved are the rows that it took in.
//
// To begin such a row, the calls before the newest must have ended well and be without children: the others have
// something to say.
func (f *fold) foldRepeat(s *views.Step, tool string) (parent *views.Step, moved []*views.Step) {
	rows := f.turn.Steps
	last := len(rows) - 1
	if last < 0 || rows[last] != s || tool == "" {
		return nil, nil
	}
	if last > 0 && rows[last-1].Repeat && rows[last-1].Children[0].ToolName == tool {
		parent = rows[last-1]
		f.turn.Steps = rows[:last]
		f.put(parent, s)
		return parent, nil
	}
	first := last - repeatsFold + 1
	if first < 0 {
		return nil, nil
	}
	for _, row := range rows[first:last] {
		if row.ToolName != tool || row.Grouping || len(row.Children) > 0 || row.Status != chat.StatusComplete {
			return nil, nil
		}
	}
	moved = append(moved, rows[first:last]...)
	// No call has such an id, since a colon and a call's own id follow the word.
	parent = f.newStep("repeat:"+moved[0].CallID, moved[0].Started)
	parent.Grouping, parent.Repeat = true, true
	f.turn.Steps = append(rows[:first:first], parent)
	for _, row := range moved {
		f.put(parent, row)
	}
	f.put(parent, s)
	return parent, moved
}

// put makes a step the child of another.
func (f *fold) put(parent, child *views.Step) {
	parent.Children = append(parent.Children, child)
	f.kids[child.CallID] = parent.CallID
}
