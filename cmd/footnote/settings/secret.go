package settings

import "log/slog"

// Secret is a value that never prints.
// Settings are logged and printed in errors; who needs the value itself converts it.
type Secret string

// String returns "[set]", or nothing when it is empty.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return "[set]"
}

// LogValue is String for slog.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// GoString is String for %#v.
func (s Secret) GoString() string { return s.String() }
