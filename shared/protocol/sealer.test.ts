import { createCipheriv, diffieHellman, hkdfSync, randomBytes } from "node:crypto";
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ProtocolError } from "./errors.ts";
import { generateKeyPair, type KeyPair } from "./keys.ts";
import { GZIP_ABOVE_BYTES, MAX_ENVELOPE_CHARS, MAX_PAYLOAD_BYTES } from "./limits.ts";
import { parseClusterName, type Route } from "./names.ts";
import { Sealer } from "./sealer.ts";

const [manager, agent, stranger] = [generateKeyPair(), generateKeyPair(), generateKeyPair()];
const [atManager, atAgent] = [new Sealer([manager]), new Sealer([agent])];
const route: Route = { direction: "report", cluster: parseClusterName("east") };

const sealed = (payload: string): string => atAgent.seal(payload, route, manager.publicKey);
const opened = (envelope: string, to = route): string => atManager.open(envelope, to, [agent.publicKey]);

function refusal(work: () => unknown): ProtocolError | undefined {
  try {
    work();
  } catch (error) {
    if (error instanceof ProtocolError) return error;
    throw error;
  }
  return undefined;
}
const codeOf = (work: () => unknown): string => refusal(work)?.code ?? "accepted";

/** The whole construction once more, by hand: an envelope whose seal is right, whatever its body. */
function sealedBytes(encoding: string, body: Buffer, by: KeyPair = agent): string {
  const salt = randomBytes(32);
  const header = `jobferry/2 report east ${encoding} ${by.publicKey.id} ${manager.publicKey.id} ${salt.toString("base64url")} 7`;
  const secret = diffieHellman({ privateKey: by.privateKey, publicKey: manager.publicKey.object });
  const info = Buffer.concat([Buffer.from("jobferry/2 report east "), by.publicKey.bytes, manager.publicKey.bytes]);
  const key = Buffer.from(hkdfSync("sha256", secret, salt, info, 32));
  const cipher = createCipheriv("aes-256-gcm", key, Buffer.from("000000000000000000000007", "hex"));
  cipher.setAAD(Buffer.from(header));
  const bytes = Buffer.concat([cipher.update(body), cipher.final(), cipher.getAuthTag()]);
  return `${header}\n${bytes.toString("base64url")}`;
}

describe("seal and open", () => {
  it("give back any text, packed or not", () => {
    const text = fc.string({ unit: "grapheme", maxLength: 300 });
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 60 }), (unit, times) => {
        const payload = unit.repeat(times).toWellFormed();
        expect(opened(sealed(payload))).toBe(payload);
      }),
    );
  });

  it("work in both directions with the same keys", () => {
    const to: Route = { ...route, direction: "delivery" };
    expect(atAgent.open(atManager.seal("x", to, agent.publicKey), to, [manager.publicKey])).toBe("x");
  });

  it("pack what is large and gets smaller by it, and only that", () => {
    const encoding = (payload: string): string | undefined => sealed(payload).split(" ")[3];
    expect(encoding("a".repeat(GZIP_ABOVE_BYTES))).toBe("plain");
    expect(encoding("a".repeat(GZIP_ABOVE_BYTES + 1))).toBe("gzip");
    expect(sealed("a".repeat(GZIP_ABOVE_BYTES + 1)).length).toBeLessThan(500);
  });

  it("carry the largest payload there is", () => {
    const payload = Array.from(randomBytes(MAX_PAYLOAD_BYTES), (byte) => String.fromCharCode(byte & 127)).join("");
    const envelope = sealed(payload);
    expect(envelope.length).toBeLessThanOrEqual(MAX_ENVELOPE_CHARS);
    expect(opened(envelope) === payload).toBe(true);
  });

  it("show nothing of the payload", () => {
    const payload = JSON.stringify({ env: [{ name: "PASSWORD", value: "tell nobody" }] });
    const envelope = sealed(payload);
    const body = Buffer.from(envelope.split("\n")[1] ?? "", "base64url").toString("latin1");
    for (const word of ["PASSWORD", "tell", "nobody", "env"]) {
      expect(envelope).not.toContain(word);
      expect(body).not.toContain(word);
    }
  });

  it("open what is for the second of our keys, and what the second of theirs has sealed", () => {
    const both = new Sealer([stranger, manager]);
    expect(both.open(sealed("x"), route, [stranger.publicKey, agent.publicKey])).toBe("x");
  });

  it("use the first of our keys", () => {
    const both = new Sealer([stranger, agent]);
    const envelope = both.seal("x", route, manager.publicKey);
    expect(atManager.open(envelope, route, [stranger.publicKey])).toBe("x");
  });
});

describe("nonces", () => {
  const saltAndCounter = (envelope: string): string => envelope.split("\n")[0]?.split(" ").slice(6).join(" ") ?? "";

  it("never repeat: the counter grows, and each object has its own salt", () => {
    const objects = Array.from({ length: 20 }, () => new Sealer([agent]));
    const seen = objects.flatMap((sealer) =>
      Array.from({ length: 50 }, () => saltAndCounter(sealer.seal("x", route, manager.publicKey))),
    );
    expect(new Set(seen).size).toBe(1000);
  });

  it("start over with another salt before a key has carried too much", () => {
    const sealer = new Sealer([agent], { messagesPerSalt: 3 });
    const seen = Array.from({ length: 7 }, () => {
      const envelope = sealer.seal("x", route, manager.publicKey);
      expect(opened(envelope)).toBe("x");
      return saltAndCounter(envelope);
    });
    expect(seen.map((text) => text.split(" ")[1])).toEqual(["0", "1", "2", "0", "1", "2", "0"]);
    expect(new Set(seen.map((text) => text.split(" ")[0])).size).toBe(3);
  });
});

describe("open refuses", () => {
  const envelopes = ["{}", `{"kind":"${"é".repeat(40)}"}`, "b".repeat(9000)].map(sealed);

  it("an envelope with any one byte changed", () => {
    for (const envelope of envelopes)
      for (let at = 0; at < envelope.length; at++) {
        const bytes = Buffer.from(envelope);
        bytes[at] = (bytes[at] ?? 0) ^ (1 + ((at * 7) % 127));
        expect(codeOf(() => opened(bytes.toString("latin1")))).toMatch(/^protocol/);
      }
    const mutation = fc.tuple(fc.constantFrom(...envelopes), fc.nat(), fc.integer({ min: 1, max: 255 }));
    fc.assert(
      fc.property(mutation, ([envelope, position, difference]) => {
        const changed = Buffer.from(envelope);
        const at = position % changed.length;
        changed[at] = (changed[at] ?? 0) ^ difference;
        for (const text of [changed.toString("utf8"), changed.toString("latin1")])
          expect(codeOf(() => opened(text))).toMatch(/^protocol/);
      }),
      { numRuns: 500 },
    );
  });

  it("an envelope cut short or continued", () => {
    for (const envelope of envelopes)
      for (let length = 0; length < envelope.length; length++)
        expect(codeOf(() => opened(envelope.slice(0, length)))).toMatch(/^protocol/);
    for (const more of ["x", "=", " ", "\n", "AAAA", "\0"])
      expect(codeOf(() => opened(`${envelopes[0]}${more}`))).toMatch(/^protocol/);
  });

  it("a header in another order", () => {
    const [header = "", body = ""] = sealed("{}").split("\n");
    const words = header.split(" ");
    fc.assert(
      fc.property(fc.shuffledSubarray(words, { minLength: words.length }), (order) => {
        fc.pre(order.join() !== words.join());
        expect(codeOf(() => opened(`${order.join(" ")}\n${body}`))).toMatch(/^protocol/);
      }),
    );
  });

  it("a word of the header changed, or taken from another envelope", () => {
    const other = atAgent.seal("[]", route, manager.publicKey).split("\n")[0]?.split(" ") ?? [];
    const another = new Sealer([agent]).seal("[]", route, manager.publicKey).split("\n")[0]?.split(" ") ?? [];
    const [header = "", body = ""] = sealed("{}").split("\n");
    for (const words of [other, another])
      for (const [at, word] of words.entries()) {
        const mixed = header.split(" ").with(at, word).join(" ");
        if (mixed !== header) expect(codeOf(() => opened(`${mixed}\n${body}`))).toBe("protocol/seal");
      }
  });

  it("a salt whose unused last bits differ", () => {
    const envelope = sealed("{}");
    const salt = envelope.split(" ")[6] ?? "";
    const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    for (const last of alphabet.replace(salt.at(-1) ?? "", "")) {
      const forged = envelope.replace(salt, `${salt.slice(0, -1)}${last}`);
      expect(codeOf(() => opened(forged))).toBe("protocol/seal");
    }
  });

  it("arbitrary input, with its own error and no other", () => {
    const ids = `${agent.publicKey.id} ${manager.publicKey.id} ${"A".repeat(43)}`;
    const body = fc.string({ unit: "binary" });
    const input = fc.oneof(
      body,
      body.map((text) => `jobferry/2 report east gzip ${ids} 0\n${text}`),
      fc.tuple(fc.nat(), body).map(([n, text]) => `jobferry/2 report east plain ${ids} ${n}\n${btoaUrl(text)}`),
      fc.uint8Array({ maxLength: 400 }).map((bytes) => sealedBytes("gzip", Buffer.from(bytes))),
    );
    fc.assert(
      fc.property(input, (text) => {
        expect(codeOf(() => opened(text))).toMatch(/^protocol/);
      }),
    );
  });
  const btoaUrl = (text: string): string => Buffer.from(text).toString("base64url");

  const valid = sealed("{}");
  const west = parseClusterName("west");
  const cases: Record<string, { envelope: string; to?: Route; want: string }> = {
    "a stranger's seal": { envelope: sealedBytes("plain", Buffer.from("{}"), stranger), want: "protocol/unknown-key" },
    "a stranger's seal under our agent's id": {
      envelope: sealedBytes("plain", Buffer.from("{}"), stranger).replace(stranger.publicKey.id, agent.publicKey.id),
      want: "protocol/seal",
    },
    "what is for another manager": {
      envelope: atAgent.seal("{}", route, stranger.publicKey),
      want: "protocol/unknown-key",
    },
    "another cluster's message": { envelope: valid, to: { ...route, cluster: west }, want: "protocol/misdirected" },
    "a report played back as a delivery": {
      envelope: valid,
      to: { ...route, direction: "delivery" },
      want: "protocol/misdirected",
    },
    "a report relabelled as a delivery": {
      envelope: valid.replace(" report ", " delivery "),
      to: { ...route, direction: "delivery" },
      want: "protocol/seal",
    },
    "a report relabelled as another cluster's": {
      envelope: valid.replace(" east ", " west "),
      to: { ...route, cluster: west },
      want: "protocol/seal",
    },
    "a plain body relabelled as packed": { envelope: valid.replace(" plain ", " gzip "), want: "protocol/seal" },
    "another counter": { envelope: valid.replace(/ \d+\n/, " 123456789\n"), want: "protocol/seal" },
    "no envelope at all": { envelope: '{"kind":"status"}', want: "protocol/malformed" },
    nothing: { envelope: "", want: "protocol/malformed" },
    "a header without a body": { envelope: valid.slice(0, valid.indexOf("\n") + 1), want: "protocol/seal" },
    "10 MB of text": { envelope: "a".repeat(10_000_000), want: "protocol/too-large" },
    "a header that goes on and on": {
      envelope: valid.replace(" east ", ` ${"e".repeat(9000)} `),
      want: "protocol/malformed",
    },
    "bytes that are not UTF-8": {
      envelope: sealedBytes("plain", Buffer.from([0x22, 0xc3, 0x28, 0x22])),
      want: "protocol/encoding",
    },
    "packed bytes that are not UTF-8": {
      envelope: sealedBytes("gzip", gzipSync(Buffer.from([0x22, 0xc3, 0x28, 0x22]))),
      want: "protocol/encoding",
    },
    "a zip bomb of its own cluster": {
      envelope: sealedBytes("gzip", gzipSync(Buffer.alloc(64 * 1024 * 1024))),
      want: "protocol/too-large",
    },
    "a packed body cut short": {
      envelope: sealedBytes("gzip", gzipSync("a".repeat(9000)).subarray(0, 20)),
      want: "protocol/encoding",
    },
    "a large plain body": {
      envelope: sealedBytes("plain", Buffer.alloc(MAX_PAYLOAD_BYTES + 1, "a")),
      want: "protocol/too-large",
    },
  };
  for (const [name, { envelope, to, want }] of Object.entries(cases)) {
    it(name, () => expect(codeOf(() => opened(envelope, to))).toBe(want));
  }

  it("a zip bomb before it has unpacked more than a payload may have", () => {
    const bomb = sealedBytes("gzip", gzipSync(Buffer.alloc(64 * 1024 * 1024)));
    expect(refusal(() => opened(bomb))?.cause).toMatchObject({ code: "ERR_BUFFER_TOO_LARGE" });
  });

  it("everything when no key is enrolled", () => {
    expect(codeOf(() => atManager.open(valid, route, []))).toBe("protocol/unknown-key");
  });
});

describe("a refusal says what to do", () => {
  const of = (envelope: string, at = atManager, to = route): string =>
    refusal(() => at.open(envelope, to, []))?.message ?? "accepted";
  const old = (direction: string): string => `jobferry/1 ${direction} east plain ${"A".repeat(86)}\n{}`;
  const delivery: Route = { ...route, direction: "delivery" };

  it("about an agent that is too old: upgrade it and give it a key that seals", () => {
    expect(of(old("report"))).toMatch(/agent speaks jobferry\/1 and is too old.*deployment\/jobferry-agent/);
    expect(of(old("report"))).toContain("`jobferry cluster add east --renew`");
  });
  it("about an agent that is too new: upgrade the manager", () => {
    expect(of(sealed("x").replace("jobferry/2", "jobferry/3"))).toMatch(
      /agent speaks jobferry\/3 and is too new for this manager.*deployment\/jobferry-manager/,
    );
  });
  it("about a manager that is too old: upgrade it", () => {
    expect(of(old("delivery"), atAgent, delivery)).toMatch(
      /manager speaks jobferry\/1 and is too old.*deployment\/jobferry-manager/,
    );
  });
  it("about a manager that is too new: upgrade the agent", () => {
    const newer = atManager.seal("x", delivery, agent.publicKey).replace("jobferry/2", "jobferry/11");
    expect(of(newer, atAgent, delivery)).toMatch(/manager speaks jobferry\/11 and is too new.*jobferry-agent/);
  });
  it("about a key of the agent that is not enrolled: enrol it", () => {
    expect(of(sealed("x"))).toContain("`jobferry cluster add east --renew`");
  });
  it("about a key that this manager does not have: give the agent this one", () => {
    expect(of(atAgent.seal("x", route, stranger.publicKey))).toContain(
      `put ${manager.publicKey.text} under manager-key`,
    );
  });
  it("about a manager's key that the agent does not trust", () => {
    expect(of(atManager.seal("x", delivery, agent.publicKey), atAgent, delivery)).toContain("--manager-key");
  });
});

describe("seal refuses", () => {
  it("a payload above 1.5 MiB, however well it packs", () => {
    expect(codeOf(() => sealed("a".repeat(MAX_PAYLOAD_BYTES)))).toBe("accepted");
    expect(codeOf(() => sealed("a".repeat(MAX_PAYLOAD_BYTES + 1)))).toBe("protocol/too-large");
  });

  it("text that has no UTF-8", () => {
    expect(codeOf(() => sealed("\ud800"))).toBe("protocol/encoding");
  });
});
