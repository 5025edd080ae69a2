/** May we do what the Roles of deploy/ allow? Asked before anything is changed, so that nothing is left half done. */
import type { KubeObject, Resource } from "@jobferry/shared/kube/api.ts";
import { ConfigError } from "@jobferry/shared/runtime/config-error.ts";
import { parseAllDocuments } from "yaml";
import type { ReachedCluster } from "./clusters.ts";
import { packagedFile } from "./files.ts";

interface Review extends KubeObject {
  spec: { resourceAttributes: Attributes };
  status?: { allowed?: boolean };
}

interface Attributes {
  group: string;
  resource: string;
  subresource?: string;
  verb: string;
  namespace?: string;
  name?: string;
}

interface Rule {
  apiGroups: string[];
  resources: string[];
  resourceNames?: string[];
  verbs: string[];
}

const reviews: Resource<Review> = {
  group: "authorization.k8s.io",
  version: "v1",
  plural: "selfsubjectaccessreviews",
  kind: "SelfSubjectAccessReview",
  namespaced: false,
};

/** What `up` itself does beside them: the enrolment, and keys that outlive it. */
const ENROLMENT: Rule = {
  apiGroups: ["jobferry.dev"],
  resources: ["workerclusters"],
  verbs: ["get", "create", "patch"],
};
const KEYS: Rule = { apiGroups: [""], resources: ["secrets"], verbs: ["get", "create"] };

/** Throws with everything that is not allowed. */
export async function checkRights({ flag, api }: ReachedCluster, role: "hub" | "worker"): Promise<void> {
  const file = `deploy/${role}/rbac.yaml`;
  const wanted = attributesOf(packagedFile(file));
  if (role === "hub") wanted.push(...expand(ENROLMENT, undefined), ...expand(KEYS, "jobferry-system"));
  const answers = await Promise.all(
    wanted.map(async (resourceAttributes) => {
      const review = await api.create(reviews, undefined, { metadata: {}, spec: { resourceAttributes } });
      return review.status?.allowed === true ? [] : [sentence(resourceAttributes)];
    }),
  );
  const lacking = [...new Set(answers.flat())];
  if (lacking.length === 0) return;
  const fix = `use an administrator's kubeconfig, or have the rules of ${file} granted to this user`;
  throw new ConfigError(`${flag}: ${api.server} does not let this user ${lacking.join(", ")}; ${fix}`);
}

function attributesOf(manifests: string): Attributes[] {
  const documents = parseAllDocuments(manifests).map((document) => document.toJS() as KubeObject & { rules?: Rule[] });
  return documents.flatMap(({ rules = [], metadata }) => rules.flatMap((rule) => expand(rule, metadata.namespace)));
}

function expand({ apiGroups, resources, resourceNames, verbs }: Rule, namespace: string | undefined): Attributes[] {
  return apiGroups.flatMap((group) =>
    resources.flatMap((path) => {
      const [resource = "", subresource] = path.split("/");
      return verbs.flatMap((verb) =>
        (resourceNames ?? [undefined]).map((name) => ({
          group,
          resource,
          verb,
          ...(subresource === undefined ? {} : { subresource }),
          ...(namespace === undefined ? {} : { namespace }),
          ...(name === undefined ? {} : { name }),
        })),
      );
    }),
  );
}

const sentence = ({ verb, resource, subresource, group }: Attributes): string =>
  `${verb} ${resource}${group === "" ? "" : `.${group}`}${subresource === undefined ? "" : `/${subresource}`}`;
