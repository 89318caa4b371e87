// Which columns of two ledgers are the same, by name, and which of them could be the key. Proposals only. Pure; used by
// draft.ts and `recon inspect`.

/** A pair of columns, by place. `alike`: their names are not the same but mean the same. */
export interface Correspondence {
  internal: number;
  external: number;
  alike: boolean;
}

/** Spellings of the trade, each with the word that it stands for. */
const words: Record<string, string> = {
  qty: "quantity",
  lastqty: "quantity",
  size: "quantity",
  px: "price",
  lastpx: "price",
  ccy: "currency",
  cur: "currency",
  curr: "currency",
  amt: "amount",
  acct: "account",
  cpty: "counterparty",
  sym: "symbol",
  ticker: "symbol",
  mic: "venue",
  exchange: "venue",
  buysell: "side",
  ordid: "orderid",
  ref: "reference",
};

/** A name as its meaning: letters and digits in lower case, abbreviations written out. */
function meaning(name: string): string {
  const plain = name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
  return words[plain] ?? plain;
}

/** In internal order. A name that is there twice on a side corresponds to nothing. */
export function correspond(internal: readonly string[], external: readonly string[]): Correspondence[] {
  const same = pairsBy(internal, external, (name) => name, false);
  const taken = (side: "internal" | "external") => new Set(same.map((pair) => pair[side]));
  const [takenInternal, takenExternal] = [taken("internal"), taken("external")];
  const alike = pairsBy(internal, external, meaning, true).filter(
    (pair) => !takenInternal.has(pair.internal) && !takenExternal.has(pair.external),
  );
  return [...same, ...alike].sort((a, b) => a.internal - b.internal);
}

function pairsBy(
  internal: readonly string[],
  external: readonly string[],
  form: (name: string) => string,
  alike: boolean,
): Correspondence[] {
  const [ours, theirs] = [places(internal, form), places(external, form)];
  return [...ours].flatMap(([name, [own, another]]) => {
    const [other, twice] = theirs.get(name) ?? [];
    if (name === "" || another !== undefined || other === undefined || twice !== undefined) return [];
    return [{ internal: own!, external: other, alike }];
  });
}

function places(names: readonly string[], form: (name: string) => string): Map<string, number[]> {
  return Map.groupBy(names.keys(), (place) => form(names[place]!));
}

/** Rows with a value in all of `columns`, and how many of those differ. */
function distinctness(columns: readonly (readonly string[])[]): { rows: number; filled: number; distinct: number } {
  const rows = columns[0]?.length ?? 0;
  const keys = Array.from({ length: rows }, (_, row) => columns.map((column) => column[row]!));
  const filled = keys.filter((key) => key.every((part) => part !== ""));
  return { rows, filled: filled.length, distinct: new Set(filled.map((key) => JSON.stringify(key))).size };
}

/** Whether no two rows share the values, and none is empty. */
export function isUnique(columns: readonly (readonly string[])[]): boolean {
  const { rows, distinct } = distinctness(columns);
  return distinct === rows;
}

/** Columns, or pairs of columns where no column will do, that no two rows share and that are never empty. */
export function uniqueColumns(columns: readonly (readonly string[])[]): number[][] {
  const filled = [...columns.keys()].filter((i) => columns[i]!.every((value) => value !== ""));
  const isKey = (key: number[]) => isUnique(key.map((i) => columns[i]!));
  const single = filled.map((i) => [i]).filter(isKey);
  if (single.length > 0) return single;
  return filled.flatMap((i) => filled.filter((j) => j > i).map((j) => [i, j])).filter(isKey);
}

/** A first column with fewer different values than this part of its rows is not what rows are found by. */
const keyLike = 0.8;

/** Values of a sample, by column, for each side. */
export interface Samples {
  internal: readonly (readonly string[])[];
  external: readonly (readonly string[])[];
}

/**
 * Keys in order of preference: the first column, which is the key of a run that names none, if it nearly identifies rows;
 * else what no two rows of a side share.
 */
export function keyCandidates(pairs: readonly Correspondence[], samples: Samples): Correspondence[][] {
  const values = (side: keyof Samples, key: readonly Correspondence[]) => key.map((pair) => samples[side][pair[side]]!);
  const isKeyLike = (pair: Correspondence) =>
    (["internal", "external"] as const).every((side) => {
      const { rows, distinct } = distinctness(values(side, [pair]));
      return distinct >= keyLike * rows;
    });
  const isKey = (key: Correspondence[]) => isUnique(values("internal", key)) && isUnique(values("external", key));
  const first = pairs.filter((pair) => pair.internal === 0 && !pair.alike && isKeyLike(pair)).map((pair) => [pair]);
  const single = pairs.map((pair) => [pair]).filter((key) => !first.some(([pair]) => pair === key[0]) && isKey(key));
  if (first.length + single.length > 0) return [...first, ...single];
  return pairs.flatMap((a, i) => pairs.slice(i + 1).map((b) => [a, b])).filter(isKey);
}
