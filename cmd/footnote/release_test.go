package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestReleasesAreBuiltAsTheMakefileDoes(t *testing.T) {
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
		t.Fatal("the Makefile does not build ./cmd/footnote")
	}
	built := strings.NewReplacer(
		"$(VERSION)", "v{{ .Version }}", "$(COMMIT)", "{{ .Env.COMMIT }}", "$(DATE)", "{{ .Env.DATE }}",
		"$(REPOSITORY)", "{{ .Env.REPOSITORY }}",
	).Replace(flags[1])
	if got := at(file, "builds", 0, "ldflags", 0); got != built {
		t.Errorf("goreleaser links with\n%v, the Makefile with\n%s", got, built)
	}
	if check := rootFile(t, "deploy/release/check.sh"); !strings.Contains(check, strings.NewReplacer(
		"$(VERSION)", "v$version", "$(COMMIT)", "$COMMIT", "$(DATE)", "$DATE", "$(REPOSITORY)", "$REPOSITORY",
	).Replace(flags[1])) {
		t.Error("deploy/release/check.sh builds the second time with other flags")
	}
	if strings.Contains(makefile, "github.com/footnote") {
		t.Error("the Makefile names the repository, which go.mod names")
	}
}

// Every file that goreleaser packs is there, or made by make release.
func TestReleasesPackFilesThatExist(t *testing.T) {
	text := rootFile(t, ".goreleaser.yaml")
	files := regexp.MustCompile(`(?:src|dockerfile|postinstall|preremove): (\S+)`).FindAllStringSubmatch(text, -1)
	if len(files) < 10 {
		t.Fatalf("%d files are packed, want some more", len(files))
	}
	for _, file := range files {
		_, err := os.Stat(filepath.Join(root, file[1]))
		if err != nil && !strings.HasPrefix(file[1], ".cache/release/") {
			t.Errorf("goreleaser packs %s: %v", file[1], err)
		}
	}
	if strings.Contains(text, "github.com/") {
		t.Error(".goreleaser.yaml names a repository, which only the Makefile does")
	}
}

func TestTheReleasedImageIsTheDockerfilesLastPart(t *testing.T) {
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
		t.Fatal("the Dockerfile does not copy the program")
	}
	built[i] = "COPY footnote /footnote"
	if released := steps("deploy/package/Dockerfile"); !slices.Equal(released, built) {
		t.Errorf("the released image is\n%q, the Dockerfile's\n%q", released, built)
	}
}

func TestTheServiceOfThePackagesFitsTheProgram(t *testing.T) {
	unit := rootFile(t, "deploy/package/footnote.service")
	for _, want := range []string{"User=footnote\n", "ExecStart=/usr/bin/footnote serve\n", "StateDirectory=footnote\n",
		"EnvironmentFile=-/etc/footnote/footnote.env\n", "ProtectSystem=strict\n", "NoNewPrivileges=yes\n"} {
		if !strings.Contains(unit, want) {
			t.Errorf("the unit has no %q", want)
		}
	}
	set := regexp.MustCompile(`\b([A-Z]+_[A-Z_]+)=`)
	for _, name := range set.FindAllStringSubmatch(unit+rootFile(t, "deploy/package/footnote.env"), -1) {
		if !knownSettings(t)[name[1]] {
			t.Errorf("the service sets %s, which is no setting", name[1])
		}
	}
	starts := regexp.MustCompile(`systemctl.* (start|enable|restart)\b`)
	for _, script := range []string{"installed.sh", "removing.sh"} {
		if starts.MatchString(rootFile(t, "deploy/package/"+script)) {
			t.Errorf("%s starts something unasked", script)
		}
	}
}
