package settings

import "log/slog"

// Secret is a value that is never printed. Settings are logged and are in errors; code that needs the value
// converts it.
type Secret string

// String returns "[set]", or "" for an empty value.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return "[set]"
}

// LogValue implements slog.LogValuer with String.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// GoString implements fmt.GoStringer with String.
func (s Secret) GoString() string { return s.String() }
