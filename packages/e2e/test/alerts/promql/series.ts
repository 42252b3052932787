/** Labels of a series without its name. */
export type Labels = Readonly<Record<string, string>>;

/** A value at a time in seconds; `undefined` marks the end of the series (Prometheus's staleness marker). */
export interface Sample {
  readonly at: number;
  readonly value: number | undefined;
}

/** All samples of one series, oldest first. */
export interface Series {
  readonly name: string;
  readonly labels: Labels;
  readonly samples: Sample[];
}

/** Samples of many scrapes, as Prometheus stores them. */
export interface SeriesStore {
  /** Adds one scrape of a target. Series of that target that are missing from it end. */
  readonly add: (target: string, at: number, read: readonly ReadSample[]) => void;
  readonly named: (name: string) => readonly Series[];
  readonly all: () => readonly Series[];
}

/** One line of a scrape. */
export interface ReadSample {
  readonly name: string;
  readonly labels: Labels;
  readonly value: number;
}

/** Returns a key for a set of labels, independent of their order. */
export const labelsKey = (labels: Labels): string =>
  JSON.stringify(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)));

export const createSeriesStore = (): SeriesStore => {
  const byKey = new Map<string, Series>();
  const byName = new Map<string, Series[]>();
  const living = new Map<string, Set<string>>();

  const seriesOf = (key: string, { name, labels }: ReadSample): Series => {
    const known = byKey.get(key);
    if (known !== undefined) return known;
    const series: Series = { name, labels, samples: [] };
    byKey.set(key, series);
    byName.set(name, [...(byName.get(name) ?? []), series]);
    return series;
  };
  return {
    add(target, at, read) {
      const ended = new Set(living.get(target));
      const now = new Set<string>();
      for (const sample of read) {
        const key = `${sample.name}${labelsKey(sample.labels)}`;
        seriesOf(key, sample).samples.push({ at, value: sample.value });
        now.add(key);
        ended.delete(key);
      }
      for (const key of ended) byKey.get(key)?.samples.push({ at, value: undefined });
      living.set(target, now);
    },
    named: (name) => byName.get(name) ?? [],
    all: () => [...byKey.values()],
  };
};

/** Parses the Prometheus text format and skips families that are not wanted. */
export const parseExposition = (text: string, wanted: ReadonlySet<string>, more: Labels): ReadSample[] => {
  const read: ReadSample[] = [];
  for (const line of text.split('\n')) {
    const [, name = '', labels = '', value = ''] = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    if (!wanted.has(name)) continue;
    const own = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, label = '', text = '']) => [label, text]);
    read.push({
      name,
      labels: { ...Object.fromEntries(own), ...more },
      value: Number(value.replace('Inf', 'Infinity')),
    });
  }
  return read;
};
