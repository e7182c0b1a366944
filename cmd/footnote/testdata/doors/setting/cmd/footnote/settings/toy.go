package settings

// toySettings say how many toys there are.
type toySettings struct {
	Toys int `help:"How many toys there are." env:"FOOTNOTE_TOYS" default:"3"`
}
