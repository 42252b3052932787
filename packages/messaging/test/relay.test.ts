import { waitFor } from '@svc/testing';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { startBatchConsumer, startConsumer, withOutbox } from '../src/index.ts';
import { appFact, createStage, noteEffect, readEffects, registerApp, type Stage, updateApp } from './support/stage.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await createStage();
});
afterEach(() => stage.reset());
afterAll(() => stage.end());

const subjects = ['auth.app.registered.v1', 'auth.app.updated.v1'] as const;

test('a committed fact has its effect once; one that was rolled back has none', async () => {
  const messaging = await stage.connect();
  const relay = stage.relay(messaging);
  const seen: unknown[] = [];
  stage.keep(
    startConsumer({
      ...{ messaging, database: stage.knex, name: 'test_once', subjects },
      handle: async (trx, event) => {
        seen.push(event);
        await noteEffect(trx, event);
      },
    }),
  );
  const clientId = await registerApp(stage.knex);
  relay.hint();
  await waitFor(async () => (await readEffects(stage.knex)).total === 1);
  expect(seen).toMatchObject([{ subject: 'auth.app.registered.v1', version: 1, data: { client_id: clientId } }]);
  const [row] = await stage.knex('outbox');
  expect(row).toMatchObject({ stream: 'AUTH', stream_seq: 1, published_at: expect.any(Date) });
});
