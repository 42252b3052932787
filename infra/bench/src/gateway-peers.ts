import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { testTokens } from '@svc/testing';
import { CHAT_MODEL, createKeys, startAdmissionFloor, startGateway } from './gateway-under-test.ts';
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
    writeFileSync(extra, JSON.stringify([...(await startFloors(stack, providerUrl)), target]));
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

const startFloors = async (stack: Stack, providerUrl: string): Promise<object[]> => {
  if (process.env['BENCH_ADMISSION_FLOOR'] !== '1') return [];
  const { baseUrl, pid } = await startAdmissionFloor(stack, { providerUrl, providerKey: PROVIDER_KEY, launch: PINNED });
  return [{ name: 'admission-floor', baseUrl, pid, model: PROVIDER_MODEL }];
};
