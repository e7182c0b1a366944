package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/footnote/footnote/docs/docstest"
)

// Every command of the documents is one that there is: it runs in a shell, with its programs replaced by what records
// their calls, and each call is read as the program itself would read it.
func TestTheCommandsOfTheDocumentsAreThere(t *testing.T) {
	known, makefile, compose := knownSettings(t), rootFile(t, "Makefile"), rootFile(t, "compose.yaml")
	dir := docstest.Workplace(t, root)
	for _, own := range []string{"folder", "scifact", "nfcorpus"} { // that the reader has
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
				fault, variables = makeFault(call), makefile
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
					t.Errorf("%s: %s: %s is no setting of that", doc.Name, call, name)
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

// footnoteFault says what the program itself would not take. In a line of text a command may be named without what it
// is about.
func footnoteFault(t *testing.T, dir string, call docstest.Call) (fault string) {
	t.Helper()
	var cli commands
	parser, err := newParser(&cli, io.Discard, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	t.Run(call.String(), func(t *testing.T) {
		t.Chdir(dir) // where the files are that it names
		_, err := parseArguments(parser, call.Args)
		if err != nil && !(call.Span && strings.HasPrefix(err.Error(), "expected ")) {
			fault = parser.Suggest(call.Args, err).Error()
		}
	})
	return fault
}

// makeFault says what make has no rule for, or which variable its file does not know.
func makeFault(call docstest.Call) string {
	dry := exec.Command("make", append([]string{"-n"}, call.Args...)...)
	dry.Dir = root
	var stderr bytes.Buffer
	if dry.Stderr = &stderr; dry.Run() != nil {
		return stderr.String()
	}
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		return err.Error()
	}
	for _, arg := range call.Args {
		if name, _, ok := strings.Cut(arg, "="); ok && !regexp.MustCompile(`\b`+name+`\b`).Match(makefile) {
			return "the Makefile has no " + name
		}
	}
	return ""
}

// goFault says which package of a go command is not there.
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

// containers are what the commands of a document have made so far.
type containers struct {
	dir                    string // where the commands run
	images, names, secrets map[string]bool
}

// dockerFault says what of a docker command would not work: an image that nobody built, a container or service that is
// not there, a command of the program that is none.
func (c *containers) dockerFault(t *testing.T, args []string) string {
	t.Helper()
	takes := func(flag string) bool { // the flags that are followed by their values
		return slices.Contains([]string{"-t", "--tag", "--build-arg", "--name", "-p", "-v", "-e", "--profile"}, flag)
	}
	var words []string
	flags := map[string]string{}
	for i := 0; i < len(args); i++ {
		switch {
		case !strings.HasPrefix(args[i], "-") || len(words) > 2: // behind the image all is the program's own
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

// imageFault says what of a command inside a container would not work.
func (c *containers) imageFault(t *testing.T, command []string) string {
	t.Helper()
	if !strings.Contains(rootFile(t, "Dockerfile"), "ENTRYPOINT [\""+command[0]+"\"]") {
		return "the image has no " + command[0]
	}
	return footnoteFault(t, c.dir, docstest.Call{Program: "footnote", Args: command[1:]})
}

// kubectlFault says what of a kubectl command would not work: manifests that are not there, their images that nobody
// built and their secrets that nobody made, and what is run in a Deployment that is none of them.
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

// isDeployment reports whether manifests have a Deployment of that name, written deploy/name.
func isDeployment(manifests, name string) bool {
	return strings.Contains(manifests, "kind: Deployment\nmetadata:\n  name: "+strings.TrimPrefix(name, "deploy/")+"\n")
}

func faultOf(err error) string {
	if err != nil {
		return err.Error()
	}
	return ""
}

// Every setting, file and link of the documents is there.
func TestWhatTheDocumentsNameIsThere(t *testing.T) {
	known := knownSettings(t)
	var code strings.Builder // where further variables are read
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
			ok := known[name] || name == "OPENAI_API_BASE_URL" || // which is Open WebUI's
				found[1] == "" && strings.Contains(code.String(), name)
			for setting := range known {
				ok = ok || found[1] != "" && strings.HasPrefix(setting, name)
			}
			if !ok {
				t.Errorf("%s: %s is no setting", doc.Name, found[0])
			}
		}
		for _, span := range doc.Spans {
			file, _, _ := strings.Cut(span, " ")
			if dir, _, ok := strings.Cut(file, "/"); !ok || !top[dir] || file != span || span == "text/event-stream" {
				continue
			}
			files++
			if list, err := filepath.Glob(filepath.Join(root, file)); err != nil || len(list) == 0 {
				t.Errorf("%s: there is no %s", doc.Name, file)
			}
		}
		for _, link := range doc.Links {
			if target, _, _ := strings.Cut(link, "#"); target != "" && !strings.Contains(target, ":") {
				files++
				if _, err := os.Stat(filepath.Join(root, path.Dir(doc.Name), target)); err != nil {
					t.Errorf("%s: the link to %s leads nowhere", doc.Name, link)
				}
			}
		}
	}
	if settings < 100 || files < 50 {
		t.Errorf("%d settings and %d files were found, want 100 and 50 or more", settings, files)
	}
}
