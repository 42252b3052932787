import { describe, expect, test } from 'vitest';
import { UpstreamFailure } from '../upstream-failure.ts';
import { digestRequest } from '../wire/index.ts';
import { holdRequest } from './read-request.ts';

const hold = () => {
  const bytes = Buffer.allocUnsafeSlow(100_000).fill(' ');
  bytes.write('{"model":"m","messages":[{}]}');
  const reading = digestRequest(bytes, { kind: 'chat', members: new Set(['model']) });
  if (!reading.ok) throw new Error('the request is invalid');
  return { bytes, request: holdRequest(reading.digest, bytes, () => {}) };
};

describe('a body in memory', () => {
  test.each([
    ['a bug before it was sent', () => new TypeError('x is not a function')],
    ['a route that is held back', () => new UpstreamFailure('held_back')],
    ['a refused connection', () => new UpstreamFailure('unreachable')],
  ])('is freed after its release although an attempt failed by %s', async (_name, failure) => {
    const { bytes, request } = hold();
    const failed = request.lend(() => Promise.reject(failure()));
    await expect(failed).rejects.toThrow();
    let flush = (): void => {};
    await request.lend(async (_body, onFlushed) => {
      flush = onFlushed;
    });
    request.release();
    expect(bytes.length).toBe(100_000);
    flush();
    flush();
    expect(bytes.length).toBe(0);
  });

  test('is kept while a connection may still write it, although the provider has failed', async () => {
    const { bytes, request } = hold();
    let flush = (): void => {};
    const failed = request.lend((_body, onFlushed) => {
      flush = onFlushed;
      return Promise.reject(new UpstreamFailure('failed'));
    });
    await expect(failed).rejects.toThrow();
    request.release();
    expect(bytes.length).toBe(100_000);
    flush();
    expect(bytes.length).toBe(0);
  });

  test('cannot be lent after its release', async () => {
    const { request } = hold();
    request.release();
    await expect(request.lend(async () => {})).rejects.toThrow('after its release');
  });
});
