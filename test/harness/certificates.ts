/** Certificates as a cluster has them: an authority, and those whom it knows. */
import { generate } from "selfsigned";

const DAY_MS = 86_400_000;

export interface Certificate {
  readonly key: string;
  readonly cert: string;
}

const validity = {
  keyType: "ec",
  curve: "P-256",
  algorithm: "sha256",
  notBeforeDate: new Date(Date.now() - DAY_MS),
  notAfterDate: new Date(Date.now() + 30 * DAY_MS),
} as const;

export async function certificateAuthority(name: string): Promise<Certificate> {
  const { private: key, cert } = await generate([{ name: "commonName", value: name }], {
    ...validity,
    extensions: [
      { name: "basicConstraints", cA: true, critical: true },
      { name: "keyUsage", digitalSignature: true, keyCertSign: true, critical: true },
    ],
  });
  return { key, cert };
}

/** A certificate by which its holder is this user, of this group. */
export async function clientCertificate(ca: Certificate, user: string, group: string): Promise<Certificate> {
  const { private: key, cert } = await generate(
    [
      { name: "commonName", value: user },
      { name: "organizationName", value: group },
    ],
    {
      ...validity,
      ca: { key: ca.key, cert: ca.cert },
      extensions: [{ name: "extKeyUsage", clientAuth: true }],
    },
  );
  return { key, cert };
}

/** A certificate for 127.0.0.1 that nobody has signed. */
export async function serverCertificate(): Promise<Certificate> {
  const { private: key, cert } = await generate([{ name: "commonName", value: "stand-in" }], {
    ...validity,
    extensions: [
      { name: "extKeyUsage", serverAuth: true },
      { name: "subjectAltName", altNames: [{ type: 7, ip: "127.0.0.1" }] },
    ],
  });
  return { key, cert };
}
