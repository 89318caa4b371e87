// The messages of `recon bench fix`: 4,096 different ones of each kind, all of one length, and the four fields that are read
// of each. Used by fix.ts and bench/peers.

export const messageCount = 4096;

export interface MessageKind {
  name: "ExecutionReport" | "NewOrderSingle";
  /** Length of each message. */
  bytes: number;
  /** What a reader of such a message wants to know. */
  tags: readonly [number, number, number, number];
  fields(index: number): [tag: number, value: string][];
}

const symbols = ["ABCD", "EFGH", "IJKL", "MNOP", "QRST", "UVWX", "ACEG", "BDFH"];
const digits = (value: number, width: number) => String(value).padStart(width, "0");
const time = (index: number) =>
  `20260302-14:${digits(index >> 10, 2)}:${digits(index % 60, 2)}.${digits((index * 7) % 1000, 3)}`;
const quantity = (index: number) => digits(1000 + ((index * 13) % 9000), 4);
const price = (index: number) => `${digits(100 + ((index * 31) % 900), 3)}.${digits((index * 17) % 100, 2)}`;
const number = (index: number) => digits(100_000 + index, 6);

export const messageKinds: readonly MessageKind[] = [
  {
    name: "ExecutionReport",
    bytes: 169,
    // ExecID, Symbol, LastQty, LastPx.
    tags: [17, 55, 32, 31],
    fields: (i) => [
      [35, "8"],
      [34, number(i)],
      [49, "BROKER"],
      [56, "DESK"],
      [52, time(i)],
      [37, `O${number(i)}`],
      [17, `E1${number(i)}`],
      [150, "F"],
      [39, "2"],
      [55, symbols[i % symbols.length]!],
      [54, String(1 + (i % 2))],
      [32, quantity(i)],
      [31, price(i)],
      [151, "0"],
      [14, quantity(i)],
      [6, price(i)],
    ],
  },
  {
    name: "NewOrderSingle",
    bytes: 158,
    // ClOrdID, Symbol, OrderQty, Price.
    tags: [11, 55, 38, 44],
    fields: (i) => [
      [35, "D"],
      [34, number(i)],
      [49, "DESK"],
      [56, "BROKER"],
      [52, time(i)],
      [11, `C${number(i)}`],
      [55, symbols[i % symbols.length]!],
      [54, String(1 + (i % 2))],
      [60, time(i)],
      [38, quantity(i)],
      [40, "2"],
      [44, price(i)],
      [59, "0"],
    ],
  },
];

/** All messages of a kind, one behind the other without anything between. */
export function messagesOf(kind: MessageKind): Uint8Array {
  const bytes = new Uint8Array(messageCount * kind.bytes);
  for (let i = 0; i < messageCount; i++) {
    const message = encode(kind.fields(i));
    if (message.length !== kind.bytes) throw new RangeError(`${kind.name} ${i} has ${message.length} bytes`);
    bytes.set(message, i * kind.bytes);
  }
  return bytes;
}

function encode(fields: readonly [number, string][]): Uint8Array {
  const body = fields.map(([tag, value]) => `${tag}=${value}\x01`).join("");
  const head = new TextEncoder().encode(`8=FIX.4.4\x019=${body.length}\x01${body}`);
  const sum = head.reduce((total, byte) => total + byte, 0) % 256;
  return new Uint8Array([...head, ...new TextEncoder().encode(`10=${digits(sum, 3)}\x01`)]);
}
