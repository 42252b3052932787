import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrateBroker } from '@svc/messaging/broker';
import {
  freePort,
  type PostgresServer,
  type ScratchDirectory,
  scratchDirectory,
  startNats,
  startPostgres,
} from '@svc/testing/servers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { confinedCommand, hasBuildah, type ImageConfig, openBuildah } from './support/buildah.ts';

/** A service that gets ready with PostgreSQL and NATS alone. */
const SERVICE = 'webhook-dispatcher';
const VERSION = '1.2.3';
const TIMEOUT_MS = 900_000;
const READY_WITHIN_MS = 60_000;
/** Limit of what an image adds to its base. */
const SIZE_BYTES_MAX = 120 * 1024 ** 2;
const canBuild = hasBuildah();
if (!canBuild)
  process.stderr.write('SKIPPED: no buildah for root on this machine, so no image has been built and run\n');

describe.skipIf(!canBuild)('the image of the Dockerfile', { timeout: TIMEOUT_MS }, () => {
  let folder: string;
  let scratch: ScratchDirectory;
  let postgres: PostgresServer;
  let nats: Awaited<ReturnType<typeof startNats>>;
  let buildah: ReturnType<typeof openBuildah>;
  let image: { id: string; files: string; config: ImageConfig };
  let env: Record<string, string>;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'svc-buildah-'));
    buildah = openBuildah(folder);
    buildah.makeBase();
    const id = buildah.build(SERVICE, VERSION);
    image = { id, ...buildah.open(id) };
    scratch = await scratchDirectory();
    const owner = { user: 'svc_admin', password: 'only-for-tests', flags: { fsync: 'off' } };
    postgres = await startPostgres({ ...owner, dataDir: `${scratch.path}/postgres` });
    nats = await startNats({ storeDir: `${scratch.path}/nats` });
    await migrateBroker({ url: nats.url });
    const port = await freePort();
    const internal = await freePort();
    env = {
      PORT: String(port),
      INTERNAL_PORT: String(internal),
      DATABASE_URL: postgres.url,
      NATS_URL: nats.url,
      PUBLIC_BASE_URL: 'https://ai.example.com',
      AUTH_INTERNAL_URL: 'http://127.0.0.1:9',
      BILLING_INTERNAL_URL: 'http://127.0.0.1:9',
      WEBHOOK_ENCRYPTION_KEY: 'a'.repeat(64),
      INTERNAL_API_TOKENS: `operator:${'b'.repeat(32)}`,
      INTERNAL_API_TOKEN: `${SERVICE}:${'c'.repeat(32)}`,
    };
  }, TIMEOUT_MS);
  afterAll(async () => {
    await Promise.all([postgres?.stop(), nats?.stop()]);
    scratch?.remove();
    buildah.close();
    rmSync(folder, { recursive: true, force: true });
  }, TIMEOUT_MS);

  test('is small, and has its parts in a list', () => {
    const bytes = Number(execFileSync('du', ['-sb', join(image.files, 'app')], { encoding: 'utf8' }).split('\t', 1)[0]);
    process.stdout.write(`IMAGE ${SERVICE}: ${(bytes / 1024 ** 2).toFixed(1)} MiB above its base\n`);
    expect(bytes).toBeLessThan(SIZE_BYTES_MAX);
    expect(spawnSync('test', ['-s', join(image.files, 'app/sbom.cdx.json')]).status).toBe(0);
  });

  test('runs as an unprivileged user that can write nothing', () => {
    expect(image.config).toMatchObject({ User: '1000:1000', Entrypoint: ['node'], Cmd: ['src/main.js'] });
    const probe = `const fs = await import('node:fs');
      for (const path of ['/app/x', '/var/lib/svc/x']) {
        try { fs.appendFileSync(path, 'x'); console.log('WRITTEN', path); } catch (error) { console.log(error.code); }
      }
      console.log(process.getuid(), process.getgid(), fs.readFileSync('/proc/self/status', 'utf8').match(/CapEff:.*/)[0]);`;
    const [command, args] = confinedCommand(image, ['--input-type=module', '--eval', probe], {});
    const { stdout, stderr } = spawnSync(command, args, { encoding: 'utf8', timeout: READY_WITHIN_MS });
    expect(stdout + stderr).toMatch(/^EROFS\nEROFS\n1000 1000 CapEff:\s+0+\n$/);
  });

  test('migrates a database, gets ready, and ends with 0 on SIGTERM', async () => {
    const migration = confinedCommand(image, ['src/migrate.js'], { DATABASE_URL: postgres.url });
    const migrated = spawnSync(...migration, { encoding: 'utf8', timeout: READY_WITHIN_MS });
    expect(migrated.status, migrated.stdout + migrated.stderr).toBe(0);
    const [command, args] = confinedCommand(image, image.config.Cmd, env);
    const service = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [service.stdout, service.stderr]) stream.on('data', (text) => (output += text));
    const exit = once(service, 'exit');
    const isReady = () =>
      fetch(`http://127.0.0.1:${env['INTERNAL_PORT']}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      );
    await expect.poll(isReady, { timeout: READY_WITHIN_MS, message: output }).toBe(true);
    service.kill('SIGTERM');
    expect(await exit, output).toEqual([0, null]);
  });
});
