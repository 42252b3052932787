import { REVOCATION_KEYS_MAX, type RecordedRevocations } from '@svc/contracts';
import { batchCalls, withDeadline } from '@svc/service-kit';
import type { MessagingLogger } from '../connection/connect-messaging.ts';
import type { RevocationSource } from './recorded-revocations.ts';
import type { RevocationEntries } from './revocation-entries.ts';

/** Delays a request by at most this long, once a second while the source is silent. */
const TIMEOUT_MS = 300;
/** An answer holds for this long, and so does the lack of one. */
const HOLDS_MS = 1_000;
const CALLS_MAX = 4;
const WAITING_MAX = 10_000;
const ANSWERS_KEPT_MAX = 20_000;

/** Asks the sources of revocations in place of NATS. */
export interface SourceQuestions {
  /** Adds the recorded revocations with these keys to the entries. Returns false if a source did not answer. */
  readonly ask: (keys: readonly string[]) => Promise<boolean>;
  /** Returns true if every source has published all its revocations. */
  readonly arePublished: () => Promise<boolean>;
}

export interface SourceQuestionsOptions {
  readonly sources: readonly RevocationSource[];
  readonly entries: RevocationEntries;
  /** Time at which an entry found now was revoked, at the latest. */
  readonly nowMs: () => number;
  readonly monotonicMs: () => number;
  readonly logger: MessagingLogger;
}

export const createSourceQuestions = (options: SourceQuestionsOptions): SourceQuestions => {
  const askers = options.sources.map((source) => ({ source, ask: createAsker(source, options) }));
  return {
    async ask(keys) {
      const answers = keys.map((key) => {
        const prefix = key.slice(0, key.indexOf('.'));
        return askers.find(({ source }) => source.prefixes.includes(prefix))?.ask(key) ?? false;
      });
      return (await Promise.all(answers)).every(Boolean);
    },
    async arePublished() {
      const lookUps = options.sources.map(async (source) => (await lookUpInTime(source, [])).is_published);
      return await Promise.all(lookUps).then(
        (published) => published.every(Boolean),
        () => false,
      );
    },
  };
};

/** Answer for a key, or the question under way. */
interface Answer {
  readonly answered: Promise<boolean>;
  readonly untilMs: number;
}

/** Asks one source for one key at a time; keys that are asked together share a look-up. */
const createAsker = (
  source: RevocationSource,
  { entries, nowMs, monotonicMs, logger }: SourceQuestionsOptions,
): ((key: string) => Promise<boolean> | boolean) => {
  const answers = new Map<string, Answer>();
  let silentUntilMs = Number.NEGATIVE_INFINITY;
  const lookUp = batchCalls<string, boolean>({
    run: async (keys) => {
      try {
        const { data } = await lookUpInTime(source, keys);
        for (const { key, revoked_through } of data) {
          entries.add(key, JSON.stringify(revoked_through === null ? {} : { revoked_through }), nowMs());
        }
      } catch (error) {
        silentUntilMs = monotonicMs() + HOLDS_MS;
        const fields = { component: 'revocations', err: error };
        logger.warn(fields, 'neither NATS nor the service that records revocations answers');
        throw error;
      }
      return keys.map(() => true);
    },
    keyOf: (key) => key,
    callsMax: REVOCATION_KEYS_MAX,
    batchesMax: CALLS_MAX,
    waitingMax: WAITING_MAX,
  });
  return (key) => {
    const now = monotonicMs();
    const known = answers.get(key);
    if (known !== undefined && now < known.untilMs) return known.answered;
    if (now < silentUntilMs) return false;
    forgetAnswers(answers, now);
    // Deleted first: the Map stays in the order of expiry.
    answers.delete(key);
    const answered = lookUp(key).catch(() => false);
    answers.set(key, { answered, untilMs: now + HOLDS_MS });
    return answered;
  };
};

/** Drops expired answers, and the oldest ones beyond the limit. */
const forgetAnswers = (answers: Map<string, Answer>, now: number): void => {
  for (const [key, { untilMs }] of answers) {
    if (untilMs > now && answers.size < ANSWERS_KEPT_MAX) return;
    answers.delete(key);
  }
};

/** Looks keys up, and rejects if the source does not answer in time. */
const lookUpInTime = (source: RevocationSource, keys: readonly string[]): Promise<RecordedRevocations> =>
  withDeadline(TIMEOUT_MS, (signal) => {
    const late = new Promise<never>((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
    return Promise.race([source.lookUp(keys, signal), late]);
  });
