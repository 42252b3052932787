#!/bin/sh
# Prints fresh secrets for docker-compose.yml: infra/docker/make-env.sh > .env
set -eu
hex() { od -An -N32 -tx1 /dev/urandom | tr -d ' \n'; }
base64_key() { head -c 32 /dev/urandom | base64 | tr -d '\n'; }
for name in INTERNAL_API_TOKENS SANDBOX_PROVIDER_KEY POSTGRES_PASSWORD AUTH_DATABASE_PASSWORD \
  BILLING_DATABASE_PASSWORD INFERENCE_GATEWAY_DATABASE_PASSWORD WEBHOOK_DISPATCHER_DATABASE_PASSWORD; do
  echo "$name=$(hex)"
done
for name in AUTH_ENCRYPTION_KEY WEBHOOK_ENCRYPTION_KEY API_KEY_PEPPER; do
  echo "$name=$(base64_key)"
done
