import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTestAuthority, freePort, type Identity, startStack, traceCollector } from '@svc/testing';
import type { TestProject } from 'vitest/node';

const RECEIVER_PORTS = 12;

declare module 'vitest' {
  interface ProvidedContext {
    baseUrl: string;
    dataDir: string;
    certificate: Identity;
    receiverPorts: number[];
    /** File with the batches sent to the trace collector, one per line. */
    tracesFile: string;
  }
}

/** Starts the whole product once per run, with local webhook receivers allowed. */
export const setUpStack =
  (environment: Record<string, string>) =>
  async (project: TestProject): Promise<() => Promise<void>> => {
    const folder = await mkdtemp(join(tmpdir(), 'svc-e2e-'));
    const dataDir = join(folder, 'data');
    const authority = await createTestAuthority();
    const certificate = await authority.issue({ names: ['localhost'] });
    const receiverPorts = await Promise.all(Array.from({ length: RECEIVER_PORTS }, () => freePort()));
    const stack = await startStack(dataDir, {
      PORT: '0',
      WEBHOOK_ALLOW_TARGETS: receiverPorts.map((port) => `localhost:${port}`).join(','),
      WEBHOOK_EXTRA_CA_FILE: authority.caFile,
      ...environment,
    });
    project.provide('baseUrl', stack.baseUrl);
    project.provide('dataDir', dataDir);
    project.provide('certificate', certificate);
    project.provide('receiverPorts', receiverPorts);
    return async () => {
      await stack.stop();
      authority.remove();
      await rm(folder, { recursive: true, force: true });
    };
  };

/** Stack for the journeys: short delays and tracing enabled. */
export const setup = async (project: TestProject): Promise<() => Promise<void>> => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-traces-'));
  const tracesFile = join(folder, 'traces.jsonl');
  await writeFile(tracesFile, '');
  const collector = await traceCollector({ file: tracesFile });
  const stop = await setUpStack({
    // Eight attempts take six seconds.
    WEBHOOK_BACKOFF_BASE_MS: '1',
    SWEEP_INTERVAL_MS: '500',
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
  })(project);
  project.provide('tracesFile', tracesFile);
  return async () => {
    await stop();
    await collector.close();
    await rm(folder, { recursive: true, force: true });
  };
};
