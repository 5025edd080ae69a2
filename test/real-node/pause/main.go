// Command pause is the container that keeps a pod's namespaces alive until the kubelet ends the pod.
package main

import (
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGINT, syscall.SIGTERM)
	// In a pod with one PID namespace for all containers it is process 1: ignored children are reaped by the kernel.
	signal.Ignore(syscall.SIGCHLD)
	<-ended
}
