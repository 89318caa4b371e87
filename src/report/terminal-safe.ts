// Text from a ledger on a terminal: what could move the cursor, hide or reorder text is shown, never sent.

/** C0, DEL, C1, marks that change the writing direction, invisible characters, line separators, lone surrogates. */
const unsafe =
  /[\x00-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]|[\u{e0000}-\u{e007f}]|\p{Surrogate}/gu;

/** The text with every unsafe character spelled out, as `\x1b` or `\u202e`. */
export function safe(text: string): string {
  return text.replace(unsafe, (character) => {
    const code = character.codePointAt(0)!;
    if (code <= 0xff) return `\\x${code.toString(16).padStart(2, "0")}`;
    return code <= 0xffff ? `\\u${code.toString(16).padStart(4, "0")}` : `\\u{${code.toString(16)}}`;
  });
}

/** Safe, and no longer than `most` characters: the middle of a very long value is left out. */
export function safeValue(text: string, most = 60): string {
  const characters = [...text];
  if (characters.length <= most) return safe(text);
  const half = Math.floor((most - 1) / 2);
  return `${safe(characters.slice(0, half).join(""))}…${safe(characters.slice(-half).join(""))} (${characters.length} characters)`;
}
