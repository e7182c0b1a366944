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

// PictureReader returns what reads files: the workers, and what reads the pictures of text that they find. model is
// the model of the settings; nil: there is none. Without a model that sees, Tesseract reads pictures, if it is there.
func PictureReader(s *settings.Settings, files *worker.Pool, model *openai.Model) corpus.Extractor {
	if s.OCR == "model" && model != nil {
		return ocr.New(files, &ocr.Model{See: model.ReadPicture, Blind: func(err error) bool {
			failure, ok := errors.AsType[*llm.Error](err)
			return ok && failure.Kind == llm.KindInvalid
		}})
	}
	return ocr.New(files, &ocr.Tesseract{Languages: s.OCRLanguages, Hide: hidden(s)})
}

// OfficePages returns what draws Office files, LibreOffice; nil if that is off. It fails where LibreOffice can't be
// confined.
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

// hidden are the files and directories that programs which read files never see.
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
