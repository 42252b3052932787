import { expect, test } from 'vitest';
import { tellingLine } from './wait-until-ready.ts';

test.each([
  ['nothing', '', ''],
  ['the last line, without a better one', 'one\ntwo\n\n', 'two'],
  ['FATAL of PostgreSQL', 'LOG:  starting\nFATAL:  no space\nLOG:  database system is shut down\n', 'FATAL:  no space'],
  [
    'the error of initdb',
    'creating …\ninitdb: error: no space\ninitdb: removing contents\n',
    'initdb: error: no space',
  ],
  ['the error of NATS', '[1] [INF] Starting\n[1] [FTL] disk is full\n', '[1] [FTL] disk is full'],
  [
    'an uncaught exception',
    'file:///a.ts:1\nthrow x\n^\n\nTypeError: x is not y\n    at a.ts:1\n\nNode.js v24.0.0\n',
    'TypeError: x is not y',
  ],
  [
    'message and faults of a JSON log line',
    '{"level":"info","message":"up"}\n{"level":"fatal","message":"invalid","faults":["PORT: a port"]}\n{"level":"info","message":"stopped"}\n',
    'invalid: PORT: a port',
  ],
  [
    'the error of a JSON log line',
    '{"level":"error","message":"failed","err":{"message":"no disk"}}',
    'failed: no disk',
  ],
])('returns %s', (_case, output, line) => {
  expect(tellingLine(output)).toBe(line);
});

test('returns at most 300 characters', () => {
  expect(tellingLine('a'.repeat(1_000))).toHaveLength(300);
});
