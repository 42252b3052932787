import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { freePort } from '@svc/testing';
import { expect, inject, test } from 'vitest';
import { visitAnd } from './support/browser.ts';
import { call } from './support/product.ts';

const require = createRequire(import.meta.url);
const SUITE = join(dirname(require.resolve('@modelcontextprotocol/conformance/package.json')), 'dist/index.js');
const TIMEOUT_MS = 120_000;
/** Scenarios of the suite for authorization servers. The others test MCP clients and servers. */
const SCENARIOS = ['authorization-server-metadata-endpoint', 'authorization-code-grant'];

/** Runs the suite as a stranger would, and visits the address that it asks for. Returns its output. */
const runSuite = async (clientId: string, port: number): Promise<{ exitCode: number | null; output: string }> => {
  const suite = spawn(
    process.execPath,
    [
      ...[SUITE, 'authorization', '--url', inject('origin'), '--client-id', clientId],
      ...['--resource', `${inject('origin')}/v1/integrations`, '--port', String(port)],
    ],
    { timeout: TIMEOUT_MS, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  const closed = once(suite, 'close');
  let output = '';
  suite.stderr.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  for await (const line of createInterface({ input: suite.stdout })) {
    output += `${line}\n`;
    if (!line.startsWith(`${inject('origin')}/v1/integrations/oauth/authorize?`)) continue;
    await fetch(await visitAnd('approve')(line));
  }
  await closed;
  return { exitCode: suite.exitCode, output };
};

test(
  'passes every scenario of the MCP conformance suite for authorization servers',
  async () => {
    const port = await freePort();
    const { client_id } = await call('POST', `${inject('origin')}/v1/integrations/apps`, {
      token: inject('business').token,
      body: { name: 'MCP', client_type: 'public', redirect_uris: [`http://127.0.0.1:${port}/callback`] },
    });
    const { exitCode, output } = await runSuite(String(client_id), port);
    for (const scenario of SCENARIOS) expect(output).toContain(scenario);
    expect(output).toMatch(/Total: \d+ passed, 0 failed/);
    expect(output).not.toMatch(/SKIPPED/);
    expect(exitCode, output).toBe(0);
  },
  TIMEOUT_MS,
);
