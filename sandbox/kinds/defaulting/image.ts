const COMPONENT = "[a-z0-9]+(?:(?:\\.|__|_|-+)[a-z0-9]+)*";
const DOMAIN = "[a-zA-Z0-9](?:[a-zA-Z0-9.-]*[a-zA-Z0-9])?(?::[0-9]+)?";
const REFERENCE = new RegExp(
  `^(?:${DOMAIN}/)?${COMPONENT}(?:/${COMPONENT})*(?::(\\w[\\w.-]{0,127}))?(@[A-Za-z][\\w+.-]*:[0-9a-fA-F]{32,})?$`,
);

/** Longest reference the API server parses. */
const MAX_LENGTH = 1024;

/** The policy the API server gives a container that has none: images under a moving name are always pulled. */
export function defaultPullPolicy(image: string | undefined): "Always" | "IfNotPresent" {
  const reference = image === undefined || image.length > MAX_LENGTH ? null : REFERENCE.exec(image);
  if (reference === null) return "IfNotPresent";
  const [, tag, digest] = reference;
  return tag === "latest" || (tag === undefined && digest === undefined) ? "Always" : "IfNotPresent";
}
