package text

import "slices"

// AppendNew appends a text to a list that does not hold it yet. Empty texts are left out.
func AppendNew(list []string, s string) []string {
	if s == "" || slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}
