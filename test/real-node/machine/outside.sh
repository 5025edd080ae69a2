#!/bin/bash
# The machine's half of a node's start: moves into the node's cgroups, enters fresh namespaces and becomes inside.sh.
# Whoever ends this process ends the node: its first process dies with it (--kill-child), and the kernel then kills all others
# of its PID namespace and drops its mounts and network.
set -euo pipefail

exec 9< /proc/self/ns/net # by which inside.sh makes the machine's end of the node's link
for group in $NODE_CGROUPS; do echo $$ > "$group/cgroup.procs"; done

# The cgroup namespace comes first: its root is the group we are in at this moment. With version 2 a group cannot have both
# processes and groups with controllers, so that we leave the root for a group of our own.
enter='
  if [ -e "$0/cgroup.controllers" ]; then mkdir "$0/init"; echo $$ > "$0/init/cgroup.procs"; fi
  exec unshare --fork --kill-child --pid --mount --net --uts --ipc --propagation private "$@"'
exec unshare --cgroup bash -c "$enter" "${NODE_CGROUPS##* }" "$(dirname "$0")/inside.sh"
