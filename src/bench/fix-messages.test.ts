import { expect, test } from "bun:test";
import { messageCount, messageKinds, messagesOf } from "./fix-messages";

test.each(messageKinds.map((kind) => [kind.name, kind] as const))(
  "%s: all different, all well-formed",
  (name, kind) => {
    const bytes = messagesOf(kind);
    const texts = Array.from({ length: messageCount }, (_, i) =>
      new TextDecoder().decode(bytes.subarray(i * kind.bytes, (i + 1) * kind.bytes)),
    );
    expect(new Set(texts).size).toBe(messageCount);
    for (const text of texts) {
      const [, length, body, sum] = /^8=FIX\.4\.4\x019=(\d+)\x01(.*\x01)10=(\d{3})\x01$/s.exec(text)!;
      expect(body!.length).toBe(Number(length));
      const total = [...text.slice(0, -7)].reduce((sum, character) => sum + character.charCodeAt(0), 0);
      expect(Number(sum)).toBe(total % 256);
      for (const tag of kind.tags) expect(text).toContain(`\x01${tag}=`);
    }
    const fields = { ExecutionReport: 19, NewOrderSingle: 16 }[name];
    expect(texts[0]!.split("\x01")).toHaveLength(fields + 1);
  },
);
