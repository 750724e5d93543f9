#!/bin/sh
# A data analyst has a file: compressed, with times in seconds, not sorted, and two rows that somebody typed wrongly.
# Which prices fell by 4 % from one day to the next, and in which weeks did the volume fall? No broker, no program.
set -eu
here=$(dirname "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The file as it came: the days of 2012 as seconds since 1970, newest first.
python - "$here/data/stocks-2012.csv" >"$work/unsorted.csv" <<'PYTHON'
import csv, datetime, sys

rows = list(csv.DictReader(open(sys.argv[1], encoding="utf-8")))
print("seconds,symbol,close,volume")
for row in reversed(rows):
    day = datetime.datetime.fromisoformat(row["day"]).replace(tzinfo=datetime.UTC)
    print(int(day.timestamp()), row["symbol"], row["close"], row["volume"], sep=",")
print("1356912000,IBM,n/a,1\n1356912000,IBM,191.5")
PYTHON
gzip -c "$work/unsorted.csv" >"$work/prices.csv.gz"

cat >"$work/falls.toml" <<'TOML'
[streams.Stock]
attributes = { symbol = "string", close = "float", volume = "int" }
time_unit = "s"

[subscriptions.fall]
language = "cel"
query = '''
SELECT symbol, close_1 AS before, close AS after
FROM FILTER{close < 0.92 * close_1}(Stock NEXT{$2.symbol = $1.symbol} Stock)
'''

[subscriptions.quieter]
language = "sase"
query = '''
PATTERN SEQ(Stock+ day[])
WHERE partition_contiguity(day[]) { [symbol] AND day[i].volume < day[i-1].volume AND day.LEN = 5 }
WITHIN 7 days
RETURN day[1].symbol AS symbol, day[1].volume AS before, day[day.LEN].volume AS after
'''
TOML

echo "== What is in the file?"
foretell check "$work/falls.toml" --events "$work/prices.csv.gz" --time seconds | sed "s|$work/||g"

echo "== What fell, with the bad rows set apart"
foretell run "$work/falls.toml" --events "$work/prices.csv.gz" --time seconds --sort --on-bad "$work/bad.csv" \
    --only fall --times iso --out "$work/falls.csv" 2>"$work/said"
sed "s|$work/||g" "$work/said" | grep "left out"
cut -d, -f3- "$work/falls.csv" | head -n 4

echo "== How many weeks were ever quieter?"
foretell run "$work/falls.toml" --events "$work/prices.csv.gz" --time seconds --sort --on-bad skip \
    --only quieter 2>/dev/null | wc -l
