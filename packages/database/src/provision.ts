import { createHmac, hash, pbkdf2Sync, randomBytes } from 'node:crypto';
import type { Knex } from 'knex';
import { setupLimits } from './connection-config.ts';
import { createDatabase } from './create-database.ts';
import { reasonOf } from './postgres-errors.ts';

const ADVISORY_LOCK = 7_348_101_666;
/** RFC 7677 §4 and PostgreSQL's own default. */
const SCRAM_ITERATIONS = 4096;
const SCRAM_SALT_BYTES = 16;

export interface ProvisionOptions {
  /** Connection string of a superuser. */
  readonly adminUrl: string;
  /** For example `inference-gateway`. */
  readonly service: string;
  /** Printable ASCII. Every call sets it, so a call with another password rotates it. */
  readonly password: string;
}

/**
 * Creates the database `svc_<service>` and a login role of the same name, which owns it and can connect to no other.
 * Returns the service's connection string. Calling it again changes only the password.
 */
export const provision = async (options: ProvisionOptions): Promise<string> => {
  const name = `svc_${options.service.replaceAll('-', '_')}`;
  if (!/^svc_[a-z0-9_]{1,50}$/.test(name)) throw new RangeError(`no database can be named after ${options.service}`);
  if (!/^[\x21-\x7e]+$/.test(options.password)) throw new RangeError('a database password must be printable ASCII');
  const admin = createDatabase(options.adminUrl, { ...setupLimits, applicationName: 'svc-provision', poolMax: 1 });
  try {
    // CREATE DATABASE runs in no transaction, so the lock is the session's; the pool has one connection.
    await admin.raw('SELECT pg_advisory_lock(?)', [ADVISORY_LOCK]);
    await ensureRole(admin, name, options.password);
    await ensureDatabase(admin, name);
    await revokeDefaults(admin, name);
  } catch (error) {
    throw new Error(reasonOf(error));
  } finally {
    await admin.destroy();
  }
  const url = new URL(options.adminUrl);
  url.username = name;
  url.password = encodeURIComponent(options.password);
  url.pathname = `/${name}`;
  return url.href;
};

const ensureRole = async (admin: Knex, name: string, password: string): Promise<void> => {
  const found = await admin('pg_roles').where({ rolname: name }).first('rolname');
  if (found === undefined) await admin.raw('CREATE ROLE ?? NOLOGIN', [name]);
  // Sends the verifier only: a password in a statement can end up in the server's log.
  const verifier = scramVerifier(password);
  await admin.raw(`ALTER ROLE ?? LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION PASSWORD '${verifier}'`, [
    name,
  ]);
};

const ensureDatabase = async (admin: Knex, name: string): Promise<void> => {
  const found = await admin('pg_database').where({ datname: name }).first('datname');
  if (found === undefined) await admin.raw('CREATE DATABASE ?? OWNER ??', [name, name]);
  else await admin.raw('ALTER DATABASE ?? OWNER TO ??', [name, name]);
};

/** Revokes the default that lets every role connect to every database. */
const revokeDefaults = async (admin: Knex, name: string): Promise<void> => {
  for (const database of [name, 'postgres', 'template1']) {
    await admin.raw('REVOKE ALL ON DATABASE ?? FROM PUBLIC', [database]);
  }
  for (const database of ['postgres', 'template1'])
    await admin.raw('REVOKE ALL ON DATABASE ?? FROM ??', [database, name]);
};

/** Returns the verifier that PostgreSQL stores (RFC 5802 §3): base64 and punctuation, so safe inside a literal. */
const scramVerifier = (password: string): string => {
  const salt = randomBytes(SCRAM_SALT_BYTES);
  const salted = pbkdf2Sync(password, salt, SCRAM_ITERATIONS, 32, 'sha256');
  const clientKey = createHmac('sha256', salted).update('Client Key').digest();
  const storedKey = hash('sha256', clientKey, 'base64');
  const serverKey = createHmac('sha256', salted).update('Server Key').digest('base64');
  return `SCRAM-SHA-256$${SCRAM_ITERATIONS}:${salt.toString('base64')}$${storedKey}:${serverKey}`;
};
