import type { Strategy } from "../api/types.ts";
import { isRecord } from "../store/frozen.ts";

export const secretStrategy: Strategy = {
  /** What is given as text joins the data, and is never shown again. */
  applyDefaults({ stringData, ...draft }) {
    const texts = Object.entries(isRecord(stringData) ? stringData : {});
    const encoded = Object.fromEntries(texts.map(([key, text]) => [key, Buffer.from(String(text)).toString("base64")]));
    const data = texts.length === 0 ? draft.data : { ...(draft.data as object | undefined), ...encoded };
    return { type: "Opaque", ...draft, ...(data === undefined ? {} : { data }) };
  },
};
