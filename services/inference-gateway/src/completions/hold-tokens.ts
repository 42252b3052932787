import { costOfTokens } from '@svc/contracts';
import { kindOf } from '../providers/index.ts';
import type { TokenRoute } from '../routes/index.ts';
import type { TokenUsage } from '../wire/index.ts';
import { boundInputTokens } from '../wire/index.ts';
import type { CompletionRequest } from './read-request.ts';

/** Output tokens that a request may generate on a route: as many as it asks for, within the route's context. */
export const outputTokensOf = (
  { outputTokensMax, answersCount }: Pick<CompletionRequest, 'outputTokensMax' | 'answersCount'>,
  route: TokenRoute,
): number => Math.min(outputTokensMax ?? route.outputTokensMax, route.contextTokensMax) * answersCount;

/** The most tokens that a request can cost on a route. */
export const holdTokens = (request: CompletionRequest, route: TokenRoute): TokenUsage => ({
  input: boundInputTokens(request.input, kindOf(route.provider)),
  output: outputTokensOf(request, route),
});

/** The highest cost that a request can have with any of its routes; with an output limit, of so many tokens at most. */
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

/** Output tokens that an amount pays for, beside the input at its bound; undefined if the amount covers the request as it is. */
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
