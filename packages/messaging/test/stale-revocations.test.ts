import { newId, type RecordedRevocations } from '@svc/contracts';
import { createMetrics } from '@svc/service-kit';
import { waitFor } from '@svc/testing';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import {
  appendToOutbox,
  type OutboxRevocation,
  openRevocations,
  ownSource,
  type RevocationSource,
  type RevocationSubject,
  type RevocationView,
  withOutbox,
} from '../src/index.ts';
import { createStage, type Stage } from './support/stage.ts';

/** From a revocation to its refusal, as promised. */
const REFUSED_WITHIN = { timeoutMs: 3_000 };
const BACK_WITHIN = { timeoutMs: 30_000 };

let stage: Stage;
beforeAll(async () => {
  stage = await createStage();
});
afterEach(() => stage.reset());
afterAll(() => stage.end());

/** The source of the stage's database, which counts look-ups and can fall silent or hang. */
const createSource = () => {
  const state = { mode: 'answers' as 'answers' | 'fails' | 'hangs', lookUps: [] as (readonly string[])[] };
  const source = ownSource('auth', stage.knex);
  const asked: RevocationSource = {
    prefixes: source.prefixes,
    lookUp: async (keys, signal) => {
      if (keys.length > 0) state.lookUps.push(keys);
      if (state.mode === 'fails') throw new Error('the source is away');
      if (state.mode === 'hangs') return await new Promise<RecordedRevocations>(() => undefined);
      return await source.lookUp(keys, signal);
    },
  };
  return { state, source: asked };
};

/** A view with its relay, as in a service beside auth. */
const open = async () => {
  const relay = stage.relay(await stage.connect('auth'));
  await waitFor(() => relay.isLeading());
  const metrics = createMetrics('billing', { isOfProcess: false });
  const messaging = await stage.connect('billing', metrics);
  const { state, source } = createSource();
  const view = stage.keep(await openRevocations(messaging, { sources: [source] }));
  const revoke = (revocation: OutboxRevocation['revocation']) =>
    withOutbox({ database: stage.knex, relay }, (trx) => appendToOutbox(trx, { revocation }));
  const measured = async (name: string) => {
    const { body } = await metrics.render();
    return Number(new RegExp(`^${name}\\{[^}]*\\} (\\d+)`, 'm').exec(body)?.[1]);
  };
  return { view, messaging, state, revoke, measured };
};

/** Checks a credential as the authenticators do. */
const isRefused = async (view: RevocationView, subject: RevocationSubject): Promise<boolean> => {
  await view.refreshIfStale(subject);
  return view.isRevoked(subject);
};

describe.each(['hangs', 'is killed'] as const)('while NATS %s', (failure) => {
  const lose = async () => (failure === 'hangs' ? stage.nats.hang() : await stage.nats.kill());
  const recover = async () => (failure === 'hangs' ? stage.nats.resume() : await stage.nats.start());

  test('refuses grants, sessions, apps and accounts that end within three seconds', async () => {
    const { view, revoke, measured } = await open();
    const grantId = newId('grt');
    const clientId = newId('app');
    const userId = newId('usr');
    const earlierId = newId('ses');
    const sessionId = newId('ses');
    const other = { grantId: newId('grt'), clientId: newId('app') };
    await lose();
    try {
      await revoke({ key: `grant.${grantId}` });
      await revoke({ key: `session.${sessionId}` });
      await revoke({ key: `app.${clientId}`, value: { revoked_through: newId('grt') } });
      await revoke({ key: `account.${userId}`, value: { revoked_through: sessionId } });
      await revoke({ key: `keys.${userId}`, value: { revoked_through: sessionId } });
      const ended: RevocationSubject[] = [
        { grantId, clientId: other.clientId },
        { grantId: other.grantId, clientId },
        { sessionId, userId: newId('usr') },
        { sessionId: earlierId, userId },
        { keyId: newId('key'), userId, keySessionId: sessionId },
      ];
      await Promise.all(ended.map((subject) => waitFor(() => isRefused(view, subject), REFUSED_WITHIN)));
      expect(await isRefused(view, other)).toBe(false);
      expect(await isRefused(view, { sessionId: newId('ses'), userId })).toBe(false);
      expect(await measured('revocations_connected')).toBe(0);
    } finally {
      await recover();
    }
  });

  test('asks no longer once NATS is back and has delivered what was revoked meanwhile', async () => {
    const { view, state, revoke, measured } = await open();
    const unseen = { grantId: newId('grt') };
    await lose();
    try {
      await waitFor(() => view.isStale());
      await revoke({ key: `grant.${unseen.grantId}` });
    } finally {
      await recover();
    }
    await waitFor(() => !view.isStale(), BACK_WITHIN);
    expect(view.isRevoked(unseen)).toBe(true);
    state.lookUps.length = 0;
    expect(view.refreshIfStale(unseen)).toBe(undefined);
    expect(state.lookUps).toEqual([]);
    expect(await measured('revocations_connected')).toBe(1);
  });

  test('goes on with the known revocations if the source is silent too, and counts that', async () => {
    const { view, state, revoke, measured } = await open();
    const known = { grantId: newId('grt') };
    await revoke({ key: `grant.${known.grantId}` });
    await waitFor(() => view.isRevoked(known));
    await lose();
    try {
      await waitFor(() => view.isStale());
      for (const mode of ['fails', 'hangs'] as const) {
        state.mode = mode;
        const before = await measured('revocations_unchecked_total');
        const startedAt = performance.now();
        expect(await isRefused(view, { grantId: newId('grt') })).toBe(false);
        expect(await isRefused(view, { grantId: newId('grt') })).toBe(false);
        expect(await isRefused(view, known)).toBe(true);
        expect(performance.now() - startedAt).toBeLessThan(1_000);
        expect(await measured('revocations_unchecked_total')).toBe(before + 3);
        await new Promise((resolve) => setTimeout(resolve, 1_100));
      }
      state.mode = 'answers';
      const ended = { grantId: newId('grt') };
      await revoke({ key: `grant.${ended.grantId}` });
      await waitFor(() => isRefused(view, ended), REFUSED_WITHIN);
    } finally {
      await recover();
    }
  });
});

test('asks in batches, and once a second for the same credential', async () => {
  const { view, state } = await open();
  stage.nats.hang();
  try {
    await waitFor(() => view.isStale());
    const subjects = Array.from({ length: 50 }, () => ({ grantId: newId('grt') }));
    const ask = () => Promise.all(subjects.flatMap((subject) => [subject, subject]).map((one) => isRefused(view, one)));
    await Promise.all([ask(), ask()]);
    await ask();
    // With the range of tokens that a restore has lost, which concerns all of them.
    expect(state.lookUps.flat().toSorted()).toEqual(
      ['lost.tokens', ...subjects.map(({ grantId }) => `grant.${grantId}`)].toSorted(),
    );
    expect(state.lookUps).toHaveLength(1);
    await waitFor(async () => (await ask()) && state.lookUps.length > 1);
  } finally {
    stage.nats.resume();
  }
});

test('counts a watch that has died silently as stale, and starts another', async () => {
  const { view, messaging, revoke } = await open();
  const operator = await stage.connect('operator');
  const grantId = newId('grt');
  for await (const { name } of operator.manager.consumers.list('KV_revocations')) {
    await operator.manager.consumers.delete('KV_revocations', name);
  }
  await revoke({ key: `grant.${grantId}` });
  await waitFor(() => isRefused(view, { grantId }), REFUSED_WITHIN);
  await waitFor(() => !view.isStale());
  expect(messaging.isConnected()).toBe(true);
});

test('measures silence by the monotonic clock', async () => {
  const messaging = await stage.connect();
  let nowMs = 1_000_000;
  const options = { sources: [], monotonicMs: () => nowMs, checkIntervalMs: 3_600_000 };
  const view = stage.keep(await openRevocations(messaging, options));
  // The first check runs at once.
  await waitFor(() => !view.isStale());
  nowMs += 2_000;
  expect([view.isStale(), view.refreshIfStale({ grantId: 'grt_1' })]).toEqual([false, undefined]);
  nowMs += 1;
  expect(view.isStale()).toBe(true);
});
