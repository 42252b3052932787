import { costOfTokens } from '@svc/contracts';
import { kindOf } from '../providers/index.ts';
import type { TokenRoute } from '../routes/index.ts';
import {
  boundInputTokens,
  estimateInputTokens,
  estimateUsage,
  type ReportedUsage,
  type TokenUsage,
} from '../wire/index.ts';
import type { CompletionRequest } from './read-request.ts';

/** Returns the maximum output tokens of a request on a route: its own limit, within the route's context. */
export const outputTokensOf = (
  { outputTokensMax, answersCount }: Pick<CompletionRequest, 'outputTokensMax' | 'answersCount'>,
  route: TokenRoute,
): number => Math.min(outputTokensMax ?? route.outputTokensMax, route.contextTokensMax) * answersCount;

/** Returns the maximum tokens that a request can cost on a route. */
export const holdTokens = (request: CompletionRequest, route: TokenRoute): TokenUsage => ({
  input: boundInputTokens(request.input, kindOf(route.provider)),
  output: outputTokensOf(request, route),
});

/** Returns the maximum cost of a request over all its routes, optionally with a limit on output tokens. */
export const holdOf = (
  request: CompletionRequest,
  candidates: readonly TokenRoute[],
  outputTokensMax: number = Number.POSITIVE_INFINITY,
): number =>
  Math.max(
    ...candidates.map((route) => {
      const { input, output } = holdTokens(request, route);
      return costOfTokens(route.price, { input, output: Math.min(output, outputTokensMax) });
    }),
  );

const TOKENS_PER_PRICE = 1_000_000n;

/** Returns the output tokens that an amount buys after paying for the maximum input; undefined if no limit is needed. */
export const affordableOutput = (
  request: CompletionRequest,
  route: TokenRoute,
  amountMicros: number,
): number | undefined => {
  const { price } = route;
  const tokens = holdTokens(request, route);
  if (costOfTokens(price, tokens) <= amountMicros) return undefined;
  const rest = BigInt(amountMicros) * TOKENS_PER_PRICE - BigInt(tokens.input) * BigInt(price.input_micros_per_million);
  return Number(rest / BigInt(price.output_micros_per_million));
};

/** Progress of an answer. */
export interface AnswerProgress {
  readonly route: TokenRoute;
  readonly reported: ReportedUsage;
  readonly outputBytes: number;
}

/** Returns the usage reported so far, else an estimate from the input and the bytes of output. */
export const usageSoFar = (
  { input }: Pick<CompletionRequest, 'input'>,
  { route, reported, outputBytes }: AnswerProgress,
): TokenUsage =>
  typeof reported === 'object'
    ? reported
    : estimateUsage(estimateInputTokens(input, kindOf(route.provider)), outputBytes);

/** Returns the cost of the usage so far at the price of the route. */
export const costSoFar = (request: Pick<CompletionRequest, 'input'>, progress: AnswerProgress): number =>
  costOfTokens(progress.route.price, usageSoFar(request, progress));
