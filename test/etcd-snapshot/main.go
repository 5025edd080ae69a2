// Command etcd-snapshot saves and restores etcd as an operator does: `save URL FILE` asks a server that runs for its state, as
// `etcdctl snapshot save` does; everything else goes to `etcdutl snapshot`.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/etcdutl/v3/etcdutl"
	"go.etcd.io/etcd/etcdutl/v3/snapshot"
	"go.uber.org/zap"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 3 && args[0] == "save" {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		config := clientv3.Config{Endpoints: []string{args[1]}, DialTimeout: 10 * time.Second}
		_, err := snapshot.NewV3(zap.NewNop()).Save(ctx, config, args[2])
		return err
	}
	command := etcdutl.NewSnapshotCommand()
	command.SetArgs(args)
	return command.Execute()
}
