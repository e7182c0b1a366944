package wire

import (
	"errors"
	"strings"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/agent/llm/openai"
	"github.com/footnote/footnote/cmd/footnote/settings"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/ocr"
	"github.com/footnote/footnote/corpus/extract/office"
	"github.com/footnote/footnote/corpus/extract/worker"
)

// PictureReader returns the parser of files: the workers, and OCR for the images that they find. model is the
// settings' model, or nil. Without a vision model, Tesseract is used if it is installed.
func PictureReader(s *settings.Settings, files *worker.Pool, model *openai.Model) corpus.Extractor {
	if s.OCR == "model" && model != nil {
		return ocr.New(files, &ocr.Model{See: model.ReadPicture, Blind: func(err error) bool {
			failure, ok := errors.AsType[*llm.Error](err)
			return ok && failure.Kind == llm.KindInvalid
		}})
	}
	return ocr.New(files, &ocr.Tesseract{Languages: s.OCRLanguages, Hide: hidden(s)})
}

// OfficePages returns the renderer of Office files, LibreOffice, or nil if it is off. It fails if LibreOffice can't
// be sandboxed.
func OfficePages(s *settings.Settings) (corpus.Office, error) {
	if !s.OfficePages {
		return nil, nil
	}
	o, err := office.New(hidden(s)...)
	if err != nil {
		return nil, err
	}
	return o, nil
}

// hidden returns the files and directories that are hidden from sandboxed programs.
func hidden(s *settings.Settings) []string {
	hide := []string{s.Data}
	if path, ok := strings.CutPrefix(s.Blobs, settings.FileScheme); ok {
		hide = append(hide, path)
	}
	if s.Keys != "" {
		hide = append(hide, s.Keys)
	}
	return hide
}
