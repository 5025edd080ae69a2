import { join } from "node:path";
import { outputOf, runCommand } from "./run-command.ts";

/** A key and a certificate that is its own authority, as `NAME.key` and `NAME.crt` of the folder, for these names. */
export async function makeCertificate(
  folder: string,
  name: string,
  alternatives = "IP:127.0.0.1",
): Promise<{ readonly keyFile: string; readonly certFile: string }> {
  const [keyFile, certFile] = [join(folder, `${name}.key`), join(folder, `${name}.crt`)];
  await outputOf(
    runCommand("openssl", [
      ...["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"],
      ...["-keyout", keyFile, "-out", certFile, "-subj", `/CN=${name}`],
      ...["-addext", `subjectAltName=${alternatives}`],
    ]),
  );
  return { keyFile, certFile };
}
