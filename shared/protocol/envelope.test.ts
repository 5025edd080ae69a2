import { sign } from "node:crypto";
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { open, type Route, seal } from "./envelope.ts";
import { ProtocolError } from "./errors.ts";
import { generateKeyPair } from "./keys.ts";
import { GZIP_ABOVE_BYTES, MAX_PAYLOAD_BYTES } from "./limits.ts";
import { parseClusterName } from "./names.ts";

const keys = generateKeyPair();
const stranger = generateKeyPair();
const east = parseClusterName("east");
const route: Route = { direction: "report", cluster: east };

function codeOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (error instanceof ProtocolError) return error.code;
    throw error;
  }
  return "accepted";
}

/** An envelope whose signature is right, whatever its body. */
function signed(encoding: string, body: string): string {
  const prefix = `jobferry/1 report east ${encoding}`;
  const signature = sign(null, Buffer.from(`${prefix}\n${body}`), keys.privateKey).toString("base64url");
  return `${prefix} ${signature}\n${body}`;
}

describe("seal and open", () => {
  it("give back any text, packed or not", () => {
    const text = fc.string({ unit: "grapheme", maxLength: 300 });
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 60 }), (unit, times) => {
        const payload = unit.repeat(times).toWellFormed();
        expect(open(seal(payload, route, keys.privateKey), route, [keys.publicKey])).toBe(payload);
      }),
    );
  });

  it("pack what is large, and only that", () => {
    const small = seal("a".repeat(GZIP_ABOVE_BYTES), route, keys.privateKey);
    const large = seal("a".repeat(GZIP_ABOVE_BYTES + 1), route, keys.privateKey);
    expect(small.split(" ")[3]).toBe("plain");
    expect(large.split(" ")[3]).toBe("gzip");
    expect(large.length).toBeLessThan(500);
  });

  it("accept the next key during a rotation", () => {
    expect(open(seal("x", route, stranger.privateKey), route, [keys.publicKey, stranger.publicKey])).toBe("x");
  });
});

describe("open refuses", () => {
  const envelopes = ["{}", `{"kind":"${"é".repeat(40)}"}`, "b".repeat(9000)].map((text) =>
    Buffer.from(seal(text, route, keys.privateKey)),
  );

  it("an envelope with any one byte changed", () => {
    const mutation = fc.tuple(fc.constantFrom(...envelopes), fc.nat(), fc.integer({ min: 1, max: 255 }));
    fc.assert(
      fc.property(mutation, ([envelope, position, difference]) => {
        const changed = Buffer.from(envelope);
        const at = position % changed.length;
        changed[at] = (changed[at] ?? 0) ^ difference;
        expect(codeOf(() => open(changed, route, [keys.publicKey]))).not.toBe("accepted");
        expect(codeOf(() => open(changed.toString("utf8"), route, [keys.publicKey]))).not.toBe("accepted");
      }),
      { numRuns: 500 },
    );
  });

  it("a signature whose unused last bits differ", () => {
    const [header = "", body = ""] = seal("{}", route, keys.privateKey).split("\n");
    const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    for (const last of alphabet.replace(header.at(-1) ?? "", "")) {
      const forged = `${header.slice(0, -1)}${last}\n${body}`;
      expect(codeOf(() => open(forged, route, [keys.publicKey]))).toBe("protocol/signature");
    }
  });

  it("an envelope cut short or continued", () => {
    fc.assert(
      fc.property(fc.constantFrom(...envelopes), fc.nat(), (envelope, length) => {
        const cut = envelope.subarray(0, length % envelope.length);
        expect(codeOf(() => open(cut, route, [keys.publicKey]))).not.toBe("accepted");
        expect(codeOf(() => open(`${envelope.toString()}x`, route, [keys.publicKey]))).toBe("protocol/signature");
      }),
    );
  });

  it("arbitrary input, with its own error and no other", () => {
    const input = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.uint8Array({ maxLength: 400 }),
      fc.string({ unit: "binary" }).map((body) => `jobferry/1 report east gzip ${"A".repeat(86)}\n${body}`),
      fc.uint8Array({ maxLength: 400 }).map((body) => signed("gzip", Buffer.from(body).toString("base64url"))),
      fc.string({ unit: "binary" }).map((body) => signed("gzip", body.toWellFormed())),
    );
    fc.assert(
      fc.property(input, (bytes) => {
        expect(codeOf(() => open(bytes, route, [keys.publicKey]))).toMatch(/^protocol/);
      }),
    );
  });

  const valid = seal("{}", route, keys.privateKey);
  const cases: Record<string, { envelope: string | Uint8Array; to?: Route; want: string }> = {
    "a stranger's signature": { envelope: seal("{}", route, stranger.privateKey), want: "protocol/signature" },
    "another cluster's message": {
      envelope: valid,
      to: { ...route, cluster: parseClusterName("west") },
      want: "protocol/misdirected",
    },
    "a report played back as a delivery": {
      envelope: valid,
      to: { ...route, direction: "delivery" },
      want: "protocol/misdirected",
    },
    "a report relabelled as a delivery": {
      envelope: valid.replace(" report ", " delivery "),
      to: { ...route, direction: "delivery" },
      want: "protocol/signature",
    },
    "a plain body relabelled as packed": { envelope: valid.replace(" plain ", " gzip "), want: "protocol/signature" },
    "another version": { envelope: valid.replace("jobferry/1", "jobferry/2"), want: "protocol/version" },
    "no envelope at all": { envelope: '{"kind":"status"}', want: "protocol/malformed" },
    nothing: { envelope: "", want: "protocol/malformed" },
    "10 MB of text": { envelope: "a".repeat(10_000_000), want: "protocol/too-large" },
    "bytes that are not UTF-8": { envelope: Buffer.from([0xff, 0xfe, 0x0a]), want: "protocol/encoding" },
    "packed bytes that are not UTF-8": {
      envelope: signed("gzip", gzipSync(Buffer.from([0x22, 0xc3, 0x28, 0x22])).toString("base64url")),
      want: "protocol/encoding",
    },
    "a zip bomb of its own cluster": {
      envelope: signed("gzip", gzipSync(Buffer.alloc(64 * 1024 * 1024)).toString("base64url")),
      want: "protocol/too-large",
    },
    "a packed body cut short": {
      envelope: signed("gzip", gzipSync("a".repeat(9000)).subarray(0, 20).toString("base64url")),
      want: "protocol/encoding",
    },
    "a large plain body": { envelope: signed("plain", "a".repeat(MAX_PAYLOAD_BYTES + 1)), want: "protocol/too-large" },
  };
  for (const [name, { envelope, to, want }] of Object.entries(cases)) {
    it(name, () => expect(codeOf(() => open(envelope, to ?? route, [keys.publicKey]))).toBe(want));
  }

  it("everything when no key is enrolled", () => {
    expect(codeOf(() => open(valid, route, []))).toBe("protocol/signature");
  });
});

describe("seal refuses", () => {
  it("a payload above 1.5 MiB, however well it packs", () => {
    expect(codeOf(() => seal("a".repeat(MAX_PAYLOAD_BYTES), route, keys.privateKey))).toBe("accepted");
    expect(codeOf(() => seal("a".repeat(MAX_PAYLOAD_BYTES + 1), route, keys.privateKey))).toBe("protocol/too-large");
  });

  it("text that has no UTF-8", () => {
    expect(codeOf(() => seal("\ud800", route, keys.privateKey))).toBe("protocol/encoding");
  });
});
