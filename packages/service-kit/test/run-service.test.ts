import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';

const start = async (mode = 'normal') => {
  const script = fileURLToPath(new URL('support/example-service.ts', import.meta.url));
  const child = spawn(process.execPath, [script, mode], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const output = { text: '' };
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    output.text += chunk;
  });
  const exited = new Promise<number | null>((resolve) => child.once('close', resolve));
  const ready = async () => {
    await expect.poll(() => output.text, { timeout: 10_000 }).toContain('ports ');
    const [, port, internalPort] = /ports (\d+) (\d+)/.exec(output.text) ?? [];
    return { url: `http://127.0.0.1:${port}`, internalUrl: `http://127.0.0.1:${internalPort}` };
  };
  return { child, output, exited, ready };
};

const openStream = async (url: string) => {
  const response = await fetch(`${url}/stream`);
  const reader = response.body?.getReader();
  await reader?.read();
  const rest = async (): Promise<string> => {
    let text = '';
    const decoder = new TextDecoder();
    for (let part = await reader?.read(); part?.done === false; part = await reader?.read())
      text += decoder.decode(part.value);
    return text;
  };
  return { rest };
};

test('on SIGTERM refuses connections, completes the open stream, runs onStop in reverse order and exits with 0', async () => {
  const { child, output, exited, ready } = await start();
  const { url, internalUrl } = await ready();
  const stream = await openStream(url);
  child.kill('SIGTERM');
  await expect.poll(() => fetch(`${internalUrl}/`).then((response) => response.text())).toBe('true');
  await expect(fetch(`${url}/`)).rejects.toThrow();
  expect(await stream.rest()).toContain('[DONE]');
  expect(await exited).toBe(0);
  expect(output.text.indexOf('stopped relay')).toBeGreaterThan(0);
  expect(output.text.indexOf('stopped database')).toBeGreaterThan(output.text.indexOf('stopped relay'));
  expect(output.text).toContain('"outcome":"clean"');
});

test('cuts off a stream after the grace period and stops the rest in order', async () => {
  const { child, output, exited, ready } = await start('hurried');
  const stream = await openStream((await ready()).url);
  child.kill('SIGINT');
  await expect(stream.rest()).rejects.toThrow();
  expect(await exited).toBe(1);
  expect(output.text).toMatch(/cut off[\s\S]*stopped relay[\s\S]*stopped database/);
});

test('ends the process at once on a second signal', async () => {
  const { child, exited, ready, output } = await start();
  await openStream((await ready()).url);
  child.kill('SIGTERM');
  await expect.poll(() => output.text).toContain('stopping');
  child.kill('SIGTERM');
  expect(await exited).toBe(1);
  expect(output.text).not.toContain('stopped database');
});

test('logs a step that does not stop and still stops the others', async () => {
  const { child, exited, ready, output } = await start('fails-to-stop');
  await ready();
  child.kill('SIGTERM');
  expect(await exited).toBe(1);
  expect(output.text).toMatch(/"name":"broken"[\s\S]*stopped relay[\s\S]*stopped database/);
});

test.each(['/crash', '/reject'])('logs an uncaught error (%s) and exits with code 1', async (path) => {
  const { exited, ready, output } = await start();
  await fetch(`${(await ready()).url}${path}`).catch(() => undefined);
  expect(await exited).toBe(1);
  expect(output.text).toMatch(/"level":"fatal"[^\n]*never caught/);
});

test('stops the started parts and exits with code 1 if start-up fails', async () => {
  const { exited, output } = await start('refuses');
  expect(await exited).toBe(1);
  expect(output.text).toMatch(/cannot start[\s\S]*stopped relay[\s\S]*stopped database/);
});
