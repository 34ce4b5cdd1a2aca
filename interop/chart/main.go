// Checks the objects of kinds that Kubernetes does not bring: reads YAML, decodes it strictly into the types of their projects, and
// prints a line for each fault. Kinds of Kubernetes are left to check.py.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
	gateway "sigs.k8s.io/gateway-api/apis/v1"
	strict "sigs.k8s.io/yaml"
)

var custom = map[string]func() any{
	"monitoring.coreos.com/v1 ServiceMonitor": func() any { return &monitoring.ServiceMonitor{} },
	"gateway.networking.k8s.io/v1 HTTPRoute":  func() any { return &gateway.HTTPRoute{} },
}

func main() {
	documents := yaml.NewYAMLReader(bufio.NewReader(os.Stdin))
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		check(document)
	}
}

func check(document []byte) {
	var kind meta.TypeMeta
	if err := strict.Unmarshal(document, &kind); err != nil {
		fmt.Println(err)
		return
	}
	name := kind.APIVersion + " " + kind.Kind
	group, _, _ := strings.Cut(kind.APIVersion, "/")
	if !strings.Contains(group, ".") || group == "networking.k8s.io" {
		return
	}

	target, ok := custom[name]
	if !ok {
		fmt.Printf("%s: not known\n", name)
		return
	}
	if err := strict.UnmarshalStrict(document, target()); err != nil {
		fmt.Printf("%s: %v\n", name, err)
	}
}
