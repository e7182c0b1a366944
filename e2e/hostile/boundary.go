//go:build linux

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// metadataAddresses are the cloud metadata services that return a machine's credentials.
var metadataAddresses = []string{
	"http://169.254.169.254/", "http://169.254.170.2/", "http://169.254.170.23/", "http://168.63.129.16/",
	"http://168.63.129.16:32526/", "http://169.254.42.42/", "http://100.100.100.200/", "http://169.254.0.23/",
	"http://192.0.0.192/", "http://192.80.8.124/", "http://[fd00:ec2::254]/", "http://[fd00:ec2::23]/",
	"http://[fd20:ce::254]/", "http://[fd00:c1::a9fe:a9fe]/", "http://[fd00:42::42]/", "http://[fd00:a9fe:a9fe::1]/",
	"http://[fe80::a9fe:a9fe]/", "http://[::ffff:168.63.129.16]/", "http://[64:ff9b::168.63.129.16]/",
	"http://[2002:a83f:8110::1]/", "http://[fd12::5efe:168.63.129.16]/",
}

// refusalText is in every refusal of a forbidden address.
const refusalText = "not on the public internet"

// boundaryCells try to cross the boundary of the server's network (SSRF), with and without keys.
func boundaryCells() []cell {
	return []cell{
		{name: "boundary: metadata of clouds, by a user with a key", keys: true, act: metadataRefused},
		{name: "boundary: metadata of clouds, by the local user", keys: false, act: metadataRefused},
		{name: "boundary: a place moved to another server", keys: true, act: movedPlace},
		{name: "boundary: a proxied request without keys", keys: false, act: proxiedRequests},
	}
}

// metadataRefused checks that each kind of place and a webhook is refused at each address.
func metadataRefused(ctx context.Context, s *site, _ *result) (string, error) {
	n := 0
	for _, address := range metadataAddresses {
		drafts := placesOf(address)
		for _, kind := range slices.Sorted(maps.Keys(drafts)) {
			got, err := s.postJSON(ctx, s.attack, "/places", map[string]any{"kind": kind, "settings": drafts[kind]})
			if err != nil || got.status != http.StatusBadRequest || !strings.Contains(string(got.body), refusalText) {
				return "", fmt.Errorf("%s at %s: status %d, %w: %s",
					kind, address, got.status, err, clipBytes(got.body))
			}
			n++
		}
	}
	return s.unlessInside(fmt.Sprintf("%d places refused", n), nil)
}

// movedPlace follows a folder with a password, and checks that each change to another server is refused.
func movedPlace(ctx context.Context, s *site, _ *result) (string, error) {
	got, err := s.postJSON(ctx, s.attack, "/places", map[string]any{
		"kind": "webdav", "name": "moved", "schedule": "request", "settings": map[string]string{
			"url": s.outside.server.URL + "/names/", "username": "ada", "password": "secret",
		},
	})
	var p place
	if err == nil {
		err = json.Unmarshal(got.body, &p)
	}
	if err != nil || got.status != http.StatusCreated {
		return "", fmt.Errorf("follow a folder: status %d, %w: %s", got.status, err, clipBytes(got.body))
	}
	moves := []string{
		s.pages.URL + "/names/", "https://" + s.outside.host() + "/names/",
		"http://localhost:" + s.outside.insidePort + "/",
	}
	for _, to := range moves {
		body, err := json.Marshal(map[string]any{"settings": map[string]string{"url": to}})
		if err != nil {
			return "", err
		}
		got, err := s.sendRequest(ctx, s.attack, http.MethodPatch, "/places/"+p.ID,
			"application/json", "application/json",
			strings.NewReader(string(body)))
		if err != nil || got.status != http.StatusBadRequest || !strings.Contains(string(got.body), "Password") {
			return "", fmt.Errorf("moved to %s: status %d, %w: %s", to, got.status, err, clipBytes(got.body))
		}
	}
	return s.unlessInside(fmt.Sprintf("%d changes refused", len(moves)), nil)
}

// proxiedRequests sets an internal webhook by proxied requests, and checks that none is delivered.
func proxiedRequests(ctx context.Context, s *site, _ *result) (string, error) {
	headers := []string{
		"Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-IP", "CF-Connecting-IP", "True-Client-IP",
		"X-Client-IP", "X-Cluster-Client-IP", "Fastly-Client-IP", "X-Original-Forwarded-For",
	}
	address := "http://127.0.0.1:" + s.outside.insidePort + "/"
	for _, name := range headers {
		req, err := http.NewRequestWithContext(ctx, http.MethodPut, s.server.url+"/standing/webhook",
			strings.NewReader(fmt.Sprintf(`{"url":%q}`, address)))
		if err != nil {
			return "", err
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set(name, "192.0.2.1")
		resp, err := s.client.Do(req)
		if err != nil {
			return "", err
		}
		if err := resp.Body.Close(); err != nil || resp.StatusCode != http.StatusOK {
			return "", fmt.Errorf("PUT /standing/webhook with %s: status %d, %w", name, resp.StatusCode, err)
		}
		if err := s.waitNotified(ctx, address); err != nil {
			return "", fmt.Errorf("%s: %w", name, err)
		}
	}
	return s.unlessInside(fmt.Sprintf("%d headers, nothing delivered", len(headers)), nil)
}
