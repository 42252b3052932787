import type { StripeTransport } from '@svc/billing/src/payments/index.ts';
import { parseForm, type StripeStandIn } from '@svc/sandbox/stripe';
import type { Random } from '../engine/random.ts';
import { bindToProcess, runIn, runOutside, type SimulatedProcess } from '../engine/simulated-process.ts';
import type { VirtualTime } from '../engine/time.ts';

type FailureCode = 'ETIMEDOUT' | 'ECONNREFUSED' | 'ECONNRESET';

/** A call that did not reach its target, or whose answer did not arrive. Carries a code as errors of sockets do. */
class NetworkFailure extends Error {
  override readonly name = 'NetworkFailure';
  readonly kind = 'unavailable';
  readonly code: FailureCode;

  constructor(code: FailureCode) {
    super(code);
    this.code = code;
  }
}

export interface CallOptions {
  /** Names of both ends, for partitions and the trace. */
  readonly from: string;
  readonly to: string;
  readonly timeoutMs: number;
  /** Returns the process that takes the call when it arrives. Omitted for third parties and the broker. */
  readonly target?: () => SimulatedProcess | undefined;
  /** True for calls that their transport may repeat. */
  readonly mayRepeat?: boolean;
}

/** The network between all parties. Every message is delayed, and some are lost, repeated or cut off. */
export interface Network {
  readonly call: <T>(options: CallOptions, work: () => Promise<T>) => Promise<T>;
  /** Cuts all links of one party for a while. */
  readonly isolate: (name: string, milliseconds: number) => void;
  readonly isCut: (one: string, other: string) => boolean;
  /** Ends all faults, so that everything can drain. */
  readonly heal: () => void;
}

const LOSS = 0.01;
const REPETITION = 0.02;
const DELAY_MEAN_MS = 1;
const SLOW_MESSAGE = 0.01;
const SLOW_DELAY_MEAN_MS = 400;

export const createNetwork = (time: VirtualTime, random: Random): Network => {
  const cutUntilMs = new Map<string, number>();
  let isHealed = false;
  const delayMs = (): number =>
    0.05 + random.around(!isHealed && random.chance(SLOW_MESSAGE) ? SLOW_DELAY_MEAN_MS : DELAY_MEAN_MS);
  const isCutOff = (name: string): boolean => (cutUntilMs.get(name) ?? 0) > time.nowMs();
  const isCut = (one: string, other: string): boolean => isCutOff(one) || isCutOff(other);
  const isLost = (one: string, other: string): boolean => isCut(one, other) || (!isHealed && random.chance(LOSS));

  const call = <T>(
    { from, to, timeoutMs, target, mayRepeat = false }: CallOptions,
    work: () => Promise<T>,
  ): Promise<T> =>
    new Promise<T>((resolve, reject) => {
      const timeout = time.schedule(timeoutMs, `${from} gives up on ${to}`, () =>
        reject(new NetworkFailure('ETIMEDOUT')),
      );
      const answer = (settle: () => void): void => {
        if (isLost(from, to)) return;
        const settleAlive = settle;
        time.schedule(delayMs(), `${to} answers ${from}`, () => {
          timeout.isCancelled = true;
          settleAlive();
        });
      };
      const succeed = bindToProcess((value: T) => resolve(value));
      const fail = bindToProcess((error: unknown) => reject(error));
      const arrive = (): void => {
        const process = target?.();
        if (target !== undefined && process === undefined) {
          answer(() => fail(new NetworkFailure('ECONNREFUSED')));
          return;
        }
        const reset = (): void => answer(() => fail(new NetworkFailure('ECONNRESET')));
        process?.onCrash.add(reset);
        const end = (settle: () => void): void => {
          process?.onCrash.delete(reset);
          runOutside(() => answer(settle));
        };
        const run = () =>
          work().then(
            (value) => process?.isAlive !== false && end(() => succeed(value)),
            (error: unknown) => process?.isAlive !== false && end(() => fail(error)),
          );
        void (process === undefined ? run() : runIn(process, run));
      };
      runOutside(() => {
        const copies = mayRepeat && !isHealed && random.chance(REPETITION) ? 2 : 1;
        for (let copy = 0; copy < copies; copy += 1) {
          if (!isLost(from, to)) time.schedule(delayMs(), `${from} calls ${to}`, arrive);
        }
      });
    });

  return {
    call,
    isCut,
    isolate: (name, milliseconds) => void cutUntilMs.set(name, time.nowMs() + milliseconds),
    heal: () => {
      isHealed = true;
      cutUntilMs.clear();
    },
  };
};

const TIMEOUT_MS = 10_000;

/** Sends the requests of one process to Stripe over the simulated network. */
export const stripeTransport = (name: string, network: Network, stripe: StripeStandIn): StripeTransport => ({
  getClientName: () => 'simulation',
  makeRequest: async (...request) => {
    const [, , url, method, headers, body] = request;
    const sentMs = Date.now();
    const { pathname: path, search } = new URL(url, 'http://stripe.test');
    const answer = await network.call({ from: name, to: 'payments', timeoutMs: TIMEOUT_MS }, async () => {
      // Stripe does not sleep when our machines do. It has closed the connections then.
      if (Date.now() - sentMs > TIMEOUT_MS) return undefined;
      return await stripe.answer({
        method,
        path,
        params: parseForm(new URLSearchParams(body || search)),
        isAuthorized: true,
        idempotencyKey: textOf(headers, 'Idempotency-Key'),
        version: undefined,
      });
    });
    if (answer === undefined) throw new Error('the connection was closed');
    return {
      getStatusCode: () => answer.status,
      getHeaders: () => ({}),
      getRawResponse: () => ({}),
      toStream: () => undefined,
      // The library adds members to what it gets, and the answer may be kept for its idempotency key.
      toJSON: async () => structuredClone(answer.body),
    };
  },
});

const textOf = (headers: unknown, name: string): string | undefined => {
  const value: unknown = Object(headers)[name];
  return typeof value === 'string' ? value : undefined;
};
