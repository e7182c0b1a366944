package office

import (
	"os/exec"

	"github.com/footnote/footnote/corpus/extract"
	"github.com/footnote/footnote/corpus/extract/child"
)

// Unconfined has LibreOffice run as any program of the server does.
func (o *LibreOffice) Unconfined() *LibreOffice {
	o.confine = func(*exec.Cmd, child.Bounds) {}
	return o
}

// Attached has LibreOffice draw files with all their references.
func (o *LibreOffice) Attached() *LibreOffice {
	o.detach = func(from, to string, _ extract.Format) error { return copyFile(from, to) }
	return o
}
