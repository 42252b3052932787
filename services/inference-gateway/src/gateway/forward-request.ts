import type { routes } from '@svc/contracts';
import { AppError, HANDLED, type Reply, type RequestContext } from '@svc/service-kit';
import {
  type AnswerShape,
  type CompletionRequest,
  type FailureAnswer,
  type RequestSource,
  serveCompletion,
} from '../completions/index.ts';
import { type ComplianceMode, complianceModeOf } from '../compliance/index.ts';
import type { InferenceDeps } from '../inference-deps.ts';
import type { TokenRoute } from '../routes/index.ts';
import type { UpstreamFailure } from '../upstream-failure.ts';
import { admitKeyRequest } from './admit-key-request.ts';
import { checkModel } from './allowed-models.ts';
import { sendRejection, toGatewayError } from './upstream-errors.ts';

/** An endpoint that forwards requests. */
export interface Endpoint {
  readonly service: TokenRoute['service'];
  /** Path relative to the provider's base URL. */
  readonly path: string;
  /** Reads the request in the provider's format, and returns it with the shape of its answer. */
  readonly read: (deps: InferenceDeps, source: RequestSource) => Promise<ReadRequest>;
}

export interface ReadRequest {
  readonly request: CompletionRequest;
  readonly shape: (
    deps: InferenceDeps,
    options: { readonly mode: ComplianceMode; readonly requestId: string },
  ) => AnswerShape;
}

type Context = RequestContext<
  | typeof routes.createChatCompletion
  | typeof routes.createCompletion
  | typeof routes.createEmbeddings
  | typeof routes.createResponse
>;

/**
 * Forwards a request to the first certified route of its model, and proves which provider served it. A key that cannot
 * spend anything is refused before its body is read.
 */
export const forwardRequest = async (deps: InferenceDeps, endpoint: Endpoint, context: Context): Promise<Reply> => {
  const { caller, requestId, res } = context;
  const { service, path } = endpoint;
  const mode = complianceModeOf(context.headers['x-svc-compliance']);
  await deps.keyStandings.check(caller, requestId);
  const { request, shape } = await endpoint.read(deps, { req: context.req, userId: caller.userId });
  try {
    const candidates = findRoutes(deps, service, request.model);
    checkModel(caller, request.model);
    const { book, headers } = await admitKeyRequest(deps, {
      requestId,
      caller,
      request,
      candidates,
      service,
      idempotencyKey: context.headers['idempotency-key'],
    });
    for (const [name, value] of Object.entries(headers)) if (!res.destroyed) res.setHeader(name, value);
    return await serveCompletion(deps, {
      request,
      book,
      candidates,
      path,
      shape: shape(deps, { mode, requestId }),
      answerFailure: (failure) => answerFailure(deps, context, failure),
      exchange: context,
    });
  } finally {
    request.release();
  }
};

const findRoutes = (deps: InferenceDeps, service: Endpoint['service'], model: string): readonly TokenRoute[] => {
  const candidates = deps.routes().forModel(service, model, deps.clock());
  if (candidates === undefined) throw new AppError('model_not_found', undefined, { details: { param: 'model' } });
  if (candidates.length === 0) throw new AppError('no_certified_route', undefined, { details: { param: 'model' } });
  return candidates;
};

/** Passes the provider's message on if it rejected the request. */
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
