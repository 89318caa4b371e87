#!/bin/sh
# Reconciles one pair of ledgers and says in one line what to do.
# Usage: nightly.sh INTERNAL EXTERNAL REPORT.csv
recon "$1" "$2" --key trade_id --min-rows 1 --breaks "$3" --quiet
status=$?
case $status in
0) echo "reconciled" ;;
1) echo "breaks: $3" ;;
*) echo "NOT reconciled, exit status $status: no report was written" >&2 ;;
esac
exit $status
