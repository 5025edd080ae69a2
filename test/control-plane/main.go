// Command kube holds a whole control plane, and the kubelet of its nodes, in one binary: the name it is called by, or its first argument,
// picks the program.
package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"jobferry.dev/control-plane/instantpods"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	kubectl "k8s.io/kubectl/pkg/cmd"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"
)

var programs = map[string]func() *cobra.Command{
	"kube-apiserver":          apiserver.NewAPIServerCommand,
	"kube-controller-manager": controllermanager.NewControllerManagerCommand,
	"kube-scheduler":          func() *cobra.Command { return scheduler.NewSchedulerCommand() },
	"kubelet":                 func() *cobra.Command { return kubelet.NewKubeletCommand(context.Background()) },
	"kubectl":                 kubectl.NewDefaultKubectlCommand,
	"instant-pods":            instantpods.NewCommand,
}

func main() {
	name, args := pick(os.Args)
	if name == "etcd" { // no cobra command of its own
		etcdmain.Main(append([]string{"etcd"}, args...))
		return
	}
	newCommand, known := programs[name]
	if !known {
		names := append(slices.Collect(maps.Keys(programs)), "etcd")
		slices.Sort(names)
		fmt.Fprintf(os.Stderr, "usage: kube %s [flags]\n", strings.Join(names, "|"))
		os.Exit(2)
	}
	os.Args = append([]string{name}, args...)
	os.Exit(cli.Run(newCommand()))
}

// pick names the program: by the link that this binary was called through, else by the first argument.
func pick(argv []string) (string, []string) {
	name := filepath.Base(argv[0])
	if _, known := programs[name]; known || name == "etcd" {
		return name, argv[1:]
	}
	if len(argv) < 2 {
		return "", nil
	}
	return argv[1], argv[2:]
}
