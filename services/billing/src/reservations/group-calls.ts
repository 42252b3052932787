import { isConnectionFailure, isLockTimeout } from '@svc/database';
import { AppError } from '@svc/service-kit';
import { currentSpan, type TraceSpan, withinSpan } from '@svc/tracing';

/** How calls are grouped. */
export interface GroupingOptions<I, O> {
  /**
   * Makes the calls of one group as one and answers in their order. Fails soon where somebody else holds a row of theirs. Making
   * a call again must do no harm.
   */
  readonly together: (calls: readonly I[]) => Promise<readonly O[]>;
  /** Makes a call whose group has failed, and waits for its row as long as its caller may. */
  readonly alone: (call: I) => Promise<O>;
  /** Whose row a call works on. */
  readonly keyOf: (call: I) => string;
}

/** Calls in one group: so many rows at most are locked until it commits. */
const GROUP_MAX = 64;
/** Groups under way: one is decided while the disk takes the other. With more they would be smaller, and each costs a commit. */
const UNDER_WAY_MAX = 2;
/** Calls under way that are made alone, each on a connection of its own. */
const ALONE_MAX = 4;
/** With more calls than these waiting, an account has a group to itself. */
const CROWD_MIN = 3;
/** Calls of one account that may wait: it fills its own line and nobody else's. */
const LINE_MAX = 500;
/** Calls that may wait in all. More could not be answered before their callers give up. */
const WAITING_MAX = 5_000;
/** Accounts without calls that may be remembered while others have none either. */
const IDLE_LINES = 64;

interface Waiting<I, O> {
  readonly call: I;
  readonly line: Line<I, O>;
  readonly span: TraceSpan | undefined;
  readonly resolve: (answer: O) => void;
  readonly reject: (error: unknown) => void;
}

/** The calls of one account that wait. */
interface Line<I, O> {
  readonly calls: Waiting<I, O>[];
  isUnderWay: boolean;
}

/**
 * Makes calls that arrive together as one, so that they share a round trip and a commit. Accounts take turns: each has a line of
 * its own and one group under way, and a crowd on one account travels alone, so that nobody else waits for its row. Where a group
 * fails, as when somebody else holds a row, each of its calls is made alone, in the order of its line, while groups go on. A call
 * is answered after its group has committed. Throws `service_unavailable` where too many wait.
 */
export const groupCalls = <I, O>(options: GroupingOptions<I, O>): ((call: I) => Promise<O>) => {
  const lineOf = rememberLines<I, O>();
  /** Those whose turn will come, in that order. */
  let turns: Line<I, O>[] = [];
  let [groups, waiting, isWoken] = [0, 0, false];
  const runAlone = limitedTo(ALONE_MAX);
  const free = (line: Line<I, O>): void => {
    line.isUnderWay = false;
    if (line.calls.length > 0) turns.push(line);
  };
  const makeAlone = async (line: Line<I, O>, calls: readonly Waiting<I, O>[]): Promise<void> => {
    for (const { call, span, resolve, reject } of calls) {
      await runAlone(() => withinSpan(span, () => options.alone(call)).then(resolve, reject));
    }
    free(line);
    start();
  };

  const start = (): void => {
    isWoken = false;
    while (groups < UNDER_WAY_MAX && turns.length > 0) {
      const group = takeGroup(turns);
      const lines = new Set(group.map(({ line }) => line));
      groups += 1;
      waiting -= group.length;
      for (const line of lines) line.isUnderWay = true;
      turns = turns.filter(({ isUnderWay }) => !isUnderWay);
      // Told in the trace of the first: whoever woke the grouping is nobody in particular.
      void withinSpan(group[0]?.span, () => makeTogether(options, group)).then((failed) => {
        groups -= 1;
        const again = Map.groupBy(failed, ({ line }) => line);
        for (const line of lines) {
          const calls = again.get(line);
          if (calls === undefined) free(line);
          else void makeAlone(line, calls);
        }
        start();
      });
    }
  };
  return (call) =>
    new Promise((resolve, reject) => {
      const line = lineOf(options.keyOf(call));
      if (line.calls.length >= LINE_MAX || waiting >= WAITING_MAX) {
        reject(new AppError('service_unavailable', undefined, { cause: new Error('too many calls wait') }));
        return;
      }
      if (line.calls.length === 0 && !line.isUnderWay) turns.push(line);
      line.calls.push({ call, line, span: currentSpan(), resolve, reject });
      waiting += 1;
      // What comes in the same piece of a connection shares the group; a turn of the event loop for others would cost more than it saves.
      if (!isWoken) queueMicrotask(start);
      isWoken = true;
    });
};

/**
 * Finds an account's line. Idle ones go all at once, as soon as there are more of them than busy ones: taken out of a Map one by one
 * they would stay in memory (see `UnorderedSet`).
 */
const rememberLines = <I, O>(): ((key: string) => Line<I, O>) => {
  let lines = new Map<string, Line<I, O>>();
  let linesMax = IDLE_LINES;
  return (key) => {
    const known = lines.get(key);
    if (known !== undefined) return known;
    if (lines.size >= linesMax) {
      lines = new Map([...lines].filter(([, { calls, isUnderWay }]) => isUnderWay || calls.length > 0));
      linesMax = 2 * lines.size + IDLE_LINES;
    }
    const line: Line<I, O> = { calls: [], isUnderWay: false };
    lines.set(key, line);
    return line;
  };
};

/** Those whose turn it is: a crowd alone, or everybody up to the next crowd. What is left stays in its line. */
const takeGroup = <I, O>(turns: readonly Line<I, O>[]): Waiting<I, O>[] => {
  const group: Waiting<I, O>[] = [];
  for (const { calls } of turns) {
    if (calls.length >= CROWD_MIN) {
      if (group.length === 0) return calls.splice(0, GROUP_MAX);
      continue;
    }
    if (group.length + calls.length > GROUP_MAX) return group;
    group.push(...calls.splice(0));
  }
  return group;
};

/** Answers the calls that are to be made alone: a call that makes its group fail must not fail the others. */
const makeTogether = async <I, O>(
  { together }: GroupingOptions<I, O>,
  group: readonly Waiting<I, O>[],
): Promise<readonly Waiting<I, O>[]> => {
  try {
    const answers = await together(group.map(({ call }) => call));
    group.forEach(({ resolve, reject }, place) => {
      const answer = answers[place];
      if (answer === undefined) reject(new Error('a call of a group was not answered'));
      else resolve(answer);
    });
  } catch (error) {
    const isToTryAgain = isLockTimeout(error) || (group.length > 1 && !isConnectionFailure(error));
    if (isToTryAgain) return group;
    for (const { reject } of group) reject(error);
  }
  return [];
};

/** Runs so many at once; the others wait for their turn, in their order. */
const limitedTo = (max: number): ((run: () => Promise<void>) => Promise<void>) => {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (run) => {
    if (running >= max) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    await run();
    // Whoever waits longest takes the place over.
    const next = waiting.shift();
    if (next === undefined) running -= 1;
    else next();
  };
};
