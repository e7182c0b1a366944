package wire

import (
	"errors"

	"footnote/cmd/footnote/settings"
	"footnote/corpus"
	"footnote/corpus/extract/ocr"
	"footnote/corpus/extract/office"
	"footnote/corpus/extract/worker"
	"footnote/llm"
	"footnote/llm/openai"
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
	return ocr.New(files, &ocr.Tesseract{Languages: s.OCRLanguages})
}

// officePages returns what draws Office files; nil if that is off. They are drawn by LibreOffice.
func officePages(s *settings.Settings) corpus.Office {
	if !s.OfficePages {
		return nil
	}
	return office.New()
}
