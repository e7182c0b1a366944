package office

import (
	"os/exec"

	"github.com/footnote/footnote/corpus/extract"
	"github.com/footnote/footnote/corpus/extract/child"
)

// Unconfined disables LibreOffice's confinement.
func (o *LibreOffice) Unconfined() *LibreOffice {
	o.confine = func(*exec.Cmd, child.Bounds) {}
	return o
}

// Attached keeps all external references of files.
func (o *LibreOffice) Attached() *LibreOffice {
	o.detach = func(from, to string, _ extract.Format) error { return copyFile(from, to) }
	return o
}
