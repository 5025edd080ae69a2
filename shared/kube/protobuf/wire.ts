/** How a field is stored; the other two of protobuf (fixed 32 and 64 bits) occur in no Kubernetes type. */
export const VARINT = 0;
export const BYTES = 2;

const MOST_VARINT_BYTES = 10;
/** Up to here a sum of whole numbers is exact. */
const EXACT_VARINT_BYTES = 7;

export class BrokenProtobuf extends Error {
  constructor() {
    super("not valid protobuf");
    this.name = "BrokenProtobuf";
  }
}

/** Reads the protobuf wire format. Whatever the bytes are, it ends within them or rejects them. */
export class WireReader {
  readonly #bytes: Buffer;
  #at: number;

  constructor(bytes: Buffer, from = 0) {
    this.#bytes = bytes;
    this.#at = from;
  }

  get at(): number {
    return this.#at;
  }

  get length(): number {
    return this.#bytes.length;
  }

  /** Signed, 64 bits. */
  int(): number {
    const bytes = this.#bytes;
    let value = 0;
    for (let read = 0, scale = 1; read < EXACT_VARINT_BYTES; read++, scale *= 128) {
      const byte = bytes[this.#at++];
      if (byte === undefined) throw new BrokenProtobuf();
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
    let large = BigInt(value);
    for (let read = EXACT_VARINT_BYTES; read < MOST_VARINT_BYTES; read++) {
      const byte = bytes[this.#at++];
      if (byte === undefined) throw new BrokenProtobuf();
      large += BigInt(byte & 127) << BigInt(7 * read);
      if (byte < 128) return Number(BigInt.asIntN(64, large));
    }
    throw new BrokenProtobuf();
  }

  /** The end of what comes next: a string, bytes or a message. */
  end(): number {
    const length = this.int();
    const end = this.#at + length;
    if (length < 0 || end > this.#bytes.length) throw new BrokenProtobuf();
    return end;
  }

  text(): string {
    const end = this.end();
    const text = this.#bytes.toString("utf8", this.#at, end);
    this.#at = end;
    return text;
  }

  bytes(): Buffer {
    const end = this.end();
    const bytes = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return bytes;
  }

  skip(wireType: number): void {
    if (wireType === VARINT) this.int();
    else if (wireType === BYTES) this.#at = this.end();
    else throw new BrokenProtobuf();
  }

  /** A message must end where its length says, and a field be stored as its type is. */
  check(isRight: boolean): void {
    if (!isRight) throw new BrokenProtobuf();
  }
}
