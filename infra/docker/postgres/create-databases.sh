#!/bin/bash
# Runs once, when the volume is empty: a database and a role per service, which can enter no other.
set -euo pipefail

create() {
  local name=$1 password=$2
  psql --set ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname postgres --set name="$name" --set password="$password" <<'SQL'
CREATE ROLE :"name" LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE PASSWORD :'password';
CREATE DATABASE :"name" OWNER :"name";
REVOKE ALL ON DATABASE :"name" FROM PUBLIC;
SQL
}

psql --set ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname postgres \
  --command 'REVOKE ALL ON DATABASE postgres FROM PUBLIC' --command 'REVOKE ALL ON DATABASE template1 FROM PUBLIC'
create svc_auth "$AUTH_DATABASE_PASSWORD"
create svc_billing "$BILLING_DATABASE_PASSWORD"
create svc_inference_gateway "$INFERENCE_GATEWAY_DATABASE_PASSWORD"
create svc_webhook_dispatcher "$WEBHOOK_DISPATCHER_DATABASE_PASSWORD"
