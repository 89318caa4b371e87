// Random FIX logs for fix.test.ts: every separator, prefixes of log engines, groups, data fields, envelopes, lifecycles, noise and
// damage. Text is one character a byte (latin1).
import type { Random } from "./ledgers";

const separators = ["\x01", "\x01", "\x01", "|", ";", "\t", "^A", "^", "<SOH>"];
const prefixes = [
  "",
  "20260302-14:30:01.123456789 : ",
  "2026/03/02 14:30:01.123456 ",
  "<20260302-14:30:01, FIX.4.4:DESK->XCH, incoming> (",
  "2026-03-02 14:30:01,123 INFO [main] recv: ",
  "in  8=host 9=1 ",
];
const noise = [
  "",
  "\n",
  "\r\n",
  "\tat Foo.java:10\n",
  "8=FIX not a message\n",
  "connected to 8=host\n",
  "10=000\x01",
  ")\n",
  "8=FIX.4.4\x01",
];

export function randomLogs(random: Random): string[] {
  const files = random.chance(0.2) ? 2 : 1;
  const writer = new LogWriter(random);
  return Array.from({ length: files }, () => writer.log());
}

class LogWriter {
  #sequence = 1;
  /** Bodies that may come again, and ExecIDs that may be referred to. */
  readonly #sent: string[] = [];
  readonly #ids: string[] = [];

  constructor(private readonly random: Random) {}

  log(): string {
    const { random } = this;
    let text = "";
    const separator = random.pick(separators);
    for (let i = integer(random, 0, 14); i >= 0; i--) {
      text += random.pick(prefixes) + this.#message(random.chance(0.9) ? separator : random.pick(separators));
      text += random.chance(0.7) ? "\n" : random.pick(noise);
    }
    return random.chance(0.1) ? text.slice(0, integer(random, 1, text.length)) : text;
  }

  #message(separator: string): string {
    const { random } = this;
    const body = this.#sent.length > 0 && random.chance(0.15) ? this.#again() : this.#body();
    this.#sent.push(body);
    const whole = frame(body, random.pick(["FIX.4.0", "FIX.4.2", "FIX.4.4", "FIXT.1.1"]));
    const wrapped = random.chance(0.07) ? envelope(whole) : whole;
    const damaged = random.chance(0.12) ? this.#damage(wrapped) : wrapped;
    return damaged.replaceAll("\x01", separator);
  }

  /** A report again: resent as it was, or with something else in it. */
  #again(): string {
    const body = this.random.pick(this.#sent).replace(/34=\d+\|/, `34=${this.#sequence++}|43=Y|`);
    return this.random.chance(0.3) ? body.replace(/31=[^|]*\|/, "31=99.5|") : body;
  }

  #body(): string {
    const { random } = this;
    if (random.chance(0.12))
      return `35=${random.pick(["0", "A", "D", "AE", "4"])}|34=${this.#sequence++}|49=XCH|56=DESK|141=Y|36=5|`;
    const id = random.chance(0.03) ? "" : `${random.pick(["E", "X"])}${integer(random, 1, 12)}`;
    const reference = this.#ids.length > 0 && random.chance(0.9) ? random.pick(this.#ids) : "NONE";
    if (id !== "") this.#ids.push(id);
    const quantity = random.pick(["100", "50", "7.5", "0", "0.00", "1E2", "-5", "x", "1000000000000000000001"]);
    const kind = random.pick(["fill", "fill", "fill", "fill", "bust", "correction", "status", "new"]);
    const old = random.chance(0.4);
    const codes = {
      fill: old ? "20=0|150=1|" : "150=F|",
      bust: old ? "20=1|" : "150=H|",
      correction: old ? "20=2|" : "150=G|",
    };
    const code = { ...codes, status: old ? "20=3|" : "150=I|", new: old ? "20=0|150=0|" : "150=0|" }[kind];
    const day = random.pick(["20260302", "20260303"]);
    return [
      `35=8|34=${this.#sequence++}|49=${random.pick(["XCH", "XCH", "ALT"])}|52=${day}-14:30:01.123|56=DESK|`,
      `6=10.5|11=C1|14=${quantity}|`,
      id === "" ? "" : `17=${id}|`,
      kind === "bust" || kind === "correction" ? (random.chance(0.95) ? `19=${reference}|` : "") : "",
      code,
      random.chance(0.15) ? "95=13|96=AB|17=FAKE|CD|" : "",
      random.chance(0.15) ? "453=2|448=A|447=D|452=1|448=B|447=D|452=4|" : "",
      random.chance(0.1) ? '58=a=b, "c"\xe9|' : "",
      random.chance(0.1) ? "5001=custom|2147483647=x|" : "",
      random.chance(0.1) ? `442=${random.pick(["1", "2", "3"])}|` : "",
      kind === "new" ? "32=0|" : `31=${random.pick(["10.5", "10.50", "99", "1e1"])}|32=${quantity}|`,
      `37=O1|54=${random.pick(["1", "2"])}|55=${random.pick(["ABC", "A,B", 'Q"Q'])}|60=${day}-14:30:01|`,
      random.chance(0.7) ? `75=${day}|` : "",
    ].join("");
  }

  #damage(text: string): string {
    const { random } = this;
    const place = integer(random, 10, text.length - 1);
    switch (integer(random, 0, 7)) {
      case 0:
        return text.replace(/10=\d\d\d\x01$/, `10=${String(integer(random, 0, 255)).padStart(3, "0")}\x01`);
      case 1:
        return text.replace(/9=\d+/, `9=${integer(random, 0, 400)}`);
      case 2:
        return text.slice(0, place);
      case 3:
        return text.slice(0, place) + random.pick(["\x01", "|", "x", "=", "\n"]) + text.slice(place);
      case 4:
        return text.slice(0, -1);
      case 5:
        return text.replace(/95=13/, `95=${random.pick(["12", "900", "x", "99999999999999"])}`);
      case 6:
        return renamed(
          text,
          random.pick(["55", "54"]),
          random.pick(["4294967351", "2147483648", "99999999999", "054", "0", ""]),
        );
      default:
        return text.replace(/10=\d\d\d\x01$/, random.pick(["", "10=1\x01", "10=12", "10=abc\x01"]));
    }
  }
}

/** One field under another tag, framed as it should be. */
function renamed(text: string, tag: string, other: string): string {
  const [, begin, body] = /^8=([^\x01]*)\x019=\d*\x01(.*)10=\d*\x01$/s.exec(text) ?? [];
  return body === undefined ? text : frame(body.replace(`\x01${tag}=`, `\x01${other}=`), begin!);
}

/** `|` in a body is SOH. */
function frame(body: string, begin: string): string {
  const content = body.replaceAll("|", "\x01");
  const text = `8=${begin}\x019=${content.length}\x01${content}`;
  let sum = 0;
  for (let i = 0; i < text.length; i++) sum += text.charCodeAt(i);
  return `${text}10=${String(sum % 256).padStart(3, "0")}\x01`;
}

function envelope(message: string): string {
  const data = `<RPT>${message}</RPT>`;
  return frame(`35=n|34=1|49=HUB|56=DESK|212=${data.length}|213=${data.replaceAll("\x01", "|")}|`, "FIX.4.2");
}

/** `from` to `to`, both included. */
function integer(random: Random, from: number, to: number): number {
  return from + random.below(to - from + 1);
}
