import type { routes } from '@svc/contracts';
import { AppError, HANDLED, type Reply, type RequestContext } from '@svc/service-kit';
import { type FailureAnswer, readRequest, serveCompletion } from '../completions/index.ts';
import { complianceModeOf } from '../compliance/index.ts';
import type { InferenceDeps } from '../inference-deps.ts';
import type { RouteService, TokenRoute } from '../routes/index.ts';
import type { UpstreamFailure } from '../upstream-failure/index.ts';
import { admitKeyRequest } from './admit-key-request.ts';
import { checkModel } from './allowed-models.ts';
import { certifiedShape } from './certified-shape.ts';
import { sendRejection, toGatewayError } from './upstream-errors.ts';

/** Services that forward a request of the common wire format, with their paths below a provider's base URL. */
const PATHS = { chat: '/chat/completions', completions: '/completions', embeddings: '/embeddings' } as const satisfies {
  readonly [Service in Exclude<RouteService, 'audio_transcription'>]: string;
};

type Context = RequestContext<
  typeof routes.createChatCompletion | typeof routes.createCompletion | typeof routes.createEmbeddings
>;

/**
 * Forwards a request of the common wire format to the first certified route of its model, and proves who has served it. A
 * key that may not spend anything is refused before its body is read.
 */
export const forwardRequest = async (
  deps: InferenceDeps,
  service: keyof typeof PATHS,
  context: Context,
): Promise<Reply> => {
  const { caller, requestId, res } = context;
  const mode = complianceModeOf(context.headers['x-svc-compliance']);
  await deps.keyStandings.check(caller, requestId);
  const request = await readRequest(deps, { req: context.req, userId: caller.userId, kind: service });
  try {
    const candidates = findRoutes(deps, service, request.model);
    checkModel(caller, request.model);
    const { book, headers } = await admitKeyRequest(deps, {
      ...{ requestId, caller, request, candidates, service },
      idempotencyKey: context.headers['idempotency-key'],
    });
    for (const [name, value] of Object.entries(headers)) if (!res.destroyed) res.setHeader(name, value);
    return await serveCompletion(deps, {
      request,
      book,
      candidates,
      path: PATHS[service],
      shape: certifiedShape(deps, { mode, requestId, showsUsage: request.showsUsage }),
      answerFailure: (failure) => answerFailure(deps, context, failure),
      exchange: context,
    });
  } finally {
    request.release();
  }
};

const findRoutes = (deps: InferenceDeps, service: keyof typeof PATHS, model: string): readonly TokenRoute[] => {
  const candidates = deps.routes().forModel(service, model, deps.clock());
  if (candidates === undefined) throw new AppError('model_not_found', undefined, { details: { param: 'model' } });
  if (candidates.length === 0) throw new AppError('no_certified_route', undefined, { details: { param: 'model' } });
  return candidates;
};

/** The provider's own refusal of a request passes with its message. */
const answerFailure = (deps: InferenceDeps, { res }: Context, failure: UpstreamFailure): FailureAnswer => {
  if (failure.reason === 'rejected') {
    return {
      status: failure.status ?? 400,
      send: () => {
        sendRejection(res, failure, deps.streamLimits.clientIdleTimeoutMs);
        return HANDLED;
      },
    };
  }
  const error = toGatewayError(failure);
  return {
    status: error.status,
    send: () => {
      throw error;
    },
  };
};
