#!/bin/sh
# `sh bench/peers/quickfix.sh [BATCHES]`: QuickFIX beside recon. RECON: the executable.
# Prints one JSON object a line: setString and four fields for both messages of src/bench/fix-messages.ts, then what
# `recon fix` finds in a log that QuickFIX's own FileLog wrote. Exit status 1: the log was not read whole; 77: nothing was
# done, because `libquickfix-dev`, a C++ compiler or the executable is missing.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
compiler=${CXX:-c++}
recon=${RECON:-$root/recon}

skip() {
  echo "quickfix: skipped: $1" >&2
  exit 77
}
command -v "$compiler" >/dev/null || skip "no C++ compiler"
printf '#include <quickfix/Message.h>\n' | "$compiler" -std=c++14 -w -fsyntax-only -x c++ - 2>/dev/null ||
  skip "no libquickfix-dev (Debian: apt-get install libquickfix-dev)"
[ -x "$recon" ] || skip "no executable to read the log with: bun run build, or set RECON"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$compiler" -std=c++14 -O3 -w "$here/quickfix.cpp" -o "$work/quickfix" -lquickfix -lpthread

cd "$root"
node_modules/.bin/bun -e '
  const { messageKinds, messagesOf } = await import("./src/bench/fix-messages.ts");
  for (const kind of messageKinds) await Bun.write(`${process.argv[1]}/${kind.name}`, messagesOf(kind));
' "$work"
"$work/quickfix" time ExecutionReport "$work/ExecutionReport" 169 "${1:-300}" 17 55 32 31
"$work/quickfix" time NewOrderSingle "$work/NewOrderSingle" 158 "${1:-300}" 11 55 38 44

"$work/quickfix" log "$work/log" 1000
"$recon" fix "$work"/log/*.messages.current.log --json >"$work/audit.json" || [ $? -eq 1 ]
node_modules/.bin/bun -e '
  const found = await Bun.file(process.argv[1]).json();
  const { messages, executions, busts, corrections, repeats, orphans, conflicts, warnings, errors } = found;
  const seen = { messages: messages?.total, executions, busts, corrections, repeats, orphans, conflicts, warnings };
  const written = { messages: 1003, executions: 999, busts: 1, corrections: 1, repeats: 1, orphans: 0, conflicts: 0, warnings: 0 };
  const whole = Bun.deepEquals(seen, written);
  console.log(JSON.stringify({ log: "quickfix", whole, seen, written, findings: found.findings, errors }));
  process.exit(whole ? 0 : 1);
' "$work/audit.json"
