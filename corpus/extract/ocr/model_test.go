package ocr_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"image/png"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/agent/llm/openai"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/doctext"
	"github.com/footnote/footnote/corpus/extract/ocr"
)

// server is a model's server that answers each picture with the next text, and with 400 when there is none left. It
// notes how wide the pictures are.
func server(t *testing.T, says ...string) (letters *ocr.Model, widths *[]int) {
	t.Helper()
	widths = new([]int)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var request struct {
			Model    string `json:"model"`
			Messages []struct {
				Content []struct {
					Type     string `json:"type"`
					Text     string `json:"text"`
					ImageURL struct {
						URL string `json:"url"`
					} `json:"image_url"`
				} `json:"content"`
			} `json:"messages"`
		}
		if err := json.NewDecoder(r.Body).Decode(&request); err != nil || len(request.Messages) != 1 ||
			len(request.Messages[0].Content) != 2 || request.Model != "sees" || r.URL.Path != "/v1/chat/completions" {
			t.Errorf("%s: %+v, %v; want one message with a text and a picture", r.URL, request, err)
		}
		data, ok := strings.CutPrefix(request.Messages[0].Content[1].ImageURL.URL, "data:image/png;base64,")
		raw, err := base64.StdEncoding.DecodeString(data)
		config, broken := png.DecodeConfig(bytes.NewReader(raw))
		if err := errors.Join(err, broken); err != nil || !ok {
			t.Errorf("no PNG: %v", err)
		}
		*widths = append(*widths, config.Width)
		w.Header().Set("Content-Type", "application/json")
		if len(says) == 0 {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"error":{"message":"image input is not supported","type":"invalid_request_error"}}`)
			return
		}
		text, err := json.Marshal(says[0])
		if says = says[1:]; err != nil {
			t.Error(err)
		}
		fmt.Fprintf(w, `{"choices":[{"message":{"role":"assistant","content":%s},"finish_reason":"stop"}]}`, text)
	}))
	t.Cleanup(s.Close)
	model, err := openai.New(openai.Config{BaseURL: s.URL + "/v1", Model: "sees"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(model.Close)
	return &ocr.Model{See: model.ReadPicture, Blind: func(err error) bool {
		failure, ok := errors.AsType[*llm.Error](err)
		return ok && failure.Kind == llm.KindInvalid
	}}, widths
}

func TestAModelReadsThePagesThatArePictures(t *testing.T) {
	first := "Maintenance of the boiler\n\nThe boiler is checked before each winter by a firm of the trade. Its\n" +
		"burner is cleaned and its nozzle is changed.\n\n- pressure: 1.2 to 1.8 bar\n- water: twice a year\n"
	letters, widths := server(t, first, "```\nThe second page, in a fence.\n```", "NOTHING", "The last page.")
	reader, _ := newReader(t, letters)
	file, _ := scans(t)
	x, err := reader.Extract(t.Context(), file, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := doctext.Check(x); err != nil {
		t.Fatal(err)
	}
	runes := []rune(x.Text)
	var got []string
	for _, b := range x.Blocks {
		if b.Page > 1 {
			got = append(got, fmt.Sprintf("%d %s: %s", b.Page, b.Kind, string(runes[b.Start:b.End])))
			if len(b.Words) > 0 || !slices.Equal((*b.Box)[1:], []float64{0, 0, 1, 1}) {
				t.Errorf("%q has words at %d bytes of places, and the box %v: want none, and the whole page",
					string(runes[b.Start:b.End]), len(b.Words), *b.Box)
			}
		}
	}
	want := []string{
		"2 paragraph: Maintenance of the boiler",
		"2 paragraph: The boiler is checked before each winter by a firm of the trade. Its burner is cleaned and its " +
			"nozzle is changed.",
		"2 list: pressure: 1.2 to 1.8 bar", "2 list: water: twice a year", "3 paragraph: The second page, in a fence.",
		"5 paragraph: The last page.",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("blocks (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int{2479, 3508, 2479, 3508}, *widths); diff != "" {
		t.Errorf("widths of the pictures (-want +got):\n%s", diff)
	}
}

func TestAModelThatTakesNoPicturesSaysSo(t *testing.T) {
	letters, _ := server(t)
	reader, _ := newReader(t, letters)
	file := store(t, "image/png", asPNG(t, written(t, "", "", german).picture))
	_, err := reader.Extract(t.Context(), file, nil)
	if f, ok := errors.AsType[*corpus.Failure](err); !ok || f.Code != corpus.NeedsOCR ||
		!strings.Contains(f.Detail, "refuses pictures") {
		t.Errorf("error = %v, want %s and that the model refuses pictures", err, corpus.NeedsOCR)
	}
}

func TestAModelReadsAPicture(t *testing.T) {
	letters, _ := server(t, "A heading\n\nOne line of text.")
	reader, _ := newReader(t, letters)
	x, err := reader.Extract(t.Context(), store(t, "image/png", asPNG(t, written(t, "", "", german).picture)), nil)
	if err != nil || x.Text != "A heading\n\nOne line of text." || x.Pages != 1 || x.Sizes[0][0] > x.Sizes[0][1] {
		t.Errorf("%v: %q on %d pages of %v; want two paragraphs on one upright page", err, x.Text, x.Pages, x.Sizes)
	}
}
