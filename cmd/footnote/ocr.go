package main

import (
	"errors"

	"footnote/corpus"
	"footnote/corpus/extract/ocr"
	"footnote/corpus/extract/worker"
	"footnote/llm"
	"footnote/llm/openai"
)

// ocrSettings say how pictures of text are read.
type ocrSettings struct {
	OCR          string   `name:"ocr" help:"What reads pictures of text: tesseract, the program, if it is on the PATH; or model, the model of the OpenAI-compatible server, which must see and gets each page as a picture." enum:"tesseract,model" env:"FOOTNOTE_OCR" default:"tesseract"`
	OCRLanguages []string `name:"ocr-languages" help:"Languages that tesseract reads pictures of text in, by its names, like eng,deu; without them those that are installed and fit the text." env:"FOOTNOTE_OCR_LANGUAGES" placeholder:"NAME"`
}

// pictureReader returns what reads files: the workers, and what reads the pictures of text that they find. model is the
// model of the settings; nil: there is none.
func (s *ocrSettings) pictureReader(files *worker.Pool, model *openai.Model) corpus.Extractor {
	if s.OCR == "model" && model != nil {
		return ocr.New(files, &ocr.Model{See: model.ReadPicture, Blind: func(err error) bool {
			failure, ok := errors.AsType[*llm.Error](err)
			return ok && failure.Kind == llm.KindInvalid
		}})
	}
	return ocr.New(files, &ocr.Tesseract{Languages: s.OCRLanguages})
}
