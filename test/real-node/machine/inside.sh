#!/bin/bash
# Process 1 of a node: makes its namespaces look like a machine, then runs containerd and kubelet until one of them ends.
# Told by real-node.ts: NODE_NAME, NODE_FOLDER (state and logs), NODE_LINK_PREFIX, NODE_HIERARCHIES, NODE_IMAGES, KUBELET,
# API_ADDRESS and API_PORT (the Service `kubernetes`, and what listens on the machine's loopback for it).
set -euo pipefail
umask 022 # containers of any user read what is made here, whatever the caller's umask
here=$(dirname "$0")

hostname "$NODE_NAME"
. "$here/mounts.sh"
. "$here/network.sh"

containerd --config "$NODE_FOLDER/containerd.toml" --log-level warn > "$NODE_FOLDER/containerd.log" 2>&1 &
for _ in {1..400}; do
  ctr version > /dev/null 2>&1 && break
  sleep 0.05
done
for image in $NODE_IMAGES; do ctr --namespace k8s.io images import "$image"; done

# containerd answers before it has read the containers of an earlier start, and a kubelet that asks it meanwhile ends.
kubelet() {
  for _ in {1..100}; do
    "$KUBELET" --config "$NODE_FOLDER/kubelet.json" --kubeconfig "$NODE_FOLDER/kubeconfig" --node-ip "$node_address" \
      > "$NODE_FOLDER/kubelet.log" 2>&1 || true
    grep -q "server is not initialized yet" "$NODE_FOLDER/kubelet.log" || return
    sleep 0.1
  done
}
kubelet &
wait -n
echo "containerd or kubelet has ended: their logs say why" >&2
exit 1
