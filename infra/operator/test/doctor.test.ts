import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { consumingServices, type ServiceName } from '@svc/contracts';
import { afterEach, expect, test } from 'vitest';
import type { MachineSettings } from '../src/doctor.ts';
import { runCommand } from '../src/run-command.ts';

const servers = new Set<Server>();
const folder = mkdtempSync(join(tmpdir(), 'svc-doctor-'));
afterEach(() => {
  for (const server of servers) server.close();
  servers.clear();
  rmSync(folder, { recursive: true, force: true });
});

const HOUR_MS = 3_600_000;
const HEALTHY: Readonly<Record<string, string>> = {
  auth: 'auth_mails_waiting 3\ntls_certificate_expires_seconds{peer="entrance"} 5e6',
  billing: `billing_provider_last_success_seconds ${Date.now() / 1_000 - 40}`,
  'inference-gateway': 'route_certification_expires_seconds{route="chat-eu"} 9e6\nusage_records_waiting 0',
  'webhook-dispatcher': 'webhook_blocked_lanes 2\nwebhook_oldest_due_seconds 0.2',
};
const POOL = 'database_pool_waiting 0';

interface Faults {
  readonly metrics?: Readonly<Record<string, string>>;
  readonly deadLetters?: number;
  readonly bytes?: number;
  readonly isBrokerAway?: boolean;
  readonly aheadMs?: number;
}

/** Starts stand-ins of the services' internal listeners. */
const startServices = async (faults: Faults = {}) => {
  const { metrics = {}, deadLetters = 0, bytes = 10, isBrokerAway = false, aheadMs = 0 } = faults;
  const streams = [{ stream: 'INFERENCE', unpublished: 0, acknowledged_through: 1, stream_ends_at: 1, in_step: true }];
  const urls: Partial<Record<ServiceName, string>> = {};
  for (const service of consumingServices) {
    const server = createServer((req, res) => {
      res.setHeader('date', new Date(Date.now() + aheadMs).toUTCString());
      if (req.url === '/metrics') return res.end(metrics[service] ?? `${HEALTHY[service]}\n${POOL}`);
      res.setHeader('content-type', 'application/json');
      const outbox = {
        broker_connected: !isBrokerAway,
        relay_leading: true,
        oldest_unpublished_seconds: 0,
        streams: streams.map((stream) => ({ ...stream, bytes, bytes_max: 100 })),
      };
      return res.end(JSON.stringify(req.url?.includes('/outbox') ? outbox : { data: [], dead_letters: deadLetters }));
    });
    servers.add(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    // A TCP listener's address is never a path.
    urls[service] = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }
  return urls;
};

const examine = async (urls: Partial<Record<ServiceName, string>>, env: MachineSettings = {}) => {
  const lines: string[] = [];
  const result = await runCommand(['doctor', '--json'], {
    addresses: () => ({ token: 'a-token', operator: 'ops', urls }),
    contexts: () => ({ file: '/contexts.yaml', contexts: {} }),
    print: (line) => lines.push(line),
    version: '1.2.3',
    env,
  });
  const { ok, tables } = JSON.parse(lines.join('')) as {
    ok: boolean;
    tables: { check: string; state: string; detail: string }[][];
  };
  return {
    ...result,
    ok,
    findings: tables[0] ?? [],
    bad: (tables[0] ?? []).filter(({ state }) => state === 'ATTENTION'),
  };
};

test('ends with 0 if nothing needs attention, and says what it could not check', async () => {
  mkdirSync(join(folder, new Date(Date.now() - 5 * HOUR_MS).toISOString()), { recursive: true });
  const { exitCode, ok, bad, findings } = await examine(await startServices(), { SVC_BACKUP_DIR: folder });
  expect(bad).toEqual([]);
  expect([exitCode, ok]).toEqual([0, true]);
  expect(findings).toContainEqual({ check: 'backup', state: 'ok', detail: 'the newest is 5.0 hours old' });
  expect(findings.filter(({ state }) => state === 'unknown').map(({ check }) => check)).toEqual(['certificate']);
});

test.each<[string, string, Faults]>([
  [
    'certification',
    'chat-eu: ends in 11.6 days',
    { metrics: { 'inference-gateway': 'route_certification_expires_seconds{route="chat-eu"} 1e6' } },
  ],
  ['mail queue', '80 mails wait', { metrics: { auth: 'auth_mails_waiting 80' } }],
  ['blocked webhooks', '12 webhooks are blocked', { metrics: { 'webhook-dispatcher': 'webhook_blocked_lanes 12' } }],
  [
    'payment provider',
    'answered 60 minutes ago',
    { metrics: { billing: `billing_provider_last_success_seconds ${Date.now() / 1_000 - 3_600}` } },
  ],
  [
    'payment provider',
    'no answer since billing started',
    { metrics: { billing: 'billing_provider_last_success_seconds 0' } },
  ],
  ['database pool', 'billing: 12 callers wait for a connection', { metrics: { billing: 'database_pool_waiting 12' } }],
  [
    'connection certificate',
    'auth, database: ends in 5.8 days',
    { metrics: { auth: 'tls_certificate_expires_seconds{peer="database"} 5e5' } },
  ],
  ['dead letters', 'auth: 2', { deadLetters: 2 }],
  ['outbox', 'auth: the oldest fact waits for 0 s, and NATS is not connected', { isBrokerAway: true }],
  ['stream', 'INFERENCE: 71 % full', { bytes: 71 }],
  ['clock', 'auth: 61 s ahead of this one', { aheadMs: 61_000 }],
])('ends with 1 for %s', async (check, detail, faults) => {
  const { exitCode, bad } = await examine(await startServices(faults));
  expect(exitCode).toBe(1);
  expect(new Set(bad.map((each) => each.check))).toEqual(new Set([check]));
  expect(bad[0]?.detail.replace(/6[012] s/, '61 s')).toBe(detail);
});

test('ends with 1 for a silent service, an old backup, and a certificate that cannot be read', async () => {
  mkdirSync(join(folder, '2026-10-01T00:00:00Z'), { recursive: true });
  const { auth: _stopped, ...urls } = await startServices();
  const { exitCode, bad } = await examine(urls, { SVC_BACKUP_DIR: folder, PUBLIC_BASE_URL: 'https://127.0.0.1:1' });
  expect(exitCode).toBe(1);
  expect(bad.map(({ check }) => check)).toEqual(['service', 'backup', 'certificate']);
});

test('ends with 1 for a folder of backups that it may not read or that does not exist, and says so', async () => {
  const { exitCode, bad } = await examine(await startServices(), { SVC_BACKUP_DIR: join(folder, 'missing') });
  expect(exitCode).toBe(1);
  expect(bad).toEqual([{ check: 'backup', state: 'ATTENTION', detail: expect.stringMatching(/^ENOENT.*missing'$/) }]);
});
