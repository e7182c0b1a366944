package main

import (
	"archive/zip"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// officeSlides is what LibreOffice understood of slides: the text nodes of the OpenDocument presentation that it saves
// them as, with those of its charts.
//
// LibreOffice has no export of slides as text. That it saves them as its own format first shows what it read of them,
// and not what it would draw.
var officeSlides = converter{"slides", func(ctx context.Context, path, scratch, out string) error {
	saved := filepath.Join(scratch, "saved")
	if err := os.Mkdir(saved, 0o700); err != nil {
		return err
	}
	if err := runOffice(ctx, scratch, "odp", saved, path); err != nil {
		return err
	}
	made, err := filepath.Glob(filepath.Join(saved, "*.odp"))
	if err != nil || len(made) != 1 {
		return errors.Join(err, errors.New("LibreOffice wrote no slides"))
	}
	text, err := openDocumentText(made[0])
	if err != nil {
		return err
	}
	return os.WriteFile(out, []byte(text), 0o600)
}}

// openDocumentText is the text of the paragraphs in a file and in the objects inside it, a line each. Objects have a
// content.xml of their own.
func openDocumentText(name string) (string, error) {
	archive, err := zip.OpenReader(name)
	if err != nil {
		return "", err
	}
	defer archive.Close()
	var b strings.Builder
	for _, part := range archive.File {
		if filepath.Base(part.Name) != "content.xml" {
			continue
		}
		content, err := part.Open()
		if err != nil {
			return "", err
		}
		err = writeParagraphs(&b, io.LimitReader(content, maxReference))
		if err = errors.Join(err, content.Close()); err != nil {
			return "", err
		}
	}
	return b.String(), nil
}

// writeParagraphs writes the paragraphs of an OpenDocument part, without what a field would show: a page's number.
// Spaces, tabs and line breaks have elements of their own in this format; each becomes one space.
func writeParagraphs(b *strings.Builder, content io.Reader) error {
	d := xml.NewDecoder(content)
	within := 0 // paragraphs in each other
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch t := token.(type) {
		case xml.StartElement:
			switch t.Name.Local {
			case "p", "h":
				within++
			case "s", "tab", "line-break":
				b.WriteByte(' ')
			case "page-number":
				if err := d.Skip(); err != nil {
					return err
				}
			}
		case xml.EndElement:
			if t.Name.Local == "p" || t.Name.Local == "h" {
				within--
				b.WriteByte('\n')
			}
		case xml.CharData:
			if within > 0 {
				b.Write(t)
			}
		}
	}
}
