import { ProtocolError } from "./errors.ts";
import { MAX_DEPTH } from "./limits.ts";

/** Parses outside JSON, refusing what could harm code that copies or walks it later. */
export function parseJson(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new ProtocolError("protocol/json", undefined, cause);
  }
  refuseHarmful(value);
  return value;
}

/** Also for the sender, who learns of it before the receiver does. */
export function refuseHarmful(root: unknown): void {
  let level: unknown[] = [root];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) throw new ProtocolError("protocol/json", `more than ${MAX_DEPTH} levels`);
    const next: unknown[] = [];
    for (const value of level) {
      if (typeof value !== "object" || value === null) continue;
      // No label, annotation or field of a Job can have this name: Kubernetes wants a letter or digit first.
      if (Object.hasOwn(value, "__proto__")) throw new ProtocolError("protocol/json", "key __proto__");
      for (const child of Object.values(value)) next.push(child);
    }
    level = next;
  }
}
