import type { routes } from '@svc/contracts';
import { type ApiKeyCaller, AppError, HANDLED, type Reply, type RequestContext } from '@svc/service-kit';
import {
  affordableOutput,
  canBeFitted,
  type FailureResponse,
  failWith,
  forwardRequest,
  type HeldRequest,
  type RequestSource,
  type ResponseShape,
  toCallerError,
} from '../forwarding/index.ts';
import type { TokenRoute } from '../provider-routes/index.ts';
import type { UpstreamFailure } from '../upstream-failure.ts';
import { admitKeyRequest, toRefusal } from './admit-key-request.ts';
import { type ComplianceMode, complianceModeOf } from './compliance.ts';
import { sendRejection } from './failure-response.ts';
import type { KeyRequestDeps } from './key-request-deps.ts';
import { checkModel, modelNotFound } from './models.ts';

/** An endpoint that forwards requests. */
export interface Endpoint {
  readonly service: TokenRoute['service'];
  /** Path relative to the provider's base URL. */
  readonly path: string;
  /** Reads the request in the provider's format, and returns it with the shape of its response. */
  readonly read: (deps: KeyRequestDeps, source: RequestSource) => Promise<ReadRequest>;
}

interface ReadRequest {
  readonly request: HeldRequest;
  readonly shape: (
    deps: KeyRequestDeps,
    options: { readonly mode: ComplianceMode; readonly requestId: string; readonly isProven: boolean },
  ) => ResponseShape;
}

type Context = RequestContext<
  | typeof routes.createChatCompletion
  | typeof routes.createCompletion
  | typeof routes.createEmbeddings
  | typeof routes.createResponse
>;

/**
 * Forwards a request to the first certified route of its model, and proves which provider served it. A key that cannot
 * spend anything is refused before a large or late body is read, and before a fault in another one is reported.
 */
export const serveKeyRequest = async (deps: KeyRequestDeps, endpoint: Endpoint, context: Context): Promise<Reply> => {
  const { caller, requestId, res } = context;
  const { service, path } = endpoint;
  const mode = complianceModeOf(context.headers['x-svc-compliance']);
  const isProven = asksForProof(context.headers);
  if (isProven && mode === 'headers') throw new AppError('provenance_needs_body');
  const { request, shape, candidates } = await readPaid(deps, endpoint, context);
  try {
    const { book, headers, holdMicros } = await admitKeyRequest(deps, {
      requestId,
      caller,
      request,
      candidates,
      service,
      idempotencyKey: context.headers['idempotency-key'],
    });
    for (const [name, value] of Object.entries(headers)) if (!res.destroyed) res.setHeader(name, value);
    return await forwardRequest(deps, {
      request,
      book,
      candidates,
      path,
      outputLimitOf: (route) => (canBeFitted(request) ? affordableOutput(request, route, holdMicros) : undefined),
      shape: shape(deps, { mode, requestId, isProven }),
      failureResponse: (failure) => failureResponse(deps, context, failure),
      context,
    });
  } finally {
    request.release();
  }
};

/** Bodies up to this size that have arrived whole are read before billing decides: they cost less than a second call. */
const UNPAID_BODY_BYTES_MAX = 16 * 1024;

const isAtHand = (req: Context['req']): boolean => {
  const length = Number(req.headers['content-length'] ?? Number.POSITIVE_INFINITY);
  return length <= UNPAID_BODY_BYTES_MAX && (req.complete || req.readableLength >= length);
};

/** Reads a request and finds its routes. The refusal of a key that cannot spend anything precedes faults of the request. */
const readPaid = async (deps: KeyRequestDeps, endpoint: Endpoint, context: Context): Promise<RoutedRequest> => {
  const { caller, requestId, req } = context;
  if (!isAtHand(req)) {
    const refusal = await deps.leases.probe(caller, requestId);
    if (refusal !== undefined) throw toRefusal(refusal);
    return await readRouted(deps, endpoint, context);
  }
  try {
    return await readRouted(deps, endpoint, context);
  } catch (error) {
    const isFault = error instanceof AppError && error.status < 500;
    const refusal = isFault ? await deps.leases.probe(caller, requestId).catch(() => undefined) : undefined;
    throw refusal === undefined ? error : toRefusal(refusal);
  }
};

interface RoutedRequest extends ReadRequest {
  readonly candidates: readonly TokenRoute[];
}

const readRouted = async (
  deps: KeyRequestDeps,
  { service, read }: Endpoint,
  { caller, req }: Context,
): Promise<RoutedRequest> => {
  const { request, shape } = await read(deps, { req, userId: caller.userId });
  try {
    const candidates = findRoutes(deps, service, caller, request.model);
    checkModel(caller, request.model);
    return { request, shape, candidates };
  } catch (error) {
    request.release();
    throw error;
  }
};

/** Only messages have proofs. */
const asksForProof = (headers: Context['headers']): boolean =>
  'x-svc-provenance' in headers && headers['x-svc-provenance'] === '1';

const findRoutes = (
  deps: KeyRequestDeps,
  service: Endpoint['service'],
  caller: ApiKeyCaller,
  model: string,
): readonly TokenRoute[] => {
  const candidates = deps.routes().forModel(service, model, deps.clock());
  if (candidates === undefined) throw modelNotFound(deps, caller, model);
  if (candidates.length === 0) throw new AppError('no_certified_route', undefined, { details: { param: 'model' } });
  return candidates;
};

/** Passes the provider's message on if it rejected the request. */
const failureResponse = (deps: KeyRequestDeps, { res }: Context, failure: UpstreamFailure): FailureResponse => {
  if (failure.reason === 'rejected') {
    return {
      status: failure.status ?? 400,
      send: () => {
        sendRejection(res, failure, deps.streamLimits.clientIdleTimeoutMs);
        return HANDLED;
      },
    };
  }
  return failWith(toCallerError('api_key', failure));
};
