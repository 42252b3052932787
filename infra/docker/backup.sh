#!/bin/sh
# Dumps the four databases into /backups/<time>: `backup.sh once`, or `backup.sh every` at each interval. `backup.sh list`
# names the times, `backup.sh restore <time> <service>…` puts databases back, and `backup.sh fresh` fails if the newest dump
# is older than two intervals.
# The folder's name is a moment before the first dump began, as `svc after-restore --restored-to` takes it.
set -eu
# A dump holds every account.
umask 077
directory=${BACKUPS:-/backups}
interval=${BACKUP_INTERVAL_SECONDS:-21600}
# The tools remark on every database that is not there to be dropped.
export PGOPTIONS=--client-min-messages=warning

database_of() { echo "svc_$1" | tr - _; }

dump() {
  time=$(date -u +%Y-%m-%dT%H:%M:%SZ)
  partial=$directory/.partial-$$
  mkdir -p "$partial" || return 1
  for service in auth billing inference-gateway webhook-dispatcher; do
    database=$(database_of "$service")
    pg_dump --format=custom --no-owner --file="$partial/$database.dump" "$database" || return 1
  done
  # A name appears only once its dumps are complete and on the disk.
  sync
  mv "$partial" "$directory/$time" || return 1
  measure
  echo "$time"
}

# Tells Prometheus of this backup, by the textfile collector of its node exporter.
measure() {
  printf 'svc_backup_time_seconds %s\nsvc_backup_interval_seconds %s\n' "$(date +%s)" "$interval" >"$directory/.svc.prom"
  mv "$directory/.svc.prom" "$directory/svc.prom"
}

prune() {
  ls -1d "$directory"/2* | sort -r | tail -n "+$((${BACKUPS_KEPT:-28} + 1))" | while read -r old; do rm -rf "$old"; done
}

# Prints the newest dump and its age, and fails if there is none or it is too old.
fresh() {
  newest=$(list | tail -n 1)
  [ -n "$newest" ] || { echo 'there is no backup' && return 1; }
  age=$(($(date +%s) - $(date -d "$newest" +%s)))
  echo "the newest backup is $newest, $((age / 3600)) h old"
  [ "$age" -le $((2 * interval)) ]
}

list() { ls -1 "$directory" | grep '^2' || true; }

# Fails if a dump is missing or damaged, before anything is stopped or changed.
check() {
  from=$directory/$1
  shift
  for service; do
    pg_restore --list "$from/$(database_of "$service").dump" >/dev/null
  done
}

sql() { psql --no-psqlrc --quiet --set ON_ERROR_STOP=1 --dbname postgres "$@"; }

# Fills new databases beside the present ones, and changes places only when all are complete. The present ones remain as
# <database>_before until the next restore.
restore() {
  check "$@"
  from=$directory/$1
  shift
  for service; do
    database=$(database_of "$service")
    dropdb --if-exists --force "${database}_restored"
    createdb --owner "$database" "${database}_restored"
    sql --command "REVOKE ALL ON DATABASE ${database}_restored FROM PUBLIC"
    pg_restore --exit-on-error --no-owner --role="$database" --dbname="${database}_restored" "$from/$database.dump"
  done
  for service; do
    database=$(database_of "$service")
    dropdb --if-exists --force "${database}_before"
    sql --output /dev/null --command "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '$database'" \
      --command "ALTER DATABASE $database RENAME TO ${database}_before"
    sql --command "ALTER DATABASE ${database}_restored RENAME TO $database"
    echo "$database is as of $(basename "$from"); it was before: ${database}_before"
  done
}

case ${1:-once} in
  once) dump ;;
  list) list ;;
  fresh) fresh ;;
  check | restore) "$@" ;;
  every)
    while true; do
      rm -rf "$directory"/.partial-*
      # A failure is logged by pg_dump, and the next interval tries again.
      if dump; then prune; fi
      sleep "$interval"
    done
    ;;
  *) echo "usage: backup.sh once|every|list|fresh|check <time> <service>…|restore <time> <service>…" >&2 && exit 2 ;;
esac
