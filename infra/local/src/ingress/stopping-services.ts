import type { IngressOwner } from './ingress-table.ts';

/** How often a service is looked at while there are requests for it. Once it says that it stops, it goes on serving for longer than this. */
const LOOK_INTERVAL_MS = 200;
/** What was seen longer ago is not believed: the service may be back. */
const BELIEVED_MS_MAX = 1_000;
const LOOK_TIMEOUT_MS = 1_000;

/** Which services have said that they are about to refuse connections. */
export interface StoppingServices {
  /** Whether a request must not be sent there any more. Looks anew in the background, for those that come next. */
  includes: (service: IngressOwner) => boolean;
}

/** Where services tell whether they are ready: `/readyz` of their internal ports. One without an address is never found to be stopping. */
export type ReadinessUrls = Partial<Record<IngressOwner, string>>;

/**
 * Watches for services that stop, as an entrance in a cluster does: whoever sends them requests until they close their door has
 * some that were accepted by the system but never by them, and nobody can tell those from requests that were carried out.
 */
export const watchStopping = (urls: ReadinessUrls, clock: () => number): StoppingServices => {
  const looks = new Map<IngressOwner, Look>();
  return {
    includes: (service) => {
      const url = urls[service];
      if (url === undefined) return false;
      const look = looks.get(service) ?? { askedAtMs: -Infinity, stoppingAtMs: -Infinity };
      looks.set(service, look);
      const nowMs = clock();
      if (nowMs - look.askedAtMs >= LOOK_INTERVAL_MS) void renew(look, url, nowMs);
      return nowMs - look.stoppingAtMs <= BELIEVED_MS_MAX;
    },
  };
};

interface Look {
  askedAtMs: number;
  /** When the question was asked that it answered with `stopping`, if that is what it said last. */
  stoppingAtMs: number;
}

const renew = async (look: Look, url: string, askedAtMs: number): Promise<void> => {
  look.askedAtMs = askedAtMs;
  const isStopping = await saysStopping(url);
  // A later one may have been answered sooner.
  if (look.askedAtMs === askedAtMs) look.stoppingAtMs = isStopping ? askedAtMs : -Infinity;
};

/** Who does not answer, or is not ready for another reason, is asked all the same: it answers better than the ingress can. */
const saysStopping = async (url: string): Promise<boolean> => {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(LOOK_TIMEOUT_MS), redirect: 'error' });
    const body: unknown = await answer.json();
    return typeof body === 'object' && body !== null && 'status' in body && body.status === 'stopping';
  } catch {
    return false;
  }
};
