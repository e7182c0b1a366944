package kernel

func sets() []*set {
	all := []*set{&plain}
	if best != &plain {
		all = append(all, &narrow)
	}
	if best == &wide {
		all = append(all, &wide)
	}
	return all
}
