package llm

import "strings"

// spaces are namespaces that models put before a tool's name. At most one of each is trimmed, in this order.
var spaces = []string{"functions.", "function.", "default_api.", "tools.", "tool.", "namespace.", "api."}

// ToolNamed resolves a tool name that a model wrote. An exact match comes first, then the only match after
// normalisation, like "functions.search_documents", "Search Documents" and "searchDocument". The last is the only
// tool with that first word, like "search". It returns an empty string if there is no match or several, since a
// wrong tool costs more than a retry.
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

// bareName normalises a name: lower case, without separators and a plural s, since models write “search_document”
// for “search_documents”.
func bareName(name string) string {
	return strings.TrimSuffix(
		strings.NewReplacer("_", "", "-", "", " ", "", ".", "").Replace(strings.ToLower(name)), "s",
	)
}

// firstWord returns the part of a tool's name before the first underscore.
func firstWord(name string) string {
	word, _, _ := strings.Cut(name, "_")
	return word
}
