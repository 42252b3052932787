import { inject } from 'vitest';
import { readStackFile } from '../stack.ts';

/** What the gateway says of itself. */
export interface Vitals {
  readonly residentBytes: number;
  /** Files and sockets. */
  readonly openFiles: number;
  readonly upstreamInFlight: number;
  readonly recordsWaiting: number;
}

/** What the sandbox provider has generated, by its own count. */
export interface ProviderCount {
  readonly requests: number;
  readonly input: number;
  readonly output: number;
  readonly audioSeconds: number;
}

const addressOf = async (name: string): Promise<string> => {
  const process = (await readStackFile(inject('dataDir'))).processes[name];
  if (process === undefined) throw new Error(`${name} does not run`);
  return process.internal_url ?? process.url;
};

/** Reads the gateway's own metrics. */
export const readVitals = async (): Promise<Vitals> => {
  const text = await (await fetch(new URL('/metrics', await addressOf('inference-gateway')))).text();
  const metricOf = (name: string): number => {
    const line = new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'm').exec(text)?.[1];
    if (line === undefined) throw new Error(`there is no metric ${name}`);
    return Number(line);
  };
  return {
    residentBytes: metricOf('process_resident_memory_bytes'),
    openFiles: metricOf('process_open_fds'),
    upstreamInFlight: metricOf('upstream_requests_in_flight'),
    recordsWaiting: metricOf('usage_records_waiting'),
  };
};

/** Reads the provider's count. */
export const readProviderCount = async (): Promise<ProviderCount> => {
  const answer = await fetch(new URL('/sandbox/counts', await addressOf('sandbox-provider')));
  const { billed } = JSON.parse(await answer.text());
  return {
    requests: billed.requests,
    input: billed.input_tokens,
    output: billed.output_tokens,
    audioSeconds: billed.audio_seconds,
  };
};

/** Answers every so often until it is told to stop. */
export const sampleVitals = (everyMs: number) => {
  const samples: Vitals[] = [];
  const timer = setInterval(() => {
    readVitals().then(
      (vitals) => samples.push(vitals),
      () => {},
    );
  }, everyMs);
  return {
    stop: (): readonly Vitals[] => {
      clearInterval(timer);
      return samples;
    },
  };
};
