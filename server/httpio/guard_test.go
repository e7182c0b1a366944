package httpio

import (
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestByLocalUser covers the one definition of a local request.
func TestByLocalUser(t *testing.T) {
	t.Parallel()
	request := func(name string) *http.Request {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		for _, sent := range []string{
			"Accept", "Accept-Language", "User-Agent", "Cookie", "Referer", "Origin", "Sec-Fetch-Site", "Sec-Ch-Ua",
			"Upgrade-Insecure-Requests", "Priority", "Hx-Request", "X-Api-Key", "Traceparent", "X-Request-Id",
		} {
			r.Header.Set(sent, "x")
		}
		if name != "" {
			r.Header[name] = []string{""} // the header alone says that somebody passed the request on
		}
		return r
	}
	g, err := NewGuard(nil, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !g.ByLocalUser(request("")) {
		t.Error("a browser's request is not local, want it local")
	}
	for _, name := range []string{
		"Forwarded", "Via", "X-Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto",
		"X-Forwarded-Port", "X-Forwarded-Server", "X-Forwarded-Prefix", "X-Original-Forwarded-For", "Forwarded-For",
		"X-Real-Ip", "X-Client-Ip", "X-Cluster-Client-Ip", "Client-Ip", "True-Client-Ip", "Cf-Connecting-Ip",
		"Cf-Connecting-Ipv6", "Cf-Ray", "Fastly-Client-Ip", "Fly-Client-Ip", "Do-Connecting-Ip", "X-Azure-Clientip",
		"X-Azure-Socketip", "X-Appengine-User-Ip", "X-Envoy-External-Address", "X-Originating-Ip", "X-Remote-Ip",
		"X-Remote-Addr", "Wl-Proxy-Client-Ip", "Ali-Cdn-Real-Ip", "Cdn-Loop", "X-Amzn-Trace-Id", "X-Original-Host",
	} {
		if g.ByLocalUser(request(name)) {
			t.Errorf("a request with %s is local, want it passed on", name)
		}
	}
	for at, want := range map[string]bool{"127.0.0.1": true, "::1": true, "0.0.0.0": false, "192.0.2.1": false} {
		if g.ListenOn(&net.TCPAddr{IP: net.ParseIP(at)}); g.ByLocalUser(request("")) != want {
			t.Errorf("at %s a request is local: %v, want %v", at, !want, want)
		}
	}
	named, err := NewGuard([]string{"footnote.example"}, nil, nil)
	if err != nil || named.ByLocalUser(request("")) {
		t.Errorf("a server with another name: a request is local, %v; want it not", err)
	}
}
