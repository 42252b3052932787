import { costOfTokens } from '@svc/contracts';
import { kindOf } from '../providers/index.ts';
import type { TokenRoute } from '../routes/index.ts';
import { estimateInputTokens, estimateUsage, type ReportedUsage, type TokenUsage } from '../wire/index.ts';
import type { CompletionRequest } from './read-request.ts';

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
