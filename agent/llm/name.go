package llm

import "strings"

// spaces are what models put before a tool's name. At most one of each is taken off, in this order.
var spaces = []string{"functions.", "function.", "default_api.", "tools.", "tool.", "namespace.", "api."}

// ToolNamed returns the name of the tool that a model means: the very one, or the only one that differs in its way of
// writing, like "functions.search_documents", "Search Documents" and "searchDocument", or whose first word it is, like
// "search". Empty if there is none. Where two tools could be meant, none is: a wrong tool costs more than asking the
// model again.
func ToolNamed(said string, names []string) string {
	for _, name := range names {
		if said == name {
			return name
		}
	}
	said = strings.Trim(strings.TrimSpace(said), "\"'`*")
	for _, space := range spaces {
		said = strings.TrimPrefix(said, space)
	}
	bare := bareName(said)
	var alike, begins []string
	for _, name := range names {
		switch {
		case bareName(name) == bare:
			alike = append(alike, name)
		case strings.EqualFold(firstWord(name), said):
			begins = append(begins, name)
		}
	}
	switch {
	case said == "":
		return ""
	case len(alike) == 1:
		return alike[0]
	case len(alike) == 0 && len(begins) == 1:
		return begins[0]
	}
	return ""
}

// bareName is a name without what models write differently. The plural's s goes too, since “search_document” is written
// for “search_documents”.
func bareName(name string) string {
	return strings.TrimSuffix(
		strings.NewReplacer("_", "", "-", "", " ", "", ".", "").Replace(strings.ToLower(name)), "s",
	)
}

// firstWord is what stands before the first underscore of a tool's name.
func firstWord(name string) string {
	word, _, _ := strings.Cut(name, "_")
	return word
}
