import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { samplePartnerPorts, withSampleReceiver } from './sample-receiver.ts';

const PORTS = new Map([['sample-partner-webhooks', 8443]]);
let dataDirectory: string;
let lines: string[];

const overlay = (env: NodeJS.ProcessEnv, ports: ReadonlyMap<string, number> = PORTS): Promise<NodeJS.ProcessEnv> =>
  withSampleReceiver({
    settings: { env, dataDirectory },
    ports,
    report: { line: (text) => lines.push(text), ready: () => undefined },
  });

beforeEach(() => {
  dataDirectory = mkdtempSync(join(tmpdir(), 'svc-receiver-'));
  lines = [];
});
afterEach(() => rmSync(dataDirectory, { recursive: true, force: true }));

describe('the environment of the webhook dispatcher beside the sample partner app', () => {
  test('trusts and allows its receiver if the person has set nothing', async () => {
    const env = await overlay({ WEBHOOK_BACKOFF_BASE_MS: '50' });
    expect(env).toMatchObject({ WEBHOOK_BACKOFF_BASE_MS: '50', WEBHOOK_ALLOW_TARGETS: 'localhost:8443' });
    expect(env['WEBHOOK_EXTRA_CA_FILE']).toBe(join(dataDirectory, 'sample-partner', 'authority.pem'));
  });

  test('adds its receiver to the targets and authorities that the person has set', async () => {
    const own = join(dataDirectory, 'own.pem');
    writeFileSync(own, 'the person’s own authority');
    const env = await overlay({ WEBHOOK_ALLOW_TARGETS: 'receiver.lan:443', WEBHOOK_EXTRA_CA_FILE: own });
    expect(env['WEBHOOK_ALLOW_TARGETS']).toBe('receiver.lan:443,localhost:8443');
    const bundle = env['WEBHOOK_EXTRA_CA_FILE'] ?? '';
    const sample = readFileSync(join(dataDirectory, 'sample-partner', 'authority.pem'), 'utf8');
    expect(readFileSync(bundle, 'utf8')).toBe(`the person’s own authority\n${sample}`);
    expect(statSync(bundle).mode & 0o077).toBe(0);
  });

  test('stays as the person has set it if the app is off or the person’s file cannot be read', async () => {
    expect(samplePartnerPorts({ SAMPLE_PARTNER: 'off' })).toEqual([]);
    expect(samplePartnerPorts({})).toHaveLength(2);
    const env = { WEBHOOK_EXTRA_CA_FILE: join(dataDirectory, 'nowhere.pem') };
    expect(await overlay(env, new Map())).toBe(env);
    expect(lines).toEqual([]);
    expect(await overlay(env)).toBe(env);
    expect(lines).toEqual([expect.stringContaining('nowhere.pem')]);
  });
});
