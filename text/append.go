package text

import "slices"

// AppendNew appends a string unless it is empty or already in the list.
func AppendNew(list []string, s string) []string {
	if s == "" || slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}
