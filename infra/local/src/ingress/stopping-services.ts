import type { IngressOwner } from './ingress-table.ts';

/** Interval of the probes while requests arrive. A service keeps serving for longer after it reports a stop. */
const PROBE_INTERVAL_MS = 200;
/** Age from which a report no longer counts, as the service may be back. */
const REPORT_AGE_MS_MAX = 1_000;
const PROBE_TIMEOUT_MS = 1_000;

export interface StoppingServices {
  /** Reports that a service must get no more requests. Probes it in the background, for the next request. */
  readonly includes: (service: IngressOwner) => boolean;
}

/** URLs of the services' `/readyz`. A service without one never counts as stopping. */
export type ReadinessUrls = Partial<Record<IngressOwner, string>>;

/**
 * Watches for services that stop, as an ingress in a cluster does. A request sent to a port that is about to close may be
 * accepted by the kernel and never by the service, and then looks like one that was carried out.
 */
export const watchStopping = (urls: ReadinessUrls, clock: () => number): StoppingServices => {
  const probes = new Map<IngressOwner, Probe>();
  return {
    includes: (service) => {
      const url = urls[service];
      if (url === undefined) return false;
      const probe = probes.get(service) ?? { sentAtMs: -Infinity, stoppingAtMs: -Infinity };
      probes.set(service, probe);
      const nowMs = clock();
      if (nowMs - probe.sentAtMs >= PROBE_INTERVAL_MS) void renew(probe, url, nowMs);
      return nowMs - probe.stoppingAtMs <= REPORT_AGE_MS_MAX;
    },
  };
};

interface Probe {
  sentAtMs: number;
  /** Time of the last probe if its answer was `stopping`. */
  stoppingAtMs: number;
}

const renew = async (probe: Probe, url: string, sentAtMs: number): Promise<void> => {
  probe.sentAtMs = sentAtMs;
  const isStopping = await reportsStopping(url);
  // A later probe may have been answered sooner.
  if (probe.sentAtMs === sentAtMs) probe.stoppingAtMs = isStopping ? sentAtMs : -Infinity;
};

/**
 * Returns true if the service reports a stop. A service that is silent or not ready for another reason still gets
 * requests.
 */
const reportsStopping = async (url: string): Promise<boolean> => {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(PROBE_TIMEOUT_MS), redirect: 'error' });
    const body: unknown = await answer.json();
    return typeof body === 'object' && body !== null && 'status' in body && body.status === 'stopping';
  } catch {
    return false;
  }
};
