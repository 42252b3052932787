import { SpanKind } from '@opentelemetry/api';
import {
  type ControlledLifecycle,
  createLifecycle,
  createLogger,
  openTraces,
  tracer,
  withinSpan,
} from '@svc/service-kit';
import { traceCollector, waitFor } from '@svc/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startBatchConsumer, startConsumer } from '../src/index.ts';
import { readEffects, recordEffect, registerApp } from './support/effects.ts';
import { createStage, type Stage } from './support/stage.ts';

let stage: Stage;
let life: ControlledLifecycle;
let collector: Awaited<ReturnType<typeof traceCollector>>;
beforeAll(async () => {
  collector = await traceCollector();
  const logger = createLogger({ service: 'auth', level: 'warn' });
  life = createLifecycle({ logger });
  await openTraces(life, { service: 'auth', config: collector.settings, logger });
  stage = await createStage(['test_single', 'test_batch']);
});
afterAll(async () => {
  await stage.end();
  await life.stop();
  await collector.close();
});

const subjects = ['auth.app.registered.v1'] as const;

/** Registers an app within a new trace, and returns the id of the trace. */
const registerTraced = async (): Promise<string> => {
  const span = tracer().startSpan('request', { kind: SpanKind.SERVER });
  await withinSpan(span, () => registerApp(stage.knex));
  span.end();
  return span.spanContext().traceId;
};

test('the trace of a fact goes through PostgreSQL, the outbox and NATS to its effect', async () => {
  const messaging = await stage.connect();
  const { knex } = stage;
  const requests = [await registerTraced(), await registerTraced()];
  // This fact has no trace and leaves no span.
  await registerApp(knex);
  stage.relay(messaging).hint();
  const handle = (trx: Parameters<typeof recordEffect>[0], event: Parameters<typeof recordEffect>[1]) =>
    recordEffect(trx, event);
  stage.keep(startConsumer({ messaging, database: knex, name: 'test_single', subjects, handle }));
  await waitFor(async () => (await readEffects(knex)).total === 3);
  stage.keep(
    startBatchConsumer({
      messaging,
      database: knex,
      name: 'test_batch',
      subjects,
      handle: async (trx, events) => {
        for (const event of events) await recordEffect(trx, event);
      },
    }),
  );
  await waitFor(async () => (await readEffects(knex)).total === 6);
  const ended = () => collector.spans.filter(({ name }) => name.startsWith('process ')).length === 4;
  await waitFor(async () => ended());

  for (const traceId of requests) {
    const spans = collector.spans.filter((span) => span.traceId === traceId);
    const [root] = spans.filter(({ name }) => name === 'request');
    const [send] = spans.filter(({ name }) => name === 'send auth.app.registered.v1');
    const processes = spans.filter(({ name }) => name === 'process auth.app.registered.v1');
    expect(send?.parentSpanId).toBe(root?.spanId);
    expect(processes.map(({ parentSpanId }) => parentSpanId)).toEqual([send?.spanId, send?.spanId]);
    expect(processes.map(({ attributes }) => attributes['messaging.consumer.group.name']).sort()).toEqual([
      'test_batch',
      'test_single',
    ]);
    const steps = (parent: string | undefined) =>
      spans.filter(({ parentSpanId }) => parentSpanId === parent).map(({ name }) => name);
    expect(steps(root?.spanId)).toEqual(expect.arrayContaining(['BEGIN', 'INSERT', 'COMMIT']));
    const [single] = processes.filter(
      ({ attributes }) => attributes['messaging.consumer.group.name'] === 'test_single',
    );
    expect(steps(single?.spanId)).toEqual(['BEGIN', 'insert_inbox', 'INSERT', 'COMMIT']);
  }
  // Polling and untraced facts leave no span.
  expect(new Set(collector.spans.map(({ traceId }) => traceId))).toEqual(new Set(requests));
  expect(collector.spans.map(({ text }) => text).join()).not.toMatch(/An app|app_|usr_/);
});
