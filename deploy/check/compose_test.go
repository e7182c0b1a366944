// Package check validates compose.yaml and deploy/kubernetes against the schemas of Compose and Kubernetes: 'make
// check-deploy'.
package check

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/util/yaml"
)

const root = "../.."

// load parses compose.yaml like 'docker compose'.
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

func TestComposeStartsTwoReplicasBehindProxy(t *testing.T) {
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
		t.Errorf("services for semantic search = %v", got)
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
	// Persistent data is in a volume that replicas share, and the data directory is not.
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
			t.Errorf("%s lacks a health check, a restart policy or an image", name)
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

// objects decodes the manifests into the types of Kubernetes: an unknown or duplicate field, or one of another
// type, is an error.
func objects(t *testing.T) (list []runtime.Object) {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		appsv1.AddToScheme, corev1.AddToScheme, networkingv1.AddToScheme, policyv1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	decoder := json.NewSerializerWithOptions(json.DefaultMetaFactory, scheme, scheme,
		json.SerializerOptions{Yaml: true, Strict: true})
	files, err := filepath.Glob(root + "/deploy/kubernetes/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		file, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		documents := yaml.NewYAMLReader(bufio.NewReader(file))
		for {
			document, err := documents.Read()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			object, kind, err := decoder.Decode(document, nil, nil)
			if err != nil {
				t.Errorf("%s: %v: %v, want no error", name, kind, err)
				continue
			}
			list = append(list, object)
		}
	}
	return list
}

func TestKubernetesAcceptsManifests(t *testing.T) {
	t.Parallel()
	var (
		deployment *appsv1.Deployment
		service    *corev1.Service
		claim      *corev1.PersistentVolumeClaim
		ingress    *networkingv1.Ingress
		budget     *policyv1.PodDisruptionBudget
	)
	for _, object := range objects(t) {
		switch o := object.(type) {
		case *appsv1.Deployment:
			deployment = o
		case *corev1.Service:
			service = o
		case *corev1.PersistentVolumeClaim:
			claim = o
		case *networkingv1.Ingress:
			ingress = o
		case *policyv1.PodDisruptionBudget:
			budget = o
		default:
			t.Errorf("a %T", object)
		}
	}
	if deployment == nil || service == nil || claim == nil || ingress == nil || budget == nil {
		t.Fatalf("objects are missing: %v %v %v %v %v", deployment, service, claim, ingress, budget)
	}
	pod := deployment.Spec.Template.Spec
	container := pod.Containers[0]
	if *deployment.Spec.Replicas < 2 || int32(budget.Spec.MinAvailable.IntValue()) >= *deployment.Spec.Replicas {
		t.Errorf("%d replicas with a minimum of %v, want at least 2",
			*deployment.Spec.Replicas, budget.Spec.MinAvailable)
	}
	if !*pod.SecurityContext.RunAsNonRoot || *pod.SecurityContext.RunAsUser != 65532 ||
		!*container.SecurityContext.ReadOnlyRootFilesystem || *container.SecurityContext.AllowPrivilegeEscalation {
		t.Errorf("pod has too many privileges: %+v %+v", pod.SecurityContext, container.SecurityContext)
	}
	if pause := container.Lifecycle.PreStop.Sleep; pause == nil ||
		*pod.TerminationGracePeriodSeconds < pause.Seconds+30 {
		t.Errorf("a pod has %d seconds to end, after %v, want at least %d",
			*pod.TerminationGracePeriodSeconds, pause, pause.Seconds+30)
	}
	volumes := map[string]bool{}
	for _, volume := range pod.Volumes {
		volumes[volume.Name] = true
		if volume.PersistentVolumeClaim != nil && volume.PersistentVolumeClaim.ClaimName != claim.Name {
			t.Errorf("the pod wants the claim %s", volume.PersistentVolumeClaim.ClaimName)
		}
	}
	shared := ""
	for _, mount := range container.VolumeMounts {
		if !volumes[mount.Name] {
			t.Errorf("%s mounts no volume", mount.MountPath)
		}
		if mount.Name == "shared" {
			shared = mount.MountPath + "/"
		}
	}
	kept := 0
	for _, env := range container.Env {
		if shared != "" && (env.Name == "FOOTNOTE_BLOBS" || env.Name == "FOOTNOTE_KEYS") &&
			strings.HasPrefix(strings.TrimPrefix(env.Value, "file://"), shared) {
			kept++
		}
	}
	if kept != 2 {
		t.Errorf("originals and keys are not in the volume at %q: %v", shared, container.Env)
	}
	if len(claim.Spec.AccessModes) != 1 || claim.Spec.AccessModes[0] != corev1.ReadWriteMany {
		t.Errorf("replicas can't share a volume that is %v; want 1 access mode and %v",
			claim.Spec.AccessModes, corev1.ReadWriteMany)
	}
	port := container.Ports[0].Name
	for name, probe := range map[string]*corev1.Probe{
		"startup": container.StartupProbe, "readiness": container.ReadinessProbe, "liveness": container.LivenessProbe,
	} {
		if probe.HTTPGet.Port.StrVal != port {
			t.Errorf("the probe of %s asks port %v, want StrVal %v", name, probe.HTTPGet.Port, port)
		}
	}
	backend := ingress.Spec.Rules[0].HTTP.Paths[0].Backend.Service
	if service.Spec.Ports[0].TargetPort.StrVal != port || backend.Name != service.Name ||
		backend.Port.Name != service.Spec.Ports[0].Name {
		t.Errorf("the way from %v over %v to %s is broken; want %v, Name %v, Port.Name %v",
			backend, service.Spec.Ports, port, port, service.Name, service.Spec.Ports[0].Name)
	}
	for key, value := range service.Spec.Selector {
		if deployment.Spec.Template.Labels[key] != value || deployment.Spec.Selector.MatchLabels[key] != value ||
			budget.Spec.Selector.MatchLabels[key] != value {
			t.Errorf("the service wants %s=%s", key, value)
		}
	}
}
