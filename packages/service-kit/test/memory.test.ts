import { getHeapSpaceStatistics } from 'node:v8';
import { expect, test } from 'vitest';
import { createLogger } from '../src/index.ts';
import { sendRaw } from './support/raw-http.ts';
import { startTestApp } from './support/test-app.ts';

/** Requests per round, on one connection. */
const BATCH = 500;
const BATCHES = 8;
/** Far below the size of a request with its response; code that V8 compiles meanwhile counts as well. */
const KEPT_BYTES_MAX = 1_500;

/** V8's function; vitest.config.ts starts the workers with --expose-gc. */
const { gc: collect } = globalThis;
if (collect === undefined) throw new Error('this test needs --expose-gc');

/** Returns the bytes in spaces that a minor collection does not scan. */
const oldBytes = () =>
  getHeapSpaceStatistics()
    .filter(({ space_name }) => !space_name.startsWith('new'))
    .reduce((sum, { space_used_size }) => sum + space_used_size, 0);

test('frees an answered request in the next minor collection', async () => {
  const logger = createLogger({ service: 'auth', level: 'fatal' });
  const { port } = await startTestApp({ logger, responseValidation: false });
  const head = 'POST /v1/things HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: 12\r\n';
  const one = `${head}\r\n{"name":"x"}`;
  const batch = `${one.repeat(BATCH - 1)}${head}connection: close\r\n\r\n{"name":"x"}`;
  const answerAll = async () => {
    for (let i = 0; i < BATCHES; i += 1) {
      const answers = await sendRaw(port, batch);
      expect(answers.match(/HTTP\/1.1 201/g)).toHaveLength(BATCH);
      // Twice: objects that survive one collection move to old space, as would anything they hold.
      collect({ type: 'minor' });
      collect({ type: 'minor' });
    }
  };
  // Warms up: compiled code and filled caches stay.
  await answerAll();
  await answerAll();
  collect({ type: 'major' });
  const before = oldBytes();
  await answerAll();
  expect((oldBytes() - before) / (BATCH * BATCHES)).toBeLessThan(KEPT_BYTES_MAX);
});
