import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const SDK = fileURLToPath(new URL('..', import.meta.resolve('@svc/partner-sdk')));
const WORKSPACE_BINARIES = fileURLToPath(new URL('../../../node_modules/.bin', import.meta.url));
const TIMEOUT_MS = 120_000;

/**
 * Packs the partner SDK as it would be published: compiled, and packed by pnpm, which inserts real versions into its
 * manifest. `environment` locates pnpm in a container; a checkout has pnpm installed.
 */
export const packPartnerSdk = async (environment: NodeJS.ProcessEnv): Promise<Uint8Array> => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-partner-sdk-'));
  try {
    const env = {
      ...environment,
      PATH: [WORKSPACE_BINARIES, environment['PATH']].join(delimiter),
      pnpm_config_verify_deps_before_run: 'false',
    };
    await promisify(execFile)('pnpm', ['pack', '--pack-destination', folder], { cwd: SDK, env, timeout: TIMEOUT_MS });
    const [name = ''] = await readdir(folder);
    return await readFile(join(folder, name));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

/** Returns the version in the manifest of the partner SDK. */
export const readSdkVersion = async (): Promise<string> => {
  const { version } = JSON.parse(await readFile(join(SDK, 'package.json'), 'utf8'));
  return String(version);
};
