#!/bin/sh
# Prints fresh secrets for docker-compose.yml: infra/docker/make-env.sh > .env
set -eu
hex() { od -An -N32 -tx1 /dev/urandom | tr -d ' \n'; }
base64_key() { head -c 32 /dev/urandom | base64 | tr -d '\n'; }
sha256() { printf %s "$1" | { sha256sum 2>/dev/null || shasum -a 256; } | cut -d ' ' -f 1; }
echo 'PAYMENTS=sandbox'
# Nothing is paid for then. Remove it with PAYMENTS=stripe.
echo 'PAYMENTS_SANDBOX_IN_PRODUCTION=1'
for name in SANDBOX_PROVIDER_KEY POSTGRES_PASSWORD AUTH_DATABASE_PASSWORD \
  BILLING_DATABASE_PASSWORD INFERENCE_GATEWAY_DATABASE_PASSWORD WEBHOOK_DISPATCHER_DATABASE_PASSWORD; do
  echo "$name=$(hex)"
done
for name in AUTH_ENCRYPTION_KEY WEBHOOK_ENCRYPTION_KEY API_KEY_PEPPER RECEIPT_KEY_SECRET PROVENANCE_KEY_SECRET; do
  echo "$name=$(base64_key)"
done
# Users of NATS; the server reads values from its environment as configuration, where a leading digit makes a number.
for user in auth billing inference-gateway webhook-dispatcher operator; do
  echo "$(echo "$user" | tr 'a-z-' 'A-Z_')_NATS_PASSWORD=nats_$(hex)"
done
# A caller presents its token; the services that accept it are given its digest.
for caller in auth billing inference-gateway webhook-dispatcher operator; do
  name=$(echo "$caller" | tr 'a-z-' 'A-Z_')_API_TOKEN
  secret=$(hex)
  echo "$name=$caller:$secret"
  echo "${name}_DIGEST=$caller:sha256:$(sha256 "$secret")"
done
