package views

import _ "embed"

// sprite holds every icon once, as symbols i-name of 16 by 16 pixels. It is part of the page, so that an icon is
// never late.
//
//go:embed icons.svg
var sprite string
