package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// knownSettings are the environment variables that the program reads.
func knownSettings(t *testing.T) map[string]bool {
	t.Helper()
	parser, err := newParser(&commands{}, io.Discard, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, flag := range parser.Model.Flags {
		for _, env := range flag.Envs {
			known[env] = true
		}
	}
	return known
}

func rootFile(t *testing.T, name string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func documentsOf(t *testing.T, name string) (list []map[string]any) {
	t.Helper()
	decoder := yaml.NewDecoder(strings.NewReader(rootFile(t, name)))
	for {
		var tree map[string]any
		err := decoder.Decode(&tree)
		if errors.Is(err, io.EOF) {
			return list
		}
		if err != nil {
			t.Fatalf("%s: %v, want no error", name, err)
		}
		list = append(list, tree)
	}
}

// at returns what is under a path of keys and numbers, or nil.
func at(tree any, path ...any) any {
	for _, step := range path {
		switch step := step.(type) {
		case string:
			branch, _ := tree.(map[string]any)
			tree = branch[step]
		case int:
			list, _ := tree.([]any)
			if step >= len(list) {
				return nil
			}
			tree = list[step]
		}
	}
	return tree
}

func TestTheComposeFileFitsTheProgram(t *testing.T) {
	file := documentsOf(t, "compose.yaml")[0]
	services, _ := at(file, "services").(map[string]any)
	for _, name := range []string{"footnote", "proxy", "postgres", "milvus", "etcd", "minio"} {
		if at(services, name, "healthcheck", "test") == nil || at(services, name, "restart") == nil {
			t.Errorf("the service %s is missing, or has no health check or no restart", name)
		}
	}
	for name, service := range services {
		mounts, _ := at(service, "volumes").([]any)
		for _, mount := range mounts {
			if volume, _, _ := strings.Cut(mount.(string), ":"); !strings.HasPrefix(volume, ".") {
				if volumes, _ := at(file, "volumes").(map[string]any); !hasKey(volumes, volume) {
					t.Errorf("%s mounts %s, which is no volume", name, volume)
				}
			}
		}
		needs, _ := at(service, "depends_on").(map[string]any)
		for other := range needs {
			if !hasKey(services, other) {
				t.Errorf("%s depends on %s, which is no service", name, other)
			}
		}
	}
	if n := at(services, "footnote", "deploy", "replicas"); n != 2 {
		t.Errorf("%v replicas, want 2", n)
	}
	env, _ := at(services, "footnote", "environment").(map[string]any)
	for name := range env {
		if !knownSettings(t)[name] {
			t.Errorf("compose.yaml sets %s, which is no setting", name)
		}
	}
	for setting, want := range map[string]string{
		"FOOTNOTE_ADDR": ":8080", "DATABASE_URL": "@postgres:5432/", "FOOTNOTE_BLOBS": "file:///blobs",
		"FOOTNOTE_KEYS": "/keys/", "MILVUS_ADDRESS": "${MILVUS_ADDRESS:-}",
	} {
		if value, _ := env[setting].(string); !strings.Contains(value, want) {
			t.Errorf("%s is %q, want %q in it", setting, value, want)
		}
	}
	if !strings.Contains(rootFile(t, "deploy/nginx.conf"), "server footnote:8080 ") {
		t.Error("deploy/nginx.conf does not lead to footnote:8080")
	}
}

func hasKey(tree map[string]any, key string) bool { _, ok := tree[key]; return ok }

func TestTheKubernetesFilesFitTheProgram(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root, "deploy/kubernetes/*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	kinds := map[string]map[string]any{}
	for _, file := range files {
		for _, object := range documentsOf(t, "deploy/kubernetes/"+filepath.Base(file)) {
			kind, _ := object["kind"].(string)
			if at(object, "apiVersion") == nil || at(object, "metadata", "name") == nil {
				t.Errorf("an object %s without a version or a name", kind)
			}
			kinds[kind] = object
		}
	}
	for _, kind := range []string{"Deployment", "Service", "Ingress", "PersistentVolumeClaim", "PodDisruptionBudget"} {
		if kinds[kind] == nil {
			t.Errorf("there is no %s", kind)
		}
	}
	spec := at(kinds["Deployment"], "spec", "template", "spec")
	container := at(spec, "containers", 0)
	if grace, _ := at(spec, "terminationGracePeriodSeconds").(int); grace < 30 ||
		at(container, "lifecycle", "preStop") == nil {
		t.Errorf("a pod has %d seconds to end, and preStop is %v, want at least 30",
			grace, at(container, "lifecycle", "preStop"))
	}
	for probe, path := range map[string]string{
		"startupProbe": "/health", "readinessProbe": "/readyz", "livenessProbe": "/readyz",
	} {
		if got := at(container, probe, "httpGet", "path"); got != path {
			t.Errorf("%s asks %v, want %s", probe, got, path)
		}
	}
	if at(container, "securityContext", "readOnlyRootFilesystem") != true ||
		at(spec, "securityContext", "runAsNonRoot") != true {
		t.Error("a pod may write where it should not")
	}
	env, _ := at(container, "env").([]any)
	set := map[string]bool{}
	for _, item := range env {
		name, _ := at(item, "name").(string)
		if set[name] = true; !knownSettings(t)[name] {
			t.Errorf("the Deployment sets %s, which is no setting", name)
		}
	}
	for _, name := range []string{
		"DATABASE_URL", "FOOTNOTE_BLOBS", "FOOTNOTE_KEYS", "OPENAI_API_KEY", "OPENAI_EMBEDDING_MODEL", "MILVUS_ADDRESS",
	} {
		if !set[name] {
			t.Errorf("the Deployment does not set %s", name)
		}
	}
	labels := at(kinds["Deployment"], "spec", "template", "metadata", "labels", "app")
	for _, selector := range []any{
		at(kinds["Deployment"], "spec", "selector", "matchLabels", "app"),
		at(kinds["Service"], "spec", "selector", "app"),
		at(kinds["PodDisruptionBudget"], "spec", "selector", "matchLabels", "app"),
	} {
		if selector != labels || labels == nil {
			t.Errorf("a selector wants %v, the pods are %v", selector, labels)
		}
	}
	if at(kinds["Ingress"], "metadata", "annotations", "nginx.ingress.kubernetes.io/proxy-buffering") != "off" {
		t.Error("the Ingress buffers streams")
	}
}

func TestTheDockerfileBuildsAsTheMakefileDoes(t *testing.T) {
	dockerfile, makefile := rootFile(t, "Dockerfile"), rootFile(t, "Makefile")
	line := regexp.MustCompile(`(?m)^\t(\$\(GO\) build .* \./cmd/footnote)$`).FindStringSubmatch(makefile)
	if line == nil {
		t.Fatal("the Makefile does not build ./cmd/footnote")
	}
	build := strings.NewReplacer("$(GO)", "go", "$(VERSION)", "$VERSION", "$(COMMIT)", "$COMMIT", "$(DATE)", "$DATE",
		"$(REPOSITORY)", "$REPOSITORY",
		"$(TAGS)", "$TAGS").Replace(line[1])
	for _, want := range []string{
		"RUN " + build + "\n", "\nARG TAGS=grpcnotrace,retrynotrace\n", "npm run vendor", "CGO_ENABLED=0",
		`GOFLAGS="-buildvcs=false -gcflags=github.com/openai/openai-go/v3/...=-l `, "USER 65532", "VOLUME",
		"HEALTHCHECK", `"doctor", "--health"`, "FROM scratch",
	} {
		if !strings.Contains(dockerfile, want) {
			t.Errorf("the Dockerfile has no %q", want)
		}
	}
	if !strings.Contains(makefile, "\nTAGS := grpcnotrace,retrynotrace$(") {
		t.Error("the Makefile builds with other tags than the Dockerfile")
	}
	version := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(rootFile(t, "go.mod"))
	if version == nil || !strings.Contains(dockerfile, "golang:"+version[1]+"-") {
		t.Errorf("the Dockerfile does not use Go %v", version)
	}
	env := regexp.MustCompile(
		`([A-Z_]+)=\S+`,
	).FindAllStringSubmatch(regexp.MustCompile(`(?m)^ENV FOOTNOTE.*$`).FindString(dockerfile), -1)
	for _, set := range env {
		if !knownSettings(t)[set[1]] {
			t.Errorf("the Dockerfile sets %s, which is no setting", set[1])
		}
	}
	if !slices.ContainsFunc(env, func(set []string) bool { return set[1] == "FOOTNOTE_KEYS" }) {
		t.Error("a server of the image needs no key")
	}
	if len(env) == 0 || !slices.Contains(strings.Fields(rootFile(t, ".dockerignore")), "node_modules") {
		t.Error("the image has no settings, or takes node_modules along")
	}
}

// The examples need keys, so each says in two commands how to start and how to make the first one.
func TestTheExamplesSayHowToMakeTheFirstKey(t *testing.T) {
	for name, want := range map[string][]string{
		"Dockerfile": {"docker run -d --name footnote ",
			"docker exec footnote /footnote key new "},
		"compose.yaml": {"docker compose up -d --build --wait\n",
			"docker compose exec footnote /footnote key new "},
		"deploy/kubernetes/footnote.yaml": {"kubectl apply -f deploy/kubernetes\n",
			"kubectl exec deploy/footnote -- /footnote key new "},
	} {
		text, docs := rootFile(t, name), rootFile(t, "docs/operation.md")
		for _, command := range want {
			if !strings.Contains(text, command) || !strings.Contains(docs, strings.TrimSpace(command)) {
				t.Errorf("%s or docs/operation.md does not say %q", name, command)
			}
		}
	}
}
