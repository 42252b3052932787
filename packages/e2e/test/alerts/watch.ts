import { createSeriesStore, parseExposition, type ReadSample, type SeriesStore } from './promql/series.ts';
import { createRuleState, type FiringAlert, wantedMetrics } from './rules.ts';

/** A process to scrape, with the labels that a PodMonitor adds. */
export interface Target {
  readonly job: string;
  readonly pod: string;
  /** Address of its internal listener. */
  readonly url: string;
}

/** Scrapes real processes at simulated times and evaluates all alerts like Prometheus. */
export interface Watch {
  readonly addTarget: (target: Target) => void;
  readonly removeTarget: (pod: string) => void;
  /** Advances one minute: scrapes all targets, then evaluates all rules. */
  readonly minute: () => Promise<void>;
  /** Minutes that have passed. */
  readonly elapsed: () => number;
  readonly active: () => string[];
  readonly firing: () => FiringAlert[];
  /** Reads the current value of a metric, summed over its labels, without advancing. */
  readonly read: (job: string, metric: string, labels?: Record<string, string>) => Promise<number>;
  readonly store: () => SeriesStore;
}

/** Seconds between scrapes and between evaluations. */
export const INTERVAL_SECONDS = 60;
/** Generous, for a busy machine. */
const SCRAPE_TIMEOUT_MS = 2_000;
/** Short timeout for targets that did not answer their last scrape. */
const SILENT_TIMEOUT_MS = 100;

export const createWatch = (): Watch => {
  const targets = new Map<string, Target>();
  const store = createSeriesStore();
  const state = createRuleState(store);
  const silent = new Set<string>();
  let minutes = -1;

  const scrapeTarget = async ({ job, pod, url }: Target): Promise<ReadSample[]> => {
    const labels = { namespace: 'svc', job, pod };
    const read = await scrape(url, silent.has(pod) ? SILENT_TIMEOUT_MS : SCRAPE_TIMEOUT_MS).then(
      (text) => parseExposition(text, wantedMetrics, labels),
      () => undefined,
    );
    if (read === undefined) silent.add(pod);
    else silent.delete(pod);
    return [...(read ?? []), { name: 'up', labels, value: read === undefined ? 0 : 1 }];
  };
  return {
    addTarget: (target) => void targets.set(target.pod, target),
    removeTarget: (pod) => {
      targets.delete(pod);
      store.add(pod, (minutes + 1) * INTERVAL_SECONDS, []);
    },
    async minute() {
      const scraped = await Promise.all(
        [...targets.values()].map(async (target) => [target.pod, await scrapeTarget(target)] as const),
      );
      minutes += 1;
      for (const [pod, read] of scraped) store.add(pod, minutes * INTERVAL_SECONDS, read);
      state.evaluateAt(minutes * INTERVAL_SECONDS);
    },
    elapsed: () => minutes,
    active: state.active,
    firing: state.firing,
    async read(job, metric, labels = {}) {
      const of = [...targets.values()].filter((target) => target.job === job);
      const texts = await Promise.all(of.map(({ url }) => scrape(url).catch(() => '')));
      return texts
        .flatMap((text) => parseExposition(text, new Set([metric]), {}))
        .filter((sample) => Object.entries(labels).every(([label, value]) => sample.labels[label] === value))
        .reduce((sum, { value }) => sum + value, 0);
    },
    store: () => store,
  };
};

const scrape = async (url: string, timeoutMs = SCRAPE_TIMEOUT_MS): Promise<string> => {
  const answer = await fetch(`${url}/metrics`, { signal: AbortSignal.timeout(timeoutMs) });
  if (!answer.ok) throw new Error(`${url} answered its scrape with ${answer.status}`);
  return await answer.text();
};
