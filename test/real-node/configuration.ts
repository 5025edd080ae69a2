/** What containerd and kubelet of a node are told. */
import { pauseImage } from "./node-images.ts";

export const containerdToml = `version = 2
root = "/var/lib/containerd"
state = "/run/containerd"
disabled_plugins = [${["aufs", "btrfs", "devmapper", "zfs"].map((name) => `"io.containerd.snapshotter.v1.${name}"`).join(", ")}]

[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "${pauseImage}"
  # Scores that pods wish for need CAP_SYS_RESOURCE, which root of a container may lack.
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "/run/node/cni"
`;

/** A KubeletConfiguration; `changes` are a test's own fields. */
export const kubeletConfiguration = (changes: object): string =>
  JSON.stringify({
    apiVersion: "kubelet.config.k8s.io/v1beta1",
    kind: "KubeletConfiguration",
    containerRuntimeEndpoint: "unix:///run/containerd/containerd.sock",
    cgroupDriver: "cgroupfs",
    failCgroupV1: false,
    failSwapOn: false,
    // Its settings of the kernel are files of ours (mounts.sh): it may compare, and must not write.
    protectKernelDefaults: true,
    authentication: { anonymous: { enabled: true }, webhook: { enabled: false } },
    authorization: { mode: "AlwaysAllow" },
    resolvConf: "/run/node/resolv.conf",
    clusterDNS: ["198.18.0.1"],
    volumePluginDir: "/var/lib/kubelet/volume-plugins",
    // A full disk of the machine is not the node's: and an image that it drops cannot be had again.
    imageGCHighThresholdPercent: 100,
    evictionHard: { "memory.available": "100Mi", "nodefs.available": "1%", "imagefs.available": "1%" },
    evictionPressureTransitionPeriod: "10s",
    volumeStatsAggPeriod: "10s",
    ...changes,
  });
