import { newId } from '@svc/contracts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readJournalLine, toJournalLine, UnknownJournalVersion } from './journal-line.ts';
import type { UsageRecord } from './usage-record.ts';

const text = fc.string({ unit: 'binary' });
const count = fc.nat();
const orNull = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null });
const records: fc.Arbitrary<UsageRecord> = fc.record({
  requestId: fc.constant(newId('req')),
  kind: fc.constantFrom('delegated', 'api_key'),
  userId: text,
  clientId: orNull(text),
  keyId: orNull(text),
  service: fc.constantFrom('chat', 'completions', 'embeddings', 'audio_transcription'),
  model: text,
  ingressRegion: text,
  isStreamed: fc.boolean(),
  startedAtMs: count,
  servedBy: orNull(
    fc.record(
      { routeId: text, provider: text, dataZone: text, certification: orNull(text) },
      { noNullPrototype: true },
    ),
  ),
  upstreamModel: orNull(text),
  upstreamRequestId: orNull(text),
  inputTokens: orNull(count),
  outputTokens: orNull(count),
  cachedInputTokens: orNull(count),
  reasoningTokens: orNull(count),
  audioMs: orNull(count),
  isEstimated: fc.boolean(),
  outcome: fc.constantFrom('settled', 'released', 'uncertain'),
  costMicros: count,
  status: count,
  firstEventMs: orNull(fc.integer()),
  finishedAtMs: count,
  lease: orNull(fc.record({ lease_id: text, hold_micros: count }, { noNullPrototype: true })),
});

test('reads the record that was written, from a single line', () => {
  fc.assert(
    fc.property(records, (record) => {
      const line = toJournalLine(record);
      expect(line).not.toContain('\n');
      expect(readJournalLine(line)).toEqual(record);
    }),
  );
});

test('rejects a truncated line', () => {
  fc.assert(
    fc.property(records, fc.nat({ max: 99 }), (record, percent) => {
      const line = toJournalLine(record);
      expect(readJournalLine(line.slice(0, Math.floor((line.length * percent) / 100)))).toBeUndefined();
    }),
  );
});

test('throws UnknownJournalVersion for a later version, and ignores unknown members', () => {
  const [record] = fc.sample(records, 1);
  if (record === undefined) throw new Error('fast-check made no sample');
  const line = JSON.parse(toJournalLine(record));
  expect(() => readJournalLine(JSON.stringify({ ...line, v: 2 }))).toThrow(UnknownJournalVersion);
  expect(readJournalLine(JSON.stringify({ ...line, color: 'blue' }))).toEqual(record);
});
