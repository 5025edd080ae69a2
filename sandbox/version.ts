/** Of the Kubernetes API that the sandbox speaks. */
export const KUBERNETES_VERSION = "v1.36.3";
