import { PassThrough } from 'node:stream';
import { freePort, waitFor } from '@svc/testing';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { answerOf, httpStand, nextTurn } from '../../test/support/http-stand.ts';
import { openUpstream, type UpstreamLimits, type UpstreamRequest } from './open-upstream.ts';
import { collectBody } from './read-refusal.ts';

const { server: start, client: createClient } = httpStand();
const limits: UpstreamLimits = { firstByteTimeoutMs: 5_000, idleTimeoutMs: 5_000, totalTimeoutMs: 5_000 };
const request = { path: '/', headers: {}, body: 'x' } satisfies Partial<UpstreamRequest>;

describe('a request to a provider', () => {
  test('is unreachable, and ends immediately, if it cannot be written', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const onClosed = vi.fn();
    const opened = openUpstream(
      createClient(),
      { ...request, origin: 'http://127.0.0.1', headers: { 'x-a': 'b\r\n' }, onClosed },
      limits,
    );
    await expect(opened).rejects.toMatchObject({ reason: 'unreachable', cause: expect.any(TypeError) });
    expect(onClosed).toHaveBeenCalledTimes(1);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('is unreachable if the connection is refused', async () => {
    const origin = `http://127.0.0.1:${await freePort()}`;
    await expect(openUpstream(createClient(), { ...request, origin }, limits)).rejects.toMatchObject({
      reason: 'unreachable',
    });
  });

  test('is lost, and frees its resources, if its body is destroyed before it is connected', async () => {
    const server = await start({ onRequest: () => answerOf('ok') });
    const body = new PassThrough();
    const onClosed = vi.fn();
    const opened = openUpstream(createClient(), { ...request, origin: server.origin, body, onClosed }, limits);
    body.destroy();
    await expect(opened).rejects.toMatchObject({ reason: 'lost' });
    expect(onClosed).toHaveBeenCalledTimes(1);
  });

  test('is rejected in any state when the client is closed', async () => {
    const server = await start();
    const client = createClient({ connectionsMax: 2 });
    const sent = openUpstream(client, { ...request, origin: server.origin }, limits);
    await waitFor(() => server.connections[0]?.pending() !== undefined && server.connections[0].pending() !== '');
    const connecting = openUpstream(client, { ...request, origin: server.origin }, limits);
    const waiting = openUpstream(client, { ...request, origin: server.origin }, limits);
    client.close();
    const settled = await Promise.allSettled([sent, connecting, waiting]);
    expect(settled).toMatchObject(['lost', 'unreachable', 'unreachable'].map((reason) => ({ reason: { reason } })));
  });

  test.each([
    ['the headers', undefined, { firstByteTimeoutMs: 20 }],
    ['the whole answer', undefined, { totalTimeoutMs: 20 }],
    ['more of the body', 'HTTP/1.1 200 OK\r\n\r\nsome', { idleTimeoutMs: 20 }],
  ])('times out while it waits for %s', async (_name, answer, changes) => {
    const server = await start({ onRequest: () => answer });
    const opened = openUpstream(createClient(), { ...request, origin: server.origin }, { ...limits, ...changes });
    await expect(opened.then((head) => collectBody(head, 1_000))).rejects.toMatchObject({ reason: 'timeout' });
    await waitFor(() => server.connections.every(({ socket }) => socket.destroyed));
  });
});

test('applies backpressure to the provider until the answer is read', async () => {
  const body = 'x'.repeat(16 * 1024 * 1024);
  const server = await start({ onRequest: () => answerOf(body) });
  const answer = await openUpstream(createClient(), { ...request, origin: server.origin }, limits);
  for (let turn = 0; turn < 200; turn += 1) await nextTurn();
  expect(server.connections[0]?.socket.writableLength).toBeGreaterThan(0);
  expect((await collectBody(answer, body.length)).toString() === body).toBe(true);
});
