import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type PostgresServer, type ScratchDirectory, scratchDirectory, startPostgres } from '@svc/testing/servers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const DOCKER = fileURLToPath(new URL('../../docker/', import.meta.url));
const SERVICES = ['auth', 'billing', 'inference-gateway', 'webhook-dispatcher'];
const TOOLS = ['pg_dump', 'pg_restore', 'createdb', 'dropdb', 'psql'];
const TIMEOUT_MS = 60_000;

/** Returns the folder of an installed PostgreSQL whose tools and server have the same version; npm ships no tools. */
const findInstalled = (): string | undefined => {
  const { stdout, status } = spawnSync('pg_dump', ['--version'], { encoding: 'utf8' });
  const version = /(\d+)\./.exec(status === 0 ? stdout : '')?.[1];
  const folders = [`/usr/lib/postgresql/${version}/bin`, `/opt/homebrew/opt/postgresql@${version}/bin`, '/usr/bin'];
  return folders.find((folder) => ['postgres', 'initdb', ...TOOLS].every((name) => existsSync(join(folder, name))));
};
const bin = findInstalled();
if (bin === undefined) {
  process.stderr.write('SKIPPED: no PostgreSQL with pg_dump on this machine, so no backup has been restored\n');
}

/** Stands in for Docker: runs the backup's container as a process, and notes every call. */
const DOCKER_STAND_IN = `#!/bin/sh
echo "$*" >> "$CALLS"
case "$*" in
  'compose run --rm backup '*) shift 4; exec sh "$BACKUP_SCRIPT" "$@" ;;
esac
`;

describe('backup.sh fresh', () => {
  let scratch: ScratchDirectory;
  beforeAll(async () => {
    scratch = await scratchDirectory();
  });
  afterAll(() => scratch.remove());

  const fresh = (backups: string) =>
    spawnSync('sh', [join(DOCKER, 'backup.sh'), 'fresh'], {
      encoding: 'utf8',
      env: { PATH: '/usr/bin:/bin', BACKUPS: backups, BACKUP_INTERVAL_SECONDS: '3600' },
    });
  const folderWith = (name: string, ageSeconds: number): string => {
    const time = new Date(Date.now() - ageSeconds * 1_000).toISOString().replace(/\.\d+Z/, 'Z');
    mkdirSync(join(scratch.path, name, time), { recursive: true });
    return join(scratch.path, name);
  };

  test('fails without a backup, and once the newest is older than two intervals', () => {
    mkdirSync(join(scratch.path, 'none'));
    expect(fresh(join(scratch.path, 'none'))).toMatchObject({ status: 1, stdout: 'there is no backup\n' });
    expect(fresh(folderWith('new', 5_400)).status).toBe(0);
    expect(fresh(folderWith('old', 9_000)).status).toBe(1);
  });
});

describe.skipIf(bin === undefined)('svc backup and svc restore, with real databases', () => {
  let scratch: ScratchDirectory;
  let server: PostgresServer;
  let environment: Record<string, string>;
  beforeAll(async () => {
    scratch = await scratchDirectory();
    const owner = { user: 'svc_admin', password: 'only-for-tests' };
    const folder = bin ?? '';
    server = await startPostgres({
      ...owner,
      dataDir: `${scratch.path}/postgres`,
      binaries: { postgres: join(folder, 'postgres'), initdb: join(folder, 'initdb') },
      flags: { fsync: 'off' },
    });
    const own = `${scratch.path}/bin`;
    for (const path of [own, `${scratch.path}/backups`]) mkdirSync(path);
    writeFileSync(join(own, 'docker'), DOCKER_STAND_IN);
    chmodSync(join(own, 'docker'), 0o755);
    environment = {
      PATH: `${own}:${folder}:/usr/bin:/bin`,
      PGHOST: '127.0.0.1',
      PGPORT: String(server.port),
      PGUSER: owner.user,
      PGPASSWORD: owner.password,
      POSTGRES_USER: owner.user,
      BACKUPS: `${scratch.path}/backups`,
      BACKUP_SCRIPT: join(DOCKER, 'backup.sh'),
      CALLS: `${scratch.path}/calls`,
      SVC_OPERATOR: 'ada',
    };
    const passwords = SERVICES.map((name) => [`${name.toUpperCase().replaceAll('-', '_')}_DATABASE_PASSWORD`, name]);
    execFileSync(join(DOCKER, 'postgres/create-databases.sh'), {
      env: { ...environment, ...Object.fromEntries(passwords) },
      stdio: 'pipe',
    });
    for (const service of SERVICES) {
      sql(service, 'CREATE TABLE purchase (id int PRIMARY KEY); INSERT INTO purchase VALUES (1)', service);
    }
  }, TIMEOUT_MS);
  afterAll(async () => {
    await server.stop();
    scratch.remove();
  });

  const databaseOf = (service: string): string => `svc_${service.replaceAll('-', '_')}`;
  /** Runs a statement as the administrator, or as the role of a service, and returns its unaligned rows. */
  const sql = (service: string, statement: string, role?: string, database = databaseOf(service)): string =>
    execFileSync('psql', ['-XqAt', '--set', 'ON_ERROR_STOP=1', '--dbname', database, '--command', statement], {
      encoding: 'utf8',
      env: { ...environment, ...(role === undefined ? {} : { PGUSER: databaseOf(role), PGPASSWORD: role }) },
      stdio: 'pipe',
    }).trim();
  const svc = (...args: string[]) => {
    writeFileSync(environment['CALLS'] ?? '', '');
    const { status, stdout, stderr } = spawnSync(join(DOCKER, 'svc'), args, { encoding: 'utf8', env: environment });
    const calls = readFileSync(environment['CALLS'] ?? '', 'utf8')
      .split('\n')
      .filter(Boolean);
    return { status, stdout, stderr, calls: calls.map((call) => call.replace('compose ', '')) };
  };

  test('bring every database back to the moment of the backup, and begin epochs, behind a closed entrance', () => {
    const backup = svc('backup');
    expect(backup).toMatchObject({ status: 0, stderr: '' });
    const time = backup.stdout.trim();
    expect(new Date(time).toISOString()).toBe(time.replace('Z', '.000Z'));
    const dump = join(environment['BACKUPS'] ?? '', time, 'svc_auth.dump');
    // Only their owner reads dumps.
    expect(statSync(dump).mode & 0o077).toBe(0);
    for (const service of SERVICES) sql(service, 'INSERT INTO purchase VALUES (2)', service);

    const { status, stderr, calls } = svc('restore', time);
    expect(stderr).toBe('');
    expect(status).toBe(0);
    const all = SERVICES.join(' ');
    const operate = 'run --rm --env SVC_OPERATOR=ada svc after-restore';
    expect(calls).toEqual([
      `run --rm backup check ${time} ${all}`,
      `stop ingress ${all}`,
      `run --rm backup restore ${time} ${all}`,
      'run --rm migrate-broker',
      ...SERVICES.map((service) => `run --rm migrate-${service}`),
      `up --detach --wait ${all}`,
      ...SERVICES.map((name) => `${operate} ${name} --restored-to ${time}`),
      'exec -T billing node src/main.js check-balances',
      'up --detach --wait',
    ]);
    for (const service of SERVICES) {
      expect(sql(service, 'SELECT id FROM purchase', service)).toBe('1');
      expect(sql(service, 'SELECT id FROM purchase ORDER BY id', undefined, `${databaseOf(service)}_before`)).toBe(
        '1\n2',
      );
    }
    expect(() => sql('billing', 'SELECT 1', 'auth')).toThrow(/permission denied/);
  });

  test('bring one database back, a second time too', () => {
    const time = readdirSync(environment['BACKUPS'] ?? '')[0] ?? '';
    for (const id of [3, 4]) {
      sql('billing', `INSERT INTO purchase VALUES (${id})`, 'billing');
      expect(svc('restore', time, 'billing')).toMatchObject({ status: 0, stderr: '' });
      expect(sql('billing', 'SELECT id FROM purchase')).toBe('1');
    }
    expect(sql('auth', 'SELECT id FROM purchase')).toBe('1');
  });

  test('stop nothing for an unknown moment, an unknown service or a damaged dump', () => {
    const time = readdirSync(environment['BACKUPS'] ?? '')[0] ?? '';
    for (const args of [['2020-01-01T00:00:00Z'], [time, 'console'], []]) {
      const { status, calls } = svc('restore', ...args);
      expect(status).not.toBe(0);
      expect(calls.filter((call) => !/^run --rm backup (check|list)/.test(call))).toEqual([]);
    }
    writeFileSync(join(environment['BACKUPS'] ?? '', time, 'svc_auth.dump'), 'damaged');
    const { status, calls } = svc('restore', time);
    expect(status).not.toBe(0);
    expect(calls).toHaveLength(1);
  });

  test('every other command runs in the operator’s container', () => {
    expect(svc('dead-letters', 'list', 'billing').calls).toEqual([
      'run --rm --env SVC_OPERATOR=ada svc dead-letters list billing',
    ]);
  });
});
