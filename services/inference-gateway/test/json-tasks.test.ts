import { createLogger, createMetrics } from '@svc/service-kit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { toText } from '../src/large-json/collect-text.ts';
import { type JsonTasks, openJsonTasks } from '../src/large-json/json-tasks.ts';
import { jsonTasks } from '../src/worker.ts';

const OPTIONS = { kind: 'chat', members: new Set(['model']) } as const;
let tasks: JsonTasks<typeof jsonTasks>;

beforeAll(() => {
  tasks = openJsonTasks({
    tasks: jsonTasks,
    workerFile: new URL('../src/worker.ts', import.meta.url).href,
    logger: createLogger({ service: 'inference-gateway', level: 'silent' }),
    metrics: createMetrics('inference-gateway', { isOfProcess: false }),
  });
});
afterAll(() => tasks.close());

const request = (bytes: number): Buffer => Buffer.from(`{"model":"m","messages":[{"content":"${'x'.repeat(bytes)}"}]}`);

test('returns the same text and result from a worker and from the event loop', async () => {
  const bytes = request(100_000);
  const inline = await tasks.runAndKeep.digestRequest({ pieces: [bytes], length: bytes.length, values: 4 }, OPTIONS);
  const first = Buffer.from(bytes.subarray(0, 70_000));
  const spare = Buffer.alloc(bytes.length);
  bytes.copy(spare, 0, 70_000);
  const worked = await tasks.runAndKeep.digestRequest(
    { pieces: [first, spare], length: bytes.length, values: Number.POSITIVE_INFINITY },
    OPTIONS,
  );
  expect(worked.bytes.equals(bytes)).toBe(true);
  expect(worked.result).toEqual(inline.result);
});

test('reads a short text before longer ones in the queue', async () => {
  const order: string[] = [];
  const run = async (name: string, bytes: number) => {
    await tasks.run.digestRequest(toText(request(bytes)), OPTIONS);
    order.push(name);
  };
  // The first ones occupy the workers.
  const occupying = [0, 1].map((place) => run(`first ${place}`, 20_000_000));
  await Promise.all([...occupying, run('long', 20_000_000), run('middle', 2_000_000), run('short', 200_000)]);
  expect(order.filter((name) => !name.startsWith('first'))).toEqual(['short', 'middle', 'long']);
});

test('rejects if a task throws, and continues with the next one', async () => {
  const damaged = tasks.run.rewriteCompletion(toText(Buffer.from('{')), {
    id: 'a',
    created: 1,
    contextTokensMax: 1,
    digestsMessages: false,
  });
  await expect(damaged).rejects.toMatchObject({ reason: 'garbled' });
  expect((await tasks.run.digestRequest(toText(request(10)), OPTIONS)).ok).toBe(true);
});
