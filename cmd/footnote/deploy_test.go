package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/footnote/footnote/docs/docstest"
)

// knownSettings returns the environment variables of all settings.
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

// at returns the value at a path of keys and indexes, or nil.
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

func TestComposeFileMatchesProgram(t *testing.T) {
	file := documentsOf(t, "compose.yaml")[0]
	services, _ := at(file, "services").(map[string]any)
	for _, name := range []string{"footnote", "proxy", "postgres", "milvus", "etcd", "minio"} {
		if at(services, name, "healthcheck", "test") == nil || at(services, name, "restart") == nil {
			t.Errorf("service %s is missing, or lacks a health check or a restart policy", name)
		}
	}
	for name, service := range services {
		mounts, _ := at(service, "volumes").([]any)
		for _, mount := range mounts {
			if volume, _, _ := strings.Cut(mount.(string), ":"); !strings.HasPrefix(volume, ".") {
				if volumes, _ := at(file, "volumes").(map[string]any); !hasKey(volumes, volume) {
					t.Errorf("%s mounts %s, which is not a volume", name, volume)
				}
			}
		}
		needs, _ := at(service, "depends_on").(map[string]any)
		for other := range needs {
			if !hasKey(services, other) {
				t.Errorf("%s depends on %s, which is not a service", name, other)
			}
		}
	}
	if n := at(services, "footnote", "deploy", "replicas"); n != 2 {
		t.Errorf("%v replicas, want 2", n)
	}
	env, _ := at(services, "footnote", "environment").(map[string]any)
	for name := range env {
		if !knownSettings(t)[name] {
			t.Errorf("compose.yaml sets %s, which is not a setting", name)
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
		t.Error("deploy/nginx.conf lacks footnote:8080")
	}
}

func hasKey(tree map[string]any, key string) bool { _, ok := tree[key]; return ok }

func TestKubernetesManifestsMatchProgram(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root, "deploy/kubernetes/*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	kinds := map[string]map[string]any{}
	for _, file := range files {
		for _, object := range documentsOf(t, "deploy/kubernetes/"+filepath.Base(file)) {
			kind, _ := object["kind"].(string)
			if at(object, "apiVersion") == nil || at(object, "metadata", "name") == nil {
				t.Errorf("object %s lacks a version or a name", kind)
			}
			kinds[kind] = object
		}
	}
	for _, kind := range []string{"Deployment", "Service", "Ingress", "PersistentVolumeClaim", "PodDisruptionBudget"} {
		if kinds[kind] == nil {
			t.Errorf("%s is missing", kind)
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
		t.Error("pod can write outside its volumes")
	}
	env, _ := at(container, "env").([]any)
	set := map[string]bool{}
	for _, item := range env {
		name, _ := at(item, "name").(string)
		if set[name] = true; !knownSettings(t)[name] {
			t.Errorf("Deployment sets %s, which is not a setting", name)
		}
	}
	for _, name := range []string{
		"DATABASE_URL", "FOOTNOTE_BLOBS", "FOOTNOTE_KEYS", "OPENAI_API_KEY", "OPENAI_EMBEDDING_MODEL", "MILVUS_ADDRESS",
	} {
		if !set[name] {
			t.Errorf("Deployment lacks %s", name)
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
		t.Error("Ingress buffers streams")
	}
}

func TestDockerfileBuildsLikeMakefile(t *testing.T) {
	dockerfile, makefile := rootFile(t, "Dockerfile"), rootFile(t, "Makefile")
	line := regexp.MustCompile(`(?m)^\t(\$\(GO\) build .* \./cmd/footnote)$`).FindStringSubmatch(makefile)
	if line == nil {
		t.Fatal("Makefile does not build ./cmd/footnote")
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
			t.Errorf("Dockerfile lacks %q", want)
		}
	}
	if !strings.Contains(makefile, "\nTAGS := grpcnotrace,retrynotrace$(") {
		t.Error("build tags of the Makefile differ from the Dockerfile")
	}
	version := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(rootFile(t, "go.mod"))
	if version == nil || !strings.Contains(dockerfile, "golang:"+version[1]+"-") {
		t.Errorf("Dockerfile does not use Go %v", version)
	}
	env := regexp.MustCompile(
		`([A-Z_]+)=\S+`,
	).FindAllStringSubmatch(regexp.MustCompile(`(?m)^ENV FOOTNOTE.*$`).FindString(dockerfile), -1)
	for _, set := range env {
		if !knownSettings(t)[set[1]] {
			t.Errorf("Dockerfile sets %s, which is not a setting", set[1])
		}
	}
	if !slices.ContainsFunc(env, func(set []string) bool { return set[1] == "FOOTNOTE_KEYS" }) {
		t.Error("server in the image requires no key")
	}
	if len(env) == 0 || !slices.Contains(strings.Fields(rootFile(t, ".dockerignore")), "node_modules") {
		t.Error("image lacks settings or includes node_modules")
	}
}

// The examples require keys, so each documents two commands: one to start and one to create the first key.
func TestExamplesDocumentFirstKey(t *testing.T) {
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
				t.Errorf("%s or docs/operation.md lacks %q", name, command)
			}
		}
	}
}

func TestReleasesBuildLikeMakefile(t *testing.T) {
	file := documentsOf(t, ".goreleaser.yaml")[0]
	targets, _ := at(file, "builds", 0, "targets").([]any)
	var names []string
	for _, target := range targets {
		system, rest, _ := strings.Cut(target.(string), "_")
		processor, _, _ := strings.Cut(rest, "_")
		names = append(names, system+"/"+processor)
	}
	slices.Sort(names)
	want := []string{"darwin/amd64", "darwin/arm64", "linux/amd64", "linux/arm64", "windows/amd64", "windows/arm64"}
	if !slices.Equal(names, want) {
		t.Errorf("releases are for %q, want %q", names, want)
	}
	makefile := rootFile(t, "Makefile")
	flags := regexp.MustCompile(`-ldflags "([^"]*)" -o bin/footnote \./cmd/footnote`).FindStringSubmatch(makefile)
	if flags == nil {
		t.Fatal("Makefile does not build ./cmd/footnote")
	}
	built := strings.NewReplacer(
		"$(VERSION)", "v{{ .Version }}", "$(COMMIT)", "{{ .Env.COMMIT }}", "$(DATE)", "{{ .Env.DATE }}",
		"$(REPOSITORY)", "{{ .Env.REPOSITORY }}",
	).Replace(flags[1])
	if got := at(file, "builds", 0, "ldflags", 0); got != built {
		t.Errorf("linker flags of goreleaser =\n%v, want those of the Makefile\n%s", got, built)
	}
	if check := rootFile(t, "deploy/release/check.sh"); !strings.Contains(check, strings.NewReplacer(
		"$(VERSION)", "v$version", "$(COMMIT)", "$COMMIT", "$(DATE)", "$DATE", "$(REPOSITORY)", "$REPOSITORY",
	).Replace(flags[1])) {
		t.Error("deploy/release/check.sh builds with other flags the second time")
	}
	if strings.Contains(makefile, "github.com/footnote") {
		t.Error("Makefile names the repository, want it only in go.mod")
	}
}

// Every file that goreleaser packs exists or is built by make release.
func TestReleasedFilesExist(t *testing.T) {
	text := rootFile(t, ".goreleaser.yaml")
	files := regexp.MustCompile(`(?:src|dockerfile|postinstall|preremove): (\S+)`).FindAllStringSubmatch(text, -1)
	if len(files) < 10 {
		t.Fatalf("%d files are packed, want some more", len(files))
	}
	for _, file := range files {
		_, err := os.Stat(filepath.Join(root, file[1]))
		if err != nil && !strings.HasPrefix(file[1], ".cache/release/") {
			t.Errorf("goreleaser packs %s, which is missing: %v", file[1], err)
		}
	}
	if strings.Contains(text, "github.com/") {
		t.Error(".goreleaser.yaml names a repository, want it only in the Makefile")
	}
}

func TestReleasedImageIsLastDockerfileStage(t *testing.T) {
	steps := func(name string) (list []string) {
		_, last, _ := strings.Cut(rootFile(t, name), "\nFROM scratch\n")
		for line := range strings.Lines(last) {
			if line = strings.TrimSpace(line); !strings.HasPrefix(line, "#") {
				list = append(list, line)
			}
		}
		return list
	}
	built := steps("Dockerfile")
	i := slices.Index(built, "COPY --from=build /src/bin/footnote /footnote")
	if i < 0 {
		t.Fatal("Dockerfile does not copy the program")
	}
	built[i] = "COPY footnote /footnote"
	if released := steps("deploy/package/Dockerfile"); !slices.Equal(released, built) {
		t.Errorf("released image =\n%q, want that of the Dockerfile\n%q", released, built)
	}
}

func TestPackageServiceMatchesProgram(t *testing.T) {
	unit := rootFile(t, "deploy/package/footnote.service")
	for _, want := range []string{"User=footnote\n", "ExecStart=/usr/bin/footnote serve\n", "StateDirectory=footnote\n",
		"EnvironmentFile=-/etc/footnote/footnote.env\n", "ProtectSystem=strict\n", "NoNewPrivileges=yes\n"} {
		if !strings.Contains(unit, want) {
			t.Errorf("unit lacks %q", want)
		}
	}
	set := regexp.MustCompile(`\b([A-Z]+_[A-Z_]+)=`)
	for _, name := range set.FindAllStringSubmatch(unit+rootFile(t, "deploy/package/footnote.env"), -1) {
		if !knownSettings(t)[name[1]] {
			t.Errorf("service sets %s, which is not a setting", name[1])
		}
	}
	starts := regexp.MustCompile(`systemctl.* (start|enable|restart)\b`)
	for _, script := range []string{"installed.sh", "removing.sh"} {
		if starts.MatchString(rootFile(t, "deploy/package/"+script)) {
			t.Errorf("%s starts a service, want none", script)
		}
	}
}

// Every command in the documents is valid. It runs in a shell with stubs that record the calls of programs. Each
// call is then parsed like by the program itself.
func TestDocumentedCommandsAreValid(t *testing.T) {
	known, makefile, compose := knownSettings(t), makefiles(t), rootFile(t, "compose.yaml")
	dir := docstest.Workplace(t, root)
	for _, own := range []string{"folder", "scifact", "nfcorpus"} { // folders of the reader
		if err := os.Mkdir(filepath.Join(dir, own), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	seen := map[string]int{}
	for _, doc := range docstest.Read(t, root) {
		machine := containers{dir: dir, images: map[string]bool{}, names: map[string]bool{}, secrets: map[string]bool{}}
		for _, call := range doc.Calls(t, dir) {
			seen[call.Program]++
			fault, variables := "", ""
			switch call.Program {
			case "footnote":
				fault = footnoteFault(t, dir, call)
			case "make":
				fault, variables = makeFault(call, makefile), makefile
			case "docker":
				fault, variables = machine.dockerFault(t, call.Args), compose
			case "kubectl":
				fault = machine.kubectlFault(t, call.Args)
			case "go":
				fault = goFault(dir, call)
			}
			if fault != "" {
				t.Errorf("%s: %s: %s", doc.Name, call, fault)
			}
			for _, name := range call.Set {
				if !known[name] && !slices.Contains([]string{"TMPDIR", "GOMAXPROCS"}, name) &&
					!regexp.MustCompile(`\b`+name+`\b`).MatchString(variables) {
					t.Errorf("%s: %s: %s is not a setting of it", doc.Name, call, name)
				}
			}
		}
	}
	for program, least := range map[string]int{"footnote": 30, "make": 20, "docker": 4, "kubectl": 2, "curl": 2} {
		if seen[program] < least {
			t.Errorf("%d calls of %s were found, want %d or more", seen[program], program, least)
		}
	}
}

// footnoteFault returns the program's error for a call. A command in running text may omit its arguments.
func footnoteFault(t *testing.T, dir string, call docstest.Call) (fault string) {
	t.Helper()
	var cli commands
	parser, err := newParser(&cli, io.Discard, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	t.Run(call.String(), func(t *testing.T) {
		t.Chdir(dir) // the folder of its file arguments
		_, err := parseArguments(parser, call.Args)
		if err != nil && !(call.Span && strings.HasPrefix(err.Error(), "expected ")) {
			fault = parser.Suggest(call.Args, err).Error()
		}
	})
	return fault
}

// makefiles returns the Makefile and its includes.
func makefiles(t *testing.T) string {
	t.Helper()
	all := rootFile(t, "Makefile")
	included := regexp.MustCompile(`(?m)^include (.*)$`).FindStringSubmatch(all)
	if included == nil {
		t.Fatal("Makefile includes nothing")
	}
	for _, name := range strings.Fields(included[1]) {
		all += rootFile(t, name)
	}
	return all
}

// makeFault returns the missing rule of a make call, or the variable that the Makefile does not have.
func makeFault(call docstest.Call, makefile string) string {
	dry := exec.Command("make", append([]string{"-n"}, call.Args...)...)
	dry.Dir = root
	var stderr bytes.Buffer
	if dry.Stderr = &stderr; dry.Run() != nil {
		return stderr.String()
	}
	for _, arg := range call.Args {
		if name, _, ok := strings.Cut(arg, "="); ok && !regexp.MustCompile(`\b`+name+`\b`).MatchString(makefile) {
			return "the Makefile has no " + name
		}
	}
	return ""
}

// goFault returns the error for a missing package of a go command.
func goFault(dir string, call docstest.Call) string {
	for _, arg := range call.Args {
		if strings.HasPrefix(arg, "./") && !strings.HasSuffix(arg, "...") {
			if _, err := os.Stat(filepath.Join(dir, arg)); err != nil {
				return err.Error()
			}
		}
	}
	return ""
}

// containers holds the images, containers and secrets that a document's commands have created so far.
type containers struct {
	dir                    string // the working directory of the commands
	images, names, secrets map[string]bool
}

// dockerFault returns the error of a docker command: an image that was not built, an unknown container or service,
// an invalid command of the program.
func (c *containers) dockerFault(t *testing.T, args []string) string {
	t.Helper()
	takes := func(flag string) bool { // flags with a separate value
		return slices.Contains([]string{"-t", "--tag", "--build-arg", "--name", "-p", "-v", "-e", "--profile"}, flag)
	}
	var words []string
	flags := map[string]string{}
	for i := 0; i < len(args); i++ {
		switch {
		case !strings.HasPrefix(args[i], "-") || len(words) > 2: // arguments after the image belong to the program
			words = append(words, args[i])
		case takes(args[i]) && i+1 < len(args):
			flags[args[i]] = args[i+1]
			i++
		default:
			flags[args[i]] = ""
		}
	}
	switch {
	case len(words) == 2 && words[0] == "build":
		c.images[flags["-t"]] = true
		_, err := os.Stat(filepath.Join(c.dir, words[1], "Dockerfile"))
		return faultOf(err)
	case len(words) >= 2 && words[0] == "run":
		if !c.images[words[1]] {
			return "no command before it builds the image " + words[1] + ", and nobody published it"
		}
		c.names[flags["--name"]] = true
		return ""
	case len(words) > 2 && words[0] == "exec" && c.names[words[1]]:
		return c.imageFault(t, words[2:])
	case len(words) == 2 && words[0] == "compose" && words[1] == "up":
		if _, ok := flags["--build"]; !ok {
			return "it builds no image, and nobody published one"
		}
		return ""
	case len(words) > 3 && words[0] == "compose" && words[1] == "exec" &&
		strings.Contains(rootFile(t, "compose.yaml"), "\n  "+words[2]+":\n"):
		return c.imageFault(t, words[3:])
	}
	return "the test does not know this command: teach it"
}

// imageFault returns the error of a command inside a container.
func (c *containers) imageFault(t *testing.T, command []string) string {
	t.Helper()
	if !strings.Contains(rootFile(t, "Dockerfile"), "ENTRYPOINT [\""+command[0]+"\"]") {
		return "the image has no " + command[0]
	}
	return footnoteFault(t, c.dir, docstest.Call{Program: "footnote", Args: command[1:]})
}

// kubectlFault returns the error of a kubectl command: unknown manifests, images that were not built, secrets that
// were not created, or a command in an unknown Deployment.
func (c *containers) kubectlFault(t *testing.T, args []string) string {
	t.Helper()
	manifests := rootFile(t, "deploy/kubernetes/footnote.yaml")
	switch {
	case len(args) > 3 && slices.Equal(args[:3], []string{"create", "secret", "generic"}):
		c.secrets[args[3]] = true
		return ""
	case len(args) == 3 && args[0] == "apply" && args[1] == "-f":
		for _, image := range regexp.MustCompile(`(?m)^ +image: (\S+)`).FindAllStringSubmatch(manifests, -1) {
			if !c.images[image[1]] {
				return "no command before it builds the image " + image[1] + ", and nobody published it"
			}
		}
		for _, secret := range regexp.MustCompile(`secretKeyRef: \{name: (\w+)`).FindAllStringSubmatch(manifests, -1) {
			if !c.secrets[secret[1]] {
				return "no command before it makes the secret " + secret[1]
			}
		}
		_, err := os.Stat(filepath.Join(c.dir, args[2]))
		return faultOf(err)
	case len(args) == 3 && args[0] == "rollout" && args[1] == "status" && isDeployment(manifests, args[2]):
		return ""
	case len(args) > 3 && args[0] == "exec" && args[2] == "--" && isDeployment(manifests, args[1]):
		return c.imageFault(t, args[3:])
	}
	return "the test does not know this command: teach it"
}

// isDeployment reports whether manifests contain a Deployment of that name, written deploy/name.
func isDeployment(manifests, name string) bool {
	return strings.Contains(manifests, "kind: Deployment\nmetadata:\n  name: "+strings.TrimPrefix(name, "deploy/")+"\n")
}

func faultOf(err error) string {
	if err != nil {
		return err.Error()
	}
	return ""
}

// Every setting, file and link in the documents exists.
func TestDocumentedSettingsFilesAndLinksExist(t *testing.T) {
	known := knownSettings(t)
	var code strings.Builder // code that reads further variables
	for _, name := range append(sources(t, ".go"), "Makefile") {
		if strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "e2e/") || name == "Makefile" {
			code.WriteString(rootFile(t, name))
		}
	}
	top := map[string]bool{}
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		top[entry.Name()] = entry.IsDir()
	}
	variable := regexp.MustCompile(`\b(?:FOOTNOTE|OPENAI|ANTHROPIC|MILVUS)_[A-Z0-9_]*[A-Z0-9](_…)?`)
	settings, files := 0, 0
	for _, doc := range docstest.Read(t, root) {
		for _, found := range variable.FindAllStringSubmatch(doc.Text, -1) {
			settings++
			name := strings.TrimSuffix(found[0], "…")
			ok := known[name] || name == "OPENAI_API_BASE_URL" || // Open WebUI's
				found[1] == "" && strings.Contains(code.String(), name)
			for setting := range known {
				ok = ok || found[1] != "" && strings.HasPrefix(setting, name)
			}
			if !ok {
				t.Errorf("%s: %s is not a setting", doc.Name, found[0])
			}
		}
		for _, span := range doc.Spans {
			file, _, _ := strings.Cut(span, " ")
			if dir, _, ok := strings.Cut(file, "/"); !ok || !top[dir] || file != span || span == "text/event-stream" {
				continue
			}
			files++
			if list, err := filepath.Glob(filepath.Join(root, file)); err != nil || len(list) == 0 {
				t.Errorf("%s: %s does not exist", doc.Name, file)
			}
		}
		for _, link := range doc.Links {
			if target, _, _ := strings.Cut(link, "#"); target != "" && !strings.Contains(target, ":") {
				files++
				if _, err := os.Stat(filepath.Join(root, path.Dir(doc.Name), target)); err != nil {
					t.Errorf("%s: target of the link %s does not exist", doc.Name, link)
				}
			}
		}
	}
	if settings < 100 || files < 50 {
		t.Errorf("%d settings and %d files were found, want 100 and 50 or more", settings, files)
	}
}
