import { Agent, get } from 'node:http';
import { networkInterfaces } from 'node:os';
import { expect, test } from 'vitest';
import { createLifecycle, listen } from '../src/index.ts';
import { collectLogs } from './support/test-app.ts';

const local = { port: 0, host: '127.0.0.1' };

const textFetcher =
  (port: number, agent: Agent) =>
  (path: string): Promise<{ text: string; connection: string | undefined }> =>
    new Promise((resolve, reject) => {
      get({ port, path, agent }, (res) => {
        let text = '';
        res.on('data', (chunk) => {
          text += chunk;
        });
        res.on('end', () => resolve({ text, connection: res.headers.connection }));
      }).on('error', reject);
    });

test('sends connection: close on busy connections and closes idle ones', async () => {
  const life = createLifecycle({ logger: collectLogs().logger, shutdownGraceMs: 5_000 });
  let finish = (): void => undefined;
  const { port } = await life.listen((req, res) => {
    if (req.url === '/slow') finish = () => void res.end('slow');
    else res.end('quick');
  }, local);
  const agent = new Agent({ keepAlive: true });
  const fetchText = textFetcher(port, agent);
  expect((await fetchText('/quick')).connection).toBe('keep-alive');
  const slow = fetchText('/slow');
  await expect.poll(() => finish.name).not.toBe('');
  await new Promise((resolve) => setTimeout(resolve, 20));
  const stopped = life.stop();
  finish();
  expect(await slow).toEqual({ text: 'slow', connection: 'close' });
  expect(await stopped).toBe(true);
  agent.destroy();
});

test('answers a request that is in transit when the stop begins', async () => {
  const life = createLifecycle({ logger: collectLogs().logger });
  const { port } = await life.listen((_req, res) => void res.end('whole'), local);
  const agent = new Agent({ keepAlive: true });
  const fetchText = textFetcher(port, agent);
  await fetchText('/');
  const late = fetchText('/');
  const stopped = life.stop();
  expect(await late).toEqual({ text: 'whole', connection: 'close' });
  expect(await stopped).toBe(true);
  agent.destroy();
});

test('stops once if called twice, and aborts the signal', async () => {
  const life = createLifecycle({ logger: collectLogs().logger });
  let stops = 0;
  life.onStop('once', () => {
    stops += 1;
  });
  expect([life.isStopping, life.signal.aborted]).toEqual([false, false]);
  const [first, second] = await Promise.all([life.stop(), life.stop()]);
  expect([first, second, stops, life.isStopping, life.signal.aborted]).toEqual([true, true, 1, true, true]);
});

test('answers during the delay between turning unready and refusing connections', async () => {
  const life = createLifecycle({ logger: collectLogs().logger, shutdownDelayMs: 200 });
  const { url } = await life.listen((_req, res) => void res.end(String(life.isStopping)), local);
  const stopped = life.stop();
  expect(await (await fetch(url)).text()).toBe('true');
  await stopped;
  await expect(fetch(url)).rejects.toThrow();
});

test('rejects if the port is in use', async () => {
  const life = createLifecycle({ logger: collectLogs().logger });
  const { port } = await life.listen((_req, res) => void res.end(), local);
  await expect(life.listen((_req, res) => void res.end(), { ...local, port })).rejects.toMatchObject({
    code: 'EADDRINUSE',
  });
  await life.stop();
});

test('listens on IPv4 and IPv6 at "::", or on IPv4 alone where the system has no IPv6', async () => {
  const listener = await listen((_req, res) => void res.end('here'), { port: 0, host: '::' });
  const hasIpv6 = Object.values(networkInterfaces()).some((each) => each?.some(({ address }) => address === '::1'));
  for (const host of hasIpv6 ? ['127.0.0.1', '[::1]'] : ['127.0.0.1']) {
    expect(await (await fetch(`http://${host}:${listener.port}`)).text()).toBe('here');
  }
  expect(listener.url).toBe(`http://127.0.0.1:${listener.port}`);
  await listener.drain(1_000);
});
