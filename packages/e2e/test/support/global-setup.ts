import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@svc/testing';
import type { TestProject } from 'vitest/node';
import { createTestCertificate, type TestCertificate } from './certificate.ts';
import { startStack } from './stack.ts';

const RECEIVER_PORTS = 12;

declare module 'vitest' {
  interface ProvidedContext {
    baseUrl: string;
    dataDir: string;
    certificate: TestCertificate;
    receiverPorts: number[];
  }
}

/** Starts the whole product once for all journeys, with webhook receivers of this machine allowed. */
export const setup = async (project: TestProject): Promise<() => Promise<void>> => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-e2e-'));
  const dataDir = join(folder, 'data');
  const certificate = await createTestCertificate();
  const caFile = join(folder, 'ca.pem');
  await writeFile(caFile, certificate.certificate);
  const receiverPorts = await Promise.all(Array.from({ length: RECEIVER_PORTS }, () => freePort()));
  const stack = await startStack(dataDir, {
    PORT: String(await freePort()),
    WEBHOOK_ALLOW_TARGETS: receiverPorts.map((port) => `localhost:${port}`).join(','),
    WEBHOOK_EXTRA_CA_FILE: caFile,
    WEBHOOK_BACKOFF_BASE_MS: '50',
  });
  project.provide('baseUrl', stack.baseUrl);
  project.provide('dataDir', dataDir);
  project.provide('certificate', certificate);
  project.provide('receiverPorts', receiverPorts);
  return async () => {
    await stack.stop();
    await rm(folder, { recursive: true, force: true });
  };
};
