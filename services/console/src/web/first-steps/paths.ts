/** A way to start with the product. */
export type Path = 'person' | 'business' | 'gateway';

/** Data that the steps depend on. */
export interface Facts {
  readonly hasPlan: boolean;
  readonly hasConnection: boolean;
  /** True if an app has got an answer on the plan; that it has read the usage does not count. */
  readonly hasAnswer: boolean;
  readonly hasApp: boolean;
  readonly hasWebhook: boolean;
  readonly hasEvent: boolean;
  /** True if the owner has got an answer through an app of this business. */
  readonly isTried: boolean;
  /** True if someone else than the owner has connected an app of this business. */
  readonly isLive: boolean;
  readonly hasMoney: boolean;
  readonly hasKey: boolean;
  /** True if a key has been used. */
  readonly hasRequest: boolean;
}

const STEPS = {
  person: { plan: 'hasPlan', connect: 'hasConnection', answer: 'hasAnswer' },
  business: { app: 'hasApp', webhook: 'hasWebhook', event: 'hasEvent', tryIt: 'isTried', goLive: 'isLive' },
  gateway: { topUp: 'hasMoney', key: 'hasKey', request: 'hasRequest' },
} as const satisfies Record<Path, Readonly<Record<string, keyof Facts>>>;

type StepOf<P> = P extends Path ? keyof (typeof STEPS)[P] : never;

/** A step of one of the paths. */
export type StepId = StepOf<Path>;

export interface Step {
  readonly id: StepId;
  readonly state: 'done' | 'next' | 'later';
}

const STEP_IDS: { readonly [P in Path]: readonly StepOf<P>[] } = {
  person: ['plan', 'connect', 'answer'],
  business: ['app', 'webhook', 'event', 'tryIt', 'goLive'],
  gateway: ['topUp', 'key', 'request'],
};

/** Returns the steps of a path. The first one that is not done is the next. */
export const stepsOf = (path: Path, facts: Facts): Step[] => {
  const conditions: Readonly<Record<string, keyof Facts>> = STEPS[path];
  let isNextFound = false;
  return STEP_IDS[path].map((id) => {
    const condition = conditions[id];
    if (condition !== undefined && facts[condition]) return { id, state: 'done' };
    const state = isNextFound ? 'later' : 'next';
    isNextFound = true;
    return { id, state };
  });
};

/** Returns true if all steps of a path are done. */
export const isFinished = (path: Path, facts: Facts): boolean =>
  stepsOf(path, facts).every(({ state }) => state === 'done');

/** Returns the path with the most progress, or the first one if none has any. */
export const furthestPath = (paths: readonly Path[], facts: Facts): Path | undefined =>
  paths.toSorted((a, b) => countDone(b, facts) - countDone(a, facts))[0];

const countDone = (path: Path, facts: Facts): number =>
  stepsOf(path, facts).filter(({ state }) => state === 'done').length;
