import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { testTokens } from '@svc/testing';
import { freePort } from '@svc/testing/servers';
import { CHAT_MODEL, createKeys, startGateway } from './gateway-under-test.ts';
import { type Stack, startStack } from './harness/stack.ts';

const AGAINST = '--against';
/** Default port of the comparison's provider; BASE_PORT overrides it. */
const PROVIDER_PORT = '18080';
/** Model named in the provider's responses. */
const PROVIDER_MODEL = 'bench-model-1';
/** Core that the comparison assigns to the measured process; driver and provider use the other one. */
const MEASURED_CORE = 1;
const PINNED = availableParallelism() > 1 ? { core: MEASURED_CORE } : {};
const PROVIDER_KEY = 'sk-bench';
const FLOOR_GATEWAY = new URL('./admission-floor/gateway.ts', import.meta.url).pathname;
const FLOOR_BILLING = new URL('./admission-floor/billing.ts', import.meta.url).pathname;
const COMPLIANCE_HEADERS = ['provider', 'model', 'data-zone', 'upstream-request-id'].map(
  (name) => `x-svc-compliance-${name}`,
);

/**
 * Measures the API-key gateway beside other gateways with an external comparison: a folder with a `run.mjs` that
 * accepts targets by `--extra`. Starts ours with its dependencies and forwards all other options.
 */
export const measureGatewayPeers = async (options: readonly string[]): Promise<void> => {
  const at = options.indexOf(AGAINST);
  const folder = at === -1 ? undefined : options[at + 1];
  if (folder === undefined) throw new Error(`missing option: ${AGAINST} <folder with run.mjs>`);
  const passedOn = options.toSpliced(at, 2);
  const stack = await startStack();
  const tokens = await testTokens();
  try {
    const providerUrl = `http://127.0.0.1:${process.env['BASE_PORT'] ?? PROVIDER_PORT}`;
    const profileFolder = process.env['BENCH_PROFILE'];
    const services = await startGateway(stack, {
      tokens,
      providerUrl,
      providerKey: PROVIDER_KEY,
      editRoutes: (text) => text.replace('sandbox-chat-1', PROVIDER_MODEL),
      launch: {
        isBundled: true,
        ...PINNED,
        flags: profileFolder === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profileFolder}`],
      },
    });
    const [key] = await createKeys(services, tokens, 1);
    const target = {
      name: 'svc',
      baseUrl: services.gateway.url,
      pid: services.gateway.process.pid,
      model: CHAT_MODEL,
      headers: { authorization: `Bearer ${key}` },
      expectHeaders: COMPLIANCE_HEADERS,
      expectBodyPath: 'extensions.compliance_metadata',
    };
    const extra = stack.scratchFile('targets.json');
    const floors = process.env['BENCH_ADMISSION_FLOOR'] === '1' ? [await startAdmissionFloor(stack, providerUrl)] : [];
    writeFileSync(extra, JSON.stringify([...floors, target]));
    const args = [join(folder, 'run.mjs'), '--extra', extra, ...passedOn];
    const child = spawn(process.execPath, args, {
      env: { NODE_BIN: process.execPath, ...process.env },
      stdio: 'inherit',
    });
    const [code] = await once(child, 'exit');
    if (code !== 0) throw new Error(`the comparison ended with ${code}`);
  } finally {
    await tokens.stop();
    await stack.stop();
  }
};

/** Starts the lower bound of admission before forwarding, with as many processes and commits as ours. */
const startAdmissionFloor = async (stack: Stack, providerUrl: string): Promise<object> => {
  const billingPort = String(await freePort());
  const port = String(await freePort());
  const billingUrl = `http://127.0.0.1:${billingPort}`;
  const baseUrl = `http://127.0.0.1:${port}`;
  const billing = await stack.startScript(FLOOR_BILLING, { PORT: billingPort, DATABASE_URL: stack.postgresUrl });
  const settings = { PORT: port, BILLING_URL: billingUrl, PROVIDER_URL: providerUrl, PROVIDER_KEY };
  const gateway = await stack.startScript(FLOOR_GATEWAY, settings, PINNED);
  await Promise.all([billing.ready(billingUrl), gateway.ready(baseUrl)]);
  return { name: 'admission-floor', baseUrl, pid: gateway.pid, model: PROVIDER_MODEL };
};
