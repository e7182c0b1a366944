// Package check holds compose.yaml and deploy/kubernetes to the definitions of Compose and of Kubernetes: 'make
// check-deploy'.
package check

import (
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
)

const root = "../.."

// load reads compose.yaml as 'docker compose' does.
func load(t *testing.T, env []string, profiles ...string) (*types.Project, error) {
	t.Helper()
	options, err := cli.NewProjectOptions([]string{root + "/compose.yaml"}, cli.WithWorkingDirectory(root),
		cli.WithEnv(env), cli.WithProfiles(profiles))
	if err != nil {
		t.Fatal(err)
	}
	return options.LoadProject(t.Context())
}

var given = []string{"POSTGRES_PASSWORD=secret"}

func TestComposeStartsTwoReplicasBehindAProxy(t *testing.T) {
	t.Parallel()
	if _, err := load(t, nil); err == nil || !strings.Contains(err.Error(), "set POSTGRES_PASSWORD") {
		t.Errorf("without a password: %v, want %q in it", err, "set POSTGRES_PASSWORD")
	}
	plain, err := load(t, given)
	if err != nil {
		t.Fatal(err)
	}
	if got := plain.ServiceNames(); strings.Join(got, " ") != "footnote postgres proxy" {
		t.Errorf("services %v", got)
	}
	semantic, err := load(t, append(given, "MILVUS_ADDRESS=milvus:19530", "OPENAI_EMBEDDING_MODEL=m"), "semantic")
	if err != nil {
		t.Fatal(err)
	}
	if got := semantic.ServiceNames(); strings.Join(got, " ") != "etcd footnote milvus minio postgres proxy" {
		t.Errorf("services for search by meaning: %v", got)
	}
	footnote := semantic.Services["footnote"]
	if footnote.Deploy == nil || footnote.Deploy.Replicas == nil || *footnote.Deploy.Replicas != 2 ||
		!footnote.ReadOnly || len(footnote.CapDrop) != 1 || len(footnote.Ports) > 0 {
		t.Errorf("the service footnote: %+v; want ReadOnly true, 1, no ports", footnote)
	}
	for name, want := range map[string]string{
		"DATABASE_URL": "postgres://footnote:secret@postgres:5432/footnote", "MILVUS_ADDRESS": "milvus:19530",
		"OPENAI_EMBEDDING_MODEL": "m",
	} {
		if got := footnote.Environment[name]; got == nil || *got != want {
			t.Errorf("%s = %v, want %s", name, got, want)
		}
	}
	// what is kept lies in a volume that replicas share, and the data directory is none
	mounted := map[string]string{}
	for _, v := range footnote.Volumes {
		mounted[v.Target] = v.Source
	}
	for name, want := range map[string]string{"FOOTNOTE_BLOBS": "file:///blobs", "FOOTNOTE_KEYS": "/keys/keys"} {
		got := footnote.Environment[name]
		if got == nil || *got != want || mounted["/"+strings.Split(strings.TrimPrefix(want, "file://"), "/")[1]] == "" {
			t.Errorf("%s = %v, mounted %v, want something", name, got, mounted)
		}
	}
	for service, needs := range map[string][]string{
		"proxy": {"footnote"}, "footnote": {"postgres"}, "milvus": {"etcd", "minio"},
	} {
		for _, need := range needs {
			if got := semantic.Services[service].DependsOn[need].Condition; got != types.ServiceConditionHealthy {
				t.Errorf("%s waits for %s until %q, want %q", service, need, got, types.ServiceConditionHealthy)
			}
		}
	}
	for name, service := range semantic.Services {
		if service.HealthCheck == nil || service.Restart == "" || service.Image == "" {
			t.Errorf("%s has no health check, no restart or no image", name)
		}
		for _, port := range service.Ports {
			if port.HostIP != "127.0.0.1" {
				t.Errorf("%s is open to others at %s:%s, want %q", name, port.HostIP, port.Published, "127.0.0.1")
			}
		}
	}
	if proxy := semantic.Services["proxy"]; len(proxy.Ports) != 1 || len(proxy.Volumes) != 1 ||
		!proxy.Volumes[0].ReadOnly || !strings.HasSuffix(proxy.Volumes[0].Source, "/deploy/nginx.conf") {
		t.Errorf("the proxy: %+v; want 1 port, 1 volume, Volumes[0].ReadOnly true, %q at its end",
			proxy, "/deploy/nginx.conf")
	}
}
