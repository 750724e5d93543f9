#!/bin/sh
# An operator's round, with a broker of its own: `sh operator.sh [ADDRESS]`. Start it with a journal, load it, look at
# it, back it up while it runs, kill it, and let the copy take over: with the same subscriptions and no event lost.
set -eu
address=${1:-tcp://127.0.0.1:5570}
export FORETELL_BROKER="$address"
here=$(dirname "$0")
work=$(mktemp -d)
broker=
stop() {
    if [ -n "$broker" ]; then
        kill "$broker" 2>/dev/null || true
        wait "$broker" 2>/dev/null || true # it writes a checkpoint as it ends: only then is its folder nobody's
    fi
    rm -rf "$work"
}
trap stop EXIT

start() { # FOLDER: serve from the journal there, and wait until it listens
    : >"$work/log"
    printf '[journal]\npath = "%s"\n' "$1" >"$work/broker.toml"
    foretell serve --config "$work/broker.toml" --subscriptions "$work/streams.toml" --address "$address" \
        >"$work/log" 2>&1 &
    broker=$!
    until grep -q '^listening' "$work/log"; do
        kill -0 "$broker" 2>/dev/null || { cat "$work/log" && exit 1; }
        sleep 0.1
    done
}

cat >"$work/streams.toml" <<'TOML'
[streams.Stock]
attributes = { symbol = "string", close = "float", volume = "int" }

[subscriptions.fall]
language = "cel"
query = "SELECT symbol, close FROM FILTER{close < 0.92 * close_1}(Stock NEXT{$2.symbol = $1.symbol} Stock)"
TOML

start "$work/kept"
foretell publish Stock "$here/data/stocks-2012.csv" --time day
foretell subscriptions | grep -o 'fall' | head -n 1
foretell backup "$work/kept" "$work/copy" >/dev/null && echo "backed up while it runs"

kill -9 "$broker"
wait "$broker" 2>/dev/null || true
echo "killed"
foretell fsck "$work/kept" >/dev/null && echo "its journal is sound"
foretell restore "$work/copy" "$work/restored" >/dev/null && echo "the copy is sound"

start "$work/restored"
foretell stats --json | sed -n 's/.*"name": "events", "value": \([0-9]*\).*/\1 events after recovery/p' | head -n 1
