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
