import { costOfTokens, type routes } from '@svc/contracts';
import { AppError, type Reply, type RequestContext } from '@svc/service-kit';
import {
  affordableOutput,
  canBeFitted,
  FITTED_TOKENS_MIN,
  holdOf,
  outputTokensOf,
  readRequest,
  serveCompletion,
} from '../completions/index.ts';
import type { InferenceDeps } from '../inference-deps.ts';
import { kindOf } from '../providers/index.ts';
import { estimateInputTokens } from '../wire/index.ts';
import { admitDelegated } from './admit-delegated.ts';
import { publicShape } from './public-shape.ts';
import { toDelegatedError } from './upstream-errors.ts';

type Context = RequestContext<typeof routes.createDelegatedChatCompletion>;

/** Serves a chat on behalf of a user: admits it, forwards it to the first route that serves it, and settles its usage. */
export const createChatCompletion = async (deps: InferenceDeps, context: Context): Promise<Reply> => {
  const { caller, requestId, req } = context;
  const request = await readRequest(deps, { req, userId: caller.userId, kind: 'delegated_chat' });
  try {
    const candidates = deps.routes().delegatedChat(deps.clock());
    const [preferred] = candidates;
    if (preferred === undefined) throw new AppError('no_certified_route');
    const tokens = {
      input: estimateInputTokens(request.input, kindOf(preferred.provider)),
      output: outputTokensOf(request, preferred),
    };
    const isUnlimited = canBeFitted(request);
    const { book, holdMicros } = await admitDelegated(deps, {
      requestId,
      caller,
      service: 'chat',
      isStreamed: request.isStreamed,
      estimateMicros: costOfTokens(preferred.price, tokens),
      holdMicros: holdOf(request, candidates),
      ...(isUnlimited ? { holdMinMicros: holdOf(request, candidates, FITTED_TOKENS_MIN) } : {}),
      idempotencyKey: context.headers['idempotency-key'],
    });
    return await serveCompletion(deps, {
      request,
      book,
      candidates,
      path: '/chat/completions',
      outputLimitOf: (route) => (isUnlimited ? affordableOutput(request, route, holdMicros) : undefined),
      shape: publicShape(deps, {
        requestId,
        isProven: context.headers['x-svc-provenance'] !== undefined,
        showsUsage: request.showsUsage,
      }),
      answerFailure: (failure) => {
        const error = toDelegatedError(failure);
        return {
          status: error.status,
          send: () => {
            throw error;
          },
        };
      },
      exchange: context,
    });
  } finally {
    request.release();
  }
};
