/** Object metadata and references, in the notation of `notation.ts`. */
export const META_TYPES = {
  ObjectMeta: `
    name generateName namespace selfLink uid resourceVersion generation:int64 creationTimestamp:time
    deletionTimestamp:time? deletionGracePeriodSeconds:int64? labels:string{} annotations:string{}
    ownerReferences:OwnerReference[] finalizers:string[] managedFields:ManagedFieldsEntry[]`,
  OwnerReference: "apiVersion! kind! name! uid! controller:bool? blockOwnerDeletion:bool?",
  ManagedFieldsEntry: "manager operation apiVersion time:time? fieldsType fieldsV1:any? subresource",
  LabelSelector: "matchLabels:string{} matchExpressions:LabelSelectorRequirement[]",
  LabelSelectorRequirement: "key! operator! values:string[]",
  LocalObjectReference: "name",
  TypedLocalObjectReference: "apiGroup? kind! name!",
  TypedObjectReference: "apiGroup? kind! name! namespace?",
  ObjectReference: "kind namespace name uid apiVersion resourceVersion fieldPath",
} as const;
