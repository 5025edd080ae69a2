/** What the test of the pages does otherwise than a reader, in full: whatever is not named here is run as it stands on the page. */
import { root } from "./page.ts";

export const INSTALL = "docs/install.md";
export const README = "README.md";
export const TROUBLESHOOTING = "docs/troubleshooting.md";
export const KEYS = "docs/keys.md";

/** Blocks that are not run, by page and how they begin, and why. */
export const NOT_HERE: Record<string, Record<string, string>> = {
  [INSTALL]: {
    "npm run images":
      "no base image can be pulled in a test, and there is no registry: test/e2e/deployed builds and runs both",
  },
  [README]: {
    "flowchart LR": "a drawing",
    "jobferry up --hub HUB_KUBECONFIG":
      "run by test/e2e/up-existing.real.test.ts and, with one worker, from install.md",
  },
  [TROUBLESHOOTING]: {},
};

/** Blocks that the reader ends by Ctrl-C, and what they have said by then. */
export const UNTIL_CTRL_C: Record<string, RegExp> = { "jobferry up --hub": /Press Ctrl-C to stop/ };

export interface Places {
  hub: string;
  east: string;
  redisPort: number;
  /** A folder for what Redis keeps. */
  redisFolder: string;
}

/** What the reader puts in place of what stands on the pages. */
export const substitutions = ({ hub, east, redisPort, redisFolder }: Places): [RegExp, string][] => [
  // The dist/ of the tree is in use by others.
  [/^npm run build$/gm, `${process.execPath} ${root}/scripts/build.ts dist`],
  [/\$HOME\/\.kube\/hub\.yaml/g, hub],
  [/\$HOME\/\.kube\/east\.yaml/g, east],
  [/redis\.example\.com:6379/g, `127.0.0.1:${redisPort}`],
  [/^redis-server deploy\/redis\/redis\.conf/gm, `$& --bind 127.0.0.1 --tls-port ${redisPort} --dir ${redisFolder}`],
  // Any that is free.
  [/--metrics-port 808[01]/g, "--metrics-port 0"],
  // README.md's; east is enrolled by then.
  [/cluster add east --redis-url/g, "cluster add north --redis-url"],
  [/--kubeconfig (HUB|EAST)\b/g, '--kubeconfig "$$$1"'],
  [/\bNAMESPACE\b/g, "team-a"],
  [/\bNAME\b/g, "hello"],
  [/REDIS_HOST -p 6379/g, `127.0.0.1 -p ${redisPort}`],
];

/** What the commands in the text of docs/troubleshooting.md say for a Job that has run well; a string says why it is not run. */
export const INLINE: Record<string, RegExp | string> = {
  "jobferry cluster list": /^NAME .*\neast +True +True/,
  "kubectl get job NAME -n NAMESPACE -o jsonpath='{.spec.managedBy}'": /^jobferry\.dev\/manager$/,
  "kubectl get ns NAMESPACE --show-labels": /jobferry\.dev\/dispatch=enabled/,
  "kubectl get mutatingadmissionpolicies": /jobferry-dispatch/,
  "kubectl get lease jobferry-manager -n jobferry-system -o yaml": /holderIdentity: \S+[\s\S]*renewTime: /,
  "kubectl --kubeconfig EAST get lease jobferry-agent -n jobferry-system -o yaml": /holderIdentity: \S+/,
  "kubectl get workerclusters": /^NAME +CONNECTED +READY +CORDONED +JOBS +LAST-CONTACT .*\neast +True/,
  "jobferry cluster uncordon east": /\neast +True/,
  "kubectl --kubeconfig EAST get ns NAMESPACE": /team-a +Active/,
  "kubectl --kubeconfig EAST get ns NAMESPACE --show-labels": /jobferry\.dev\/accept=enabled/,
  "kubectl --kubeconfig EAST get job NAME -n NAMESPACE": /hello +Complete/,
  "kubectl version": /Server Version: v1\.36/,
  "kubectl logs job/NAME -n NAMESPACE": "fails after 20 s, as test/e2e/tooling/kubectl.ts shows with a shorter time",
  "kubectl --kubeconfig EAST logs job/NAME -n NAMESPACE": "logs are a kubelet's, and there is none",
  "jobferry logs NAME --namespace NAMESPACE": "the same; test/e2e/pods/manager-logs.real.test.ts runs it",
  "jobferry logs": "a name",
  "kubectl get pods,endpointslices -n jobferry-system": "the manager is a process here, and has neither",
  "kubectl get pods -n NAMESPACE": /hello-\w+ .*Completed/,
  "kubectl --kubeconfig EAST get pods -n NAMESPACE": /hello-\w+ .*Completed/,
  "redis-cli --tls --cacert redis-ca.crt -h REDIS_HOST -p 6379 ping": /^NOAUTH/,
  "redis_admin ACL LIST": /^user jobferry-east on /m,
  "kubectl describe workercluster east": /Reason: +Accepting/,
  'kubectl patch job NAME -n NAMESPACE --type=merge -p \'{"metadata":{"finalizers":null}}\'':
    /job\.batch\/hello patched/,
  "kubectl --kubeconfig HUB version": /Server Version: v1\.36/,
  "jobferry cluster add": "a name; the whole command stands in a block",
  "kubectl delete": "a name",
  "jobferry up": "a name",
};
