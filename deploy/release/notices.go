package main

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// noticesHead is the introduction of the file.
const noticesHead = `Footnote is made with the work of others, named here with their licences.
Each text stands once, below the names of all that it is the licence of.
`

// makeNotices writes the licence notices of all parts of the program on any platform. It requires the modules of
// all platforms, and fails if one has no licence.
func makeNotices(ctx context.Context, root, out string) error {
	parts, err := linkedModules(ctx, root, platforms)
	if err != nil {
		return err
	}
	embedded, err := embeddedParts(root)
	if err != nil {
		return err
	}
	return writeFile(out, notices(append(parts, embedded...)))
}

// notices lists all parts, then each text once. Texts are deduplicated ignoring white space. The order is that of
// the parts, and within one that of its files' names, so the output is reproducible.
func notices(parts []part) []byte {
	var page bytes.Buffer
	page.WriteString(noticesHead + "\n")
	texts, users := map[string]string{}, map[string][]string{}
	var order []string
	for _, p := range parts {
		name := strings.TrimSpace(p.Name + " " + p.Version)
		fmt.Fprintln(&page, "  "+name)
		for _, file := range slices.Sorted(maps.Keys(p.Files)) {
			// Texts are compared by their words, and the first one is printed.
			key := strings.Join(strings.Fields(p.Files[file]), " ")
			if key == "" {
				continue
			}
			if users[key] == nil {
				order = append(order, key)
				texts[key] = p.Files[file]
			}
			users[key] = append(users[key], name+" ("+file+")")
		}
	}
	for _, key := range order {
		fmt.Fprintf(&page, "\n%s\n%s\n\n%s\n", strings.Repeat("=", 79), strings.Join(users[key], "\n"),
			strings.Trim(texts[key], "\n"))
	}
	return page.Bytes()
}
