// Package office renders Office files as PDF with LibreOffice, with their print layout.
//
// The input is a copy of a file without its external references, the output is a PDF at a path of the caller. The
// viewer renders that like any other PDF. The text of the document is never taken from the PDF: package docx and its
// like read it.
//
// Two layers keep a file from showing others: detach.go removes every reference that leads out of the file, and
// package child confines LibreOffice to that one file. Each layer is sufficient without the other.
package office

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract"
	"github.com/footnote/footnote/corpus/extract/child"
)

const (
	// LibreOffice is large and starts slowly, and the file is untrusted: each limit is enforced from outside.
	drawTime  = 2 * time.Minute // timeout for one file
	memory    = 2 << 30         // bytes that it may allocate
	maxPDF    = 256 << 20       // bytes of its PDF
	maxSaid   = 4 << 10         // bytes of standard error that are kept
	endLinger = 2 * time.Second // timeout for its pipes after its exit
)

// LibreOffice renders PDFs with the program soffice on the PATH. It looks the program up for each call, so that a
// later installation is found. It is safe for concurrent use.
type LibreOffice struct {
	hide    []string
	detach  func(from, to string, f extract.Format) error // detach, or a fake in tests
	confine func(*exec.Cmd, child.Bounds)                 // child.Confine, or a fake in tests
}

// New returns a LibreOffice, which need not be installed yet. hide lists files and directories of the server that
// are hidden from LibreOffice, wherever they are. New fails where the system can't confine programs.
func New(hide ...string) (*LibreOffice, error) {
	if err := child.Refused(); err != nil {
		return nil, fmt.Errorf("Office files can't be rendered: LibreOffice requires a sandbox, and %w", err)
	}
	return &LibreOffice{hide, detach, child.Confine}, nil
}

// Draws implements corpus.Office. It starts no process; only PDF detects whether the program works.
func (o *LibreOffice) Draws(mime string) bool {
	f, _ := extract.Formats.ByMIME(mime)
	if !f.Office {
		return false
	}
	_, err := Program()
	return err == nil
}

// Program returns the path of LibreOffice, or an error of exec.LookPath if it is not on the PATH.
func Program() (string, error) { return exec.LookPath("soffice") }

// undrawable is the message for all errors of LibreOffice. The cause is joined to it, and logged.
var undrawable = &chat.Error{Code: chat.CodeUndrawable,
	Message: "LibreOffice can't render this file. Its text is shown, and the original can be downloaded."}

// PDF implements corpus.Office. LibreOffice reads a copy of the file in a temporary directory. It is confined to
// that directory and to what programs need. Macros, links and Java are disabled in its profile. It is killed, with
// all its child processes, when ctx ends or after its timeout. The PDF is created elsewhere and then renamed, so
// that to never contains a partial file.
func (o *LibreOffice) PDF(ctx context.Context, f corpus.File, to string) (err error) {
	program, err := Program()
	if err != nil {
		return &chat.Error{Code: chat.CodeUndrawable,
			Message: "LibreOffice is not on the server's PATH, so this file's pages can't be rendered."}
	}
	format, _ := extract.Formats.ByMIME(f.MIME)
	if !format.Office {
		return undrawable
	}
	dir, err := os.MkdirTemp("", "footnote-office-")
	if err != nil {
		return fmt.Errorf("render an Office file: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	d := drawing{in: filepath.Join(dir, "in"), out: filepath.Join(dir, "out"), format: format}
	if err := d.makeProfile(); err != nil {
		return fmt.Errorf("render an Office file: %w", err)
	}
	if err := o.detach(f.Path, d.source(), format); err != nil {
		return err
	}
	if err := o.run(ctx, program, d); err != nil {
		return err
	}
	// LibreOffice may create anything, even a link to a file of the server.
	info, err := os.Lstat(d.made())
	if err != nil || !info.Mode().IsRegular() || info.Size() == 0 || info.Size() > maxPDF {
		return undrawable
	}
	if err := os.Rename(d.made(), to); err != nil {
		return copyFile(d.made(), to) // on another disk
	}
	return nil
}

// drawing holds the input and output directories of one run of LibreOffice.
type drawing struct {
	in, out string
	format  extract.Format
}

func (d drawing) source() string { return filepath.Join(d.in, "file"+d.format.Extensions[0]) }
func (d drawing) made() string   { return filepath.Join(d.out, "file.pdf") }

// filters maps format names to LibreOffice's import filters. A file is parsed only as its detected format.
var filters = map[string]string{
	"docx": "MS Word 2007 XML", "xlsx": "Calc MS Excel 2007 XML", "pptx": "Impress MS PowerPoint 2007 XML",
	"odt": "writer8", "ods": "calc8", "odp": "impress8", "rtf": "Rich Text Format",
}

// run converts a file with LibreOffice. A separate profile isolates instances; LibreOffice would otherwise forward
// the request to a running one. Without /proc its libraries are found by LD_LIBRARY_PATH. WaitDelay is for child
// processes that keep its pipes open.
func (o *LibreOffice) run(asked context.Context, program string, d drawing) error {
	ctx, cancel := context.WithTimeout(asked, drawTime)
	defer cancel()
	real, err := filepath.EvalSymlinks(program)
	if err != nil {
		return fmt.Errorf("start LibreOffice: %w", err)
	}
	cmd := exec.CommandContext(ctx, real, "-env:UserInstallation=file://"+filepath.ToSlash(d.profile()),
		"--headless", "--norestore", "--nodefault", "--nolockcheck", "--nologo",
		"--infilter="+filters[d.format.Name], "--convert-to", "pdf", "--outdir", d.out, d.source())
	cmd.Dir = d.out
	cmd.Env = append(child.Environ("PATH", "SystemRoot"), "LD_LIBRARY_PATH="+filepath.Dir(real),
		"HOME="+d.out, "TMPDIR="+d.out, "LC_ALL=C.UTF-8", "SAL_USE_VCLPLUGIN=svp")
	said := child.Output{Most: maxSaid}
	cmd.Stdout, cmd.Stderr = io.Discard, &said
	cmd.WaitDelay = endLinger
	// LibreOffice does not start without /proc/version, which it never reads.
	o.confine(cmd, child.Bounds{
		Programs: append(child.Programs(real), "/proc/version"), Hide: o.hide,
		Read: []string{d.in}, Write: []string{d.out}, Memory: memory, File: maxPDF, Time: drawTime,
	})
	err = cmd.Run()
	switch {
	case asked.Err() != nil:
		return asked.Err()
	case ctx.Err() != nil:
		return &chat.Error{
			Code: chat.CodeUndrawable,
			Message: "LibreOffice timed out rendering this file. Its text is shown, and the original can be " +
				"downloaded.",
		}
	case err != nil:
		return fmt.Errorf("%w (%w: %s)", undrawable, err, bytes.TrimSpace(said.Bytes()))
	}
	return nil
}

func (d drawing) profile() string { return filepath.Join(d.out, "profile") }

// makeProfile creates the directories, and a profile without any active content.
func (d drawing) makeProfile() error {
	user := filepath.Join(d.profile(), "user")
	if err := errors.Join(os.Mkdir(d.in, 0o700), os.MkdirAll(user, 0o700)); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(user, "registrymodifications.xcu"), []byte(profile()), 0o600)
}

// copyFile copies only the bytes: the copy has this process's owner and a fixed mode.
func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// profile returns LibreOffice's settings: no macros, no active content, no remote content, no link updates, no Java.
// These are paths in LibreOffice's registry (org.openoffice.Office). For links, 0 means "never" in Writer, and 2 in
// Calc.
func profile() string {
	settings := [][3]string{
		{"Common/Security/Scripting", "MacroSecurityLevel", "3"},
		{"Common/Security/Scripting", "DisableMacrosExecution", "true"},
		{"Common/Security/Scripting", "DisableActiveContent", "true"},
		{"Common/Security/Scripting", "BlockUntrustedRefererLinks", "true"},
		{"Common/Security/Scripting", "DisablePythonRuntime", "true"},
		{"Writer/Content/Update", "Link", "0"},
		{"Calc/Content/Update", "Link", "2"},
		{"Java/VirtualMachine", "Enabled", "false"},
	}
	var b strings.Builder
	b.WriteString(`<?xml version="1.0" encoding="UTF-8"?><oor:items xmlns:oor="http://openoffice.org/2001/registry">`)
	for _, s := range settings {
		fmt.Fprintf(&b, `<item oor:path="/org.openoffice.Office.%s">`, s[0])
		fmt.Fprintf(&b, `<prop oor:name="%s" oor:op="fuse"><value>%s</value></prop></item>`, s[1], s[2])
	}
	b.WriteString(`</oor:items>`)
	return b.String()
}
