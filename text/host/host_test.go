package host

import "testing"

func TestHostLocations(t *testing.T) {
	const here, near, far = "here", "near", "far"
	for name, want := range map[string]string{
		"localhost": here, "LocalHost.": here, "127.0.0.1": here, "127.8.8.8": here, "::1": here, "[::1]": here,
		"::ffff:127.0.0.1": here,
		"192.168.1.7":      near, "10.0.0.1": near, "172.16.0.1": near, "169.254.1.1": near, "fd00::1": near,
		"fe80::1%eth0": near, "::ffff:192.168.1.7": near, "ollama": near, "box.local": near,
		"host.docker.internal": near,
		"api.openai.com":       far, "8.8.8.8": far, "2001:db8::1": far, "0.0.0.0": far, "172.32.0.1": far,
		"localhost.example": far, "localhost..": far, "127.1": far,
		"127.0.0.1.nip.example": far, "local": near, "mylocal.example": far, "": far,
	} {
		got := far
		if IsNear(name) {
			got = near
		}
		if IsHere(name) {
			got = here
		}
		if got != want || IsHere(name) && !IsNear(name) {
			t.Errorf("%q is %s, want %s", name, got, want)
		}
	}
	for address, want := range map[string]string{"http://Box:1/v1": "Box", "http://[::1]:8/": "::1", "http://%zz": ""} {
		if got := Of(address); got != want {
			t.Errorf("the host of %s is %q, want %q", address, got, want)
		}
	}
}
