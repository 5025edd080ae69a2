/** Writing into JSON by path: `spec.template.spec.containers[0].image`, missing steps are created. */
export function setPath(root: object, path: string, value: unknown): void {
  const steps = path.split(/[.[\]]+/).filter((step) => step !== "");
  const last = steps.pop() ?? "";
  let node = root as Record<string, unknown>;
  steps.forEach((step, index) => {
    const next = node[step];
    const child = typeof next === "object" && next !== null ? next : /^\d+$/.test(steps[index + 1] ?? last) ? [] : {};
    node[step] = child;
    node = child as Record<string, unknown>;
  });
  if (value === undefined) delete node[last];
  else node[last] = structuredClone(value);
}
