import { describe, expect, it } from "vitest";
import { decodeProtobuf, ProtobufError } from "./protobuf.ts";

/** Just enough of an encoder to write what kubectl sends. */
const varint = (value: number): number[] => (value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...varint(value >> 7)]);
const field = (number: number, bytes: number[]): number[] => [
  ...varint((number << 3) | 2),
  ...varint(bytes.length),
  ...bytes,
];
const text = (number: number, value: string): number[] => field(number, [...Buffer.from(value)]);
const whole = (number: number, value: number): number[] => [...varint(number << 3), ...varint(value)];

function envelope(apiVersion: string, kind: string, raw: number[]): Buffer {
  const typeMeta = [...text(1, apiVersion), ...text(2, kind)];
  return Buffer.from([0x6b, 0x38, 0x73, 0, ...field(1, typeMeta), ...field(2, raw)]);
}

describe("the protobuf encoding", () => {
  it("is read as the JSON it stands for", () => {
    const metadata = [...text(1, "a"), ...field(8, []), ...field(11, [...text(1, "k"), ...text(2, "v")])];
    const container = [...text(1, "c"), ...text(2, "busybox"), ...text(3, "sh"), ...text(3, "-c")];
    const quantity = field(2, [...text(1, "cpu"), ...field(2, text(1, "100m"))]);
    const pod = [...field(2, [...container, ...field(8, quantity)]), ...text(3, "Never"), ...whole(4, 30)];
    expect(decodeProtobuf(envelope("v1", "Pod", [...field(1, metadata), ...field(2, pod)]))).toEqual({
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "a", labels: { k: "v" } },
      spec: {
        containers: [{ name: "c", image: "busybox", command: ["sh", "-c"], resources: { requests: { cpu: "100m" } } }],
        restartPolicy: "Never",
        terminationGracePeriodSeconds: 30,
      },
    });
  });

  it("nests messages that JSON does not", () => {
    const volume = [...text(1, "v"), ...field(2, field(2, text(1, "Memory")))];
    const decoded = decodeProtobuf(envelope("v1", "Pod", field(2, field(1, volume))));
    expect(decoded.spec).toEqual({ volumes: [{ name: "v", emptyDir: { medium: "Memory" } }] });
  });

  it("carries times, bytes, and numbers or words", () => {
    const lease = field(2, [...text(1, "me"), ...field(4, [...whole(1, 1_000_000_000), ...whole(2, 5_000)])]);
    expect(decodeProtobuf(envelope("coordination.k8s.io/v1", "Lease", lease)).spec).toEqual({
      holderIdentity: "me",
      renewTime: "2001-09-09T01:46:40.000005Z",
    });
    const secret = field(2, [...text(1, "k"), ...field(2, [1, 2, 3])]);
    expect(decodeProtobuf(envelope("v1", "Secret", secret)).data).toEqual({ k: "AQID" });
  });

  it.each([
    ["JSON", Buffer.from("{}")],
    ["a message that ends too early", envelope("v1", "Pod", [...field(2, [0x0a, 0xff])])],
    ["a number that never ends", Buffer.from([0x6b, 0x38, 0x73, 0, ...Array<number>(12).fill(0xff)])],
    ["of a kind nobody knows", envelope("v1", "Poodle", [])],
    ["an unknown wire type", Buffer.from([0x6b, 0x38, 0x73, 0, 0x0f])],
  ])("is refused when it is %s", (_, bytes) => {
    expect(() => decodeProtobuf(bytes)).toThrow(ProtobufError);
  });
});
