package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/net/html"
)

// textsOf returns count texts of 1 to 200 words out of the web pages of a folder, the same ones each time.
//
// It takes all words of the pages' text in order, also those of scripts and styles, and cuts pieces at random places,
// with a fixed seed. It is an error when there are fewer than 2,000 words.
func textsOf(folder string, count int) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.html"))
	if err != nil {
		return nil, err
	}
	var words []string
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		for page := html.NewTokenizer(bytes.NewReader(raw)); ; {
			kind := page.Next()
			if kind == html.ErrorToken {
				break
			}
			if kind == html.TextToken {
				words = append(words, strings.Fields(string(page.Text()))...)
			}
		}
	}
	const longest = 200
	if len(words) < 10*longest {
		return nil, fmt.Errorf("the web pages in %s have %d words", folder, len(words))
	}
	random := rand.New(rand.NewPCG(1, 2))
	var out []string
	for range count {
		from := random.IntN(len(words) - longest)
		out = append(out, strings.Join(words[from:from+1+random.IntN(longest)], " "))
	}
	return out, nil
}
