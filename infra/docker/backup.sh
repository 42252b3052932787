#!/bin/sh
# Dumps the four databases into /backups/<time>: `backup.sh once`, or `backup.sh every` at each interval.
# The folder's name is a moment before the first dump began, as `svc after-restore --restored-to` takes it.
set -eu
directory=${BACKUPS:-/backups}

dump() {
  time=$(date -u +%Y-%m-%dT%H:%M:%SZ)
  partial=$directory/.partial-$$
  mkdir -p "$partial" || return 1
  for database in svc_auth svc_billing svc_inference_gateway svc_webhook_dispatcher; do
    pg_dump --format=custom --no-owner --file="$partial/$database.dump" "$database" || return 1
  done
  # A name appears only once its dumps are complete and on the disk.
  sync
  mv "$partial" "$directory/$time" || return 1
  echo "$time"
}

prune() {
  ls -1d "$directory"/2* | sort -r | tail -n "+$((${BACKUPS_KEPT:-28} + 1))" | while read -r old; do rm -rf "$old"; done
}

case ${1:-once} in
  once) dump ;;
  every)
    while true; do
      rm -rf "$directory"/.partial-*
      # A failure is logged by pg_dump, and the next interval tries again.
      if dump; then prune; fi
      sleep "${BACKUP_INTERVAL_SECONDS:-21600}"
    done
    ;;
  *) echo "usage: backup.sh once|every" >&2 && exit 2 ;;
esac
