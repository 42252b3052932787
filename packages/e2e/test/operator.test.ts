import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectToBroker } from '@svc/messaging/broker';
import { readStackFile, waitFor } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { call } from './support/api.ts';
import { signUp } from './support/people.ts';

const MAIN = new URL('../../../infra/operator/src/main.ts', import.meta.url).pathname;
const ROUTES_FILE = new URL('../../../infra/local/config/routes.yaml', import.meta.url).pathname;
const COMMAND_TIMEOUT_MS = 60_000;

/** Runs `svc` as an operator on the stack's machine does. */
const svc = async (...args: string[]): Promise<{ code: number; text: string }> =>
  new Promise((resolve) => {
    const options = { timeout: COMMAND_TIMEOUT_MS, env: { PATH: process.env.PATH, SVC_DATA_DIR: inject('dataDir') } };
    const child = execFile(process.execPath, [MAIN, ...args], options, (_error, stdout, stderr) =>
      resolve({ code: child.exitCode ?? -1, text: stdout + stderr }),
    );
  });

/** Publishes a malformed message. */
const publishNonsense = async (subject: string): Promise<void> => {
  const { nats_url: url } = await readStackFile(inject('dataDir'));
  const connection = await connectToBroker({ url, name: 'operator' });
  await connection.jetstream().publish(subject, JSON.stringify({ nonsense: randomUUID() }));
  await connection.drain();
};

describe('the operator’s commands against the running product', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-operator-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test('`status` shows every outbox, consumer and the webhooks', async () => {
    const { text } = await svc('status');
    for (const word of ['auth', 'billing', 'inference-gateway', 'AUTH', 'INFERENCE', 'DEAD LETTERS', 'WEBHOOKS']) {
      expect(text).toContain(word);
    }
    expect(text).not.toMatch(/ false/);
  });

  test('a malformed message is listed, fails a retry, and is discarded once', async () => {
    await publishNonsense('inference.usage.recorded.v1');
    const row = await waitFor(async () => {
      const { text } = await svc('dead-letters', 'list', 'billing');
      return text.split('\n').find((line) => line.includes('messaging.invalid_message'));
    });
    const id = row.split(' ')[0] ?? '';
    expect(await svc('dead-letters', 'replay', 'billing', id)).toMatchObject({
      code: 1,
      text: `${id}: failed (messaging.invalid_message)\n`,
    });
    expect((await svc('status')).code).toBe(1);
    expect(await svc('dead-letters', 'discard', 'billing', id)).toMatchObject({ code: 0, text: `${id}: discarded\n` });
    expect(await svc('dead-letters', 'discard', 'billing', id)).toMatchObject({
      code: 0,
      text: `${id}: already_resolved\n`,
    });
    expect((await svc('dead-letters', 'list', 'billing')).text).not.toContain('messaging.invalid_message');
  });

  test('an account is found by its address, signed out everywhere, and has no factor to reset', async () => {
    const { email, userId } = await signUp('personal');
    const found = await svc('account', 'find', email);
    expect(found).toMatchObject({ code: 0, text: expect.stringContaining(userId) });
    expect((await svc('account', 'end-sessions', userId)).text).toMatch(/: [1-9]\d* sessions ended\n$/);
    expect((await svc('account', 'end-sessions', userId)).text).toBe(`${userId}: 0 sessions ended\n`);
    expect((await svc('account', 'reset-factor', userId)).text).toBe(`${userId}: nothing to do, there is no factor\n`);
    expect(await svc('account', 'find', `unknown-${email}`)).toMatchObject({ code: 1 });
  });

  test('a routes file is checked without being applied, and the current one can be reloaded', async () => {
    const bad = join(folder, 'routes.yaml');
    await writeFile(
      bad,
      (await readFile(ROUTES_FILE, 'utf8')).replaceAll(/expires_at: [\d-]+/g, 'expires_at: 2020-01-01'),
    );
    const refused = await svc('routes', 'check', bad);
    expect(refused.code).toBe(1);
    expect(refused.text).toContain('certification');
    expect(await svc('routes', 'check', ROUTES_FILE)).toMatchObject({ code: 0 });
    expect(await svc('routes', 'reload')).toMatchObject({ code: 0 });
  });

  test('keys are rotated only after verifiers know the next one, and secrets and outboxes are updated', async () => {
    const { text } = await svc('signing-keys', 'list');
    const active =
      text
        .split('\n')
        .find((line) => line.includes(' active '))
        ?.split(' ')[0] ?? '';
    const early = await svc('signing-keys', 'rotate', active);
    expect(early.code).toBe(1);
    expect(early.text).toContain('signing_key_not_ready');
    const other = await svc('signing-keys', 'rotate', 'another-key');
    expect(other).toMatchObject({ code: 1, text: 'svc: there is no key "another-key"\n' });
    const next =
      text
        .split('\n')
        .find((line) => line.includes(' next '))
        ?.split(' ')[0] ?? '';
    expect((await svc('signing-keys', 'rotate', next)).text).toContain('nothing to do');
    expect((await svc('secrets', 'reencrypt')).text).toContain('auth: 0 moved');
    expect((await svc('secrets', 'list')).text).toMatch(
      /webhook-dispatcher +WEBHOOK_ENCRYPTION_KEY +[0-9a-f]{16} +first/,
    );
    expect(await svc('receipt-keys', 'withdraw')).toMatchObject({ code: 0, text: '0 withdrawn\n' });
    expect(await svc('outbox', 'reconcile', 'all')).toMatchObject({ code: 0 });
  });

  test('a top-up is refunded once per refund id and never beyond the balance', async () => {
    const person = await signUp('personal');
    const urls = { success_url: 'https://console.example/ok', cancel_url: 'https://console.example/no' };
    const body = { amount_micros: 10_000_000, ...urls };
    const topUp = await call('POST', '/v1/gateway/wallet/top-ups', { token: person.token, body });
    const session = String(topUp.body.session_id);
    await call('POST', `/sandbox/payments/sessions/${session}/complete`);
    await call('POST', '/v1/subscriptions/checkout/confirm', { token: person.token, body: { session_id: session } });
    const balance = async () => (await call('GET', '/v1/gateway/wallet', { token: person.token })).body.balance_micros;
    const refund = (id: string, amount: string) => svc('refund', person.userId, session, id, '--amount-micros', amount);
    for (const _again of [1, 2]) expect((await refund('ticket-1', '4000000')).text).toContain('ticket-1: refunded');
    expect(await balance()).toBe(6_000_000);
    expect((await refund('ticket-2', '7000000')).text).toContain('refund_not_possible');
    expect(await balance()).toBe(6_000_000);
  });

  test('a request unknown to billing cannot be settled', async () => {
    expect((await svc('uncertain', 'list')).text).toContain('REQUEST');
    const unknown = await svc('uncertain', 'settle', 'req_0000000000zzzzzzzzzzzzzzzz', '--at-estimate');
    expect(unknown.code).toBe(1);
  });
});
