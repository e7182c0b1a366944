// Package office has LibreOffice draw Office files as they are printed: as PDF.
//
// What goes in is a copy of a file, what comes out is a PDF in a place that the caller names; the viewer then draws
// that like any other PDF. The text of the document never comes from here: package docx and its like read it.
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
	"sync"
	"time"

	"footnote/chat"
	"footnote/corpus"
	"footnote/corpus/extract"
	"footnote/corpus/extract/child"
)

const (
	// The program is large and starts slowly, and the file is a stranger's: each limit is enforced from outside.
	drawTime  = 2 * time.Minute // that LibreOffice may take for one file
	memory    = 2 << 30         // bytes that it may allocate
	maxPDF    = 256 << 20       // bytes of what it makes
	maxSaid   = 4 << 10         // bytes of its complaints that are kept
	endLinger = 2 * time.Second // that its pipes are waited for after its end
)

// LibreOffice makes PDFs with the program soffice, if it is on the PATH: it is looked for each time, so that one that
// is installed later is found. It is safe for concurrent use. offline tells once whether this kernel lets a process be
// started without a network.
type LibreOffice struct {
	offline func() bool
}

// New returns a LibreOffice, which need not be installed yet.
func New() *LibreOffice {
	return &LibreOffice{sync.OnceValue(child.Offline)}
}

// Draws implements corpus.Office. It starts nothing: whether the program works is seen when it draws.
func (o *LibreOffice) Draws(mime string) bool {
	f, _ := extract.Formats.ByMIME(mime)
	if !f.Office {
		return false
	}
	_, err := Program()
	return err == nil
}

// Program is where LibreOffice is; an error of exec.LookPath if it is not on the PATH.
func Program() (string, error) { return exec.LookPath("soffice") }

// undrawable is the sentence for whatever LibreOffice can't do with a file. The cause is joined to it, and logged.
var undrawable = &chat.Error{Code: chat.CodeUndrawable,
	Message: "LibreOffice can't draw this file. Its text is shown, and the original can be downloaded."}

// PDF implements corpus.Office. The program sees a copy of the file in a directory of its own, which is removed, and
// nothing of our environment but where programs are; macros, links, remote pictures and Java are off; where the kernel
// allows it, it has no network. It ends, with all that it started, when ctx ends or it has had its time. The PDF is
// made beside the copy and then renamed, so that to never holds half a file.
func (o *LibreOffice) PDF(ctx context.Context, f corpus.File, to string) (err error) {
	program, err := Program()
	if err != nil {
		return &chat.Error{Code: chat.CodeUndrawable,
			Message: "LibreOffice is not on the PATH of the server, so the pages of this file can't be drawn."}
	}
	format, _ := extract.Formats.ByMIME(f.MIME)
	if !format.Office {
		return undrawable
	}
	dir, err := os.MkdirTemp("", "footnote-office-")
	if err != nil {
		return fmt.Errorf("draw an Office file: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	name := "file" + format.Extensions[0]
	if err := prepare(dir, f, name); err != nil {
		return fmt.Errorf("draw an Office file: %w", err)
	}
	if err := o.run(ctx, program, dir, name); err != nil {
		return err
	}
	made := filepath.Join(dir, "file.pdf")
	info, err := os.Stat(made)
	if err != nil || info.Size() == 0 || info.Size() > maxPDF {
		return undrawable
	}
	if err := os.Rename(made, to); err != nil {
		return copyFile(made, to) // on another disk
	}
	return nil
}

// run has the program draw the file in dir. A profile of its own keeps instances apart; LibreOffice would otherwise
// hand the work to one that runs already. The limits are set right after the start, before it has read its file.
// WaitDelay is for children that keep its pipes open. EndGroup ends what it has started itself.
func (o *LibreOffice) run(asked context.Context, program, dir, name string) error {
	ctx, cancel := context.WithTimeout(asked, drawTime)
	defer cancel()
	user := "file://" + filepath.ToSlash(filepath.Join(dir, "profile"))
	cmd := exec.CommandContext(ctx, program, "-env:UserInstallation="+user,
		"--headless", "--norestore", "--nodefault", "--nolockcheck", "--nologo",
		"--convert-to", "pdf", "--outdir", dir, filepath.Join(dir, name))
	cmd.Dir = dir
	cmd.Env = append(child.Environ("PATH", "LD_LIBRARY_PATH", "SystemRoot"),
		"HOME="+dir, "TMPDIR="+dir, "LC_ALL=C.UTF-8", "SAL_USE_VCLPLUGIN=svp")
	said := child.Output{Most: maxSaid}
	cmd.Stdout, cmd.Stderr = io.Discard, &said
	cmd.WaitDelay = endLinger
	child.Apart(cmd, o.offline())
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start LibreOffice: %w", err)
	}
	child.LimitMemory(cmd.Process.Pid, memory) // before it has anything to work on
	child.LimitFiles(cmd.Process.Pid, maxPDF)
	child.LimitTime(cmd.Process.Pid, drawTime) // also when this process has died
	err := cmd.Wait()
	child.EndGroup(cmd.Process.Pid)
	switch {
	case asked.Err() != nil:
		return asked.Err()
	case ctx.Err() != nil:
		return &chat.Error{
			Code: chat.CodeUndrawable,
			Message: "LibreOffice takes too long to draw this file. Its text is shown, and the original can be " +
				"downloaded.",
		}
	case err != nil:
		return fmt.Errorf("%w (%w: %s)", undrawable, err, bytes.TrimSpace(said.Bytes()))
	}
	return nil
}

// prepare puts a copy of the file into dir under a name, with a profile that switches off all that a file could act
// with.
func prepare(dir string, f corpus.File, name string) error {
	user := filepath.Join(dir, "profile", "user")
	if err := os.MkdirAll(user, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(user, "registrymodifications.xcu"), []byte(profile()), 0o600); err != nil {
		return err
	}
	return copyFile(f.Path, filepath.Join(dir, name))
}

// copyFile copies bytes and nothing else: the copy belongs to us, whatever the original's mode is.
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

// profile is LibreOffice's settings: no macros, no active content, no remote content, no links brought up to date, no
// Java. These are paths in LibreOffice's registry (org.openoffice.Office). Writer counts 0 as "never" for links, Calc
// 2.
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
