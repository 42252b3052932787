import type { ComplianceMetadata, ErrorCode, routes } from '@svc/contracts';
import { AppError, HANDLED, type Reply, type RequestContext } from '@svc/service-kit';
import {
  attribute,
  type ComplianceMode,
  complianceHeadersOf,
  complianceModeOf,
  coversModel,
  stampBody,
} from '../compliance/index.ts';
import type { InferenceDeps } from '../inference-deps.ts';
import {
  collectBody,
  kindOf,
  sendToRoute,
  tryInOrder,
  type UpstreamAnswer,
  UpstreamFailure,
} from '../providers/index.ts';
import type { TokenRoute } from '../routes/index.ts';
import { relayEvents } from '../streaming/index.ts';
import { endUnsent, releasedEnd, servedBy, tokenEnd } from '../usage-records/index.ts';
import {
  bodyForRoute,
  estimateInputTokens,
  estimateUsage,
  type JsonRequest,
  readJsonRequest,
  sendJsonText,
  wantsUsage,
} from '../wire/index.ts';
import { type AdmittedKeyRequest, admitKeyRequest } from './admit-key-request.ts';
import { createChunkStamper } from './create-chunk-stamper.ts';
import type { Endpoint, GatewayRequest } from './endpoints.ts';
import { readAnswer } from './read-answer.ts';
import { sendRejection, toGatewayError } from './upstream-errors.ts';

/** Bytes of a whole answer that the gateway is willing to hold. */
const ANSWER_BYTES_MAX = 64 * 1024 * 1024;
/** The provider has answered, but not in a way that may be passed on: the caller pays nothing for it. */
const UNATTRIBUTED: ReadonlySet<ErrorCode> = new Set(['compliance_metadata_missing', 'provider_attribution_ambiguous']);

type Context = RequestContext<
  typeof routes.createChatCompletion | typeof routes.createCompletion | typeof routes.createEmbeddings
>;

/** One admitted request. */
interface Forwarded {
  readonly context: Context;
  readonly endpoint: Endpoint;
  readonly mode: ComplianceMode;
  readonly request: JsonRequest<GatewayRequest>;
  readonly book: AdmittedKeyRequest['book'];
}

/** Forwards a request of the common wire format to the first certified route of its model, and proves who has served it. */
export const forwardRequest = async (deps: InferenceDeps, endpoint: Endpoint, context: Context): Promise<Reply> => {
  const mode = complianceModeOf(context.headers['x-svc-compliance']);
  const request = await readJsonRequest(context.req, endpoint.read);
  const { model, isStreamed } = request.value;
  const candidates = deps.routes().forModel(endpoint.service, model, deps.clock());
  if (candidates === undefined) throw new AppError('model_not_found', undefined, { details: { param: 'model' } });
  if (candidates.length === 0) throw new AppError('no_certified_route', undefined, { details: { param: 'model' } });
  const { service } = endpoint;
  const { requestId, caller, res } = context;
  const { book, headers } = await admitKeyRequest(deps, { requestId, caller, request, candidates, service });
  if (res.destroyed) return await endUnsent(book);
  for (const [name, value] of Object.entries(headers)) res.setHeader(name, value);
  const forwarded: Forwarded = { context, endpoint, mode, request, book };
  const attempt = isStreamed ? streamFrom : answerFrom;
  try {
    return await tryInOrder(candidates, (route) => attempt(deps, forwarded, route), book.noteAsked);
  } catch (thrown) {
    return await endFailed(forwarded, thrown);
  }
};

const endFailed = async ({ context, book }: Forwarded, thrown: unknown): Promise<Reply> => {
  if (thrown instanceof UpstreamFailure && thrown.reason === 'rejected') {
    await book.finishFailed({ isUncertain: false, status: thrown.status ?? 400 });
    sendRejection(context.res, thrown);
    return HANDLED;
  }
  const error = thrown instanceof UpstreamFailure ? toGatewayError(thrown) : thrown;
  // What is not a provider's failure is our own fault, and then nothing is known of the outcome.
  const isUncertain = !(thrown instanceof UpstreamFailure) || thrown.isUncertain;
  await book.finishFailed({ isUncertain, status: error instanceof AppError ? error.status : 500 });
  throw error;
};

const answerFrom = async (deps: InferenceDeps, forwarded: Forwarded, route: TokenRoute): Promise<Reply> => {
  const { book, mode, request, context } = forwarded;
  const upstream = await send(deps, forwarded, route);
  const answer = readAnswer(await collectBody(upstream, ANSWER_BYTES_MAX));
  const metadata = await proveOrForgive(deps, { forwarded, route, upstream }, answer);
  const body = mode === 'full' ? stampBody(answer, metadata) : answer.bytes;
  sendJsonText(context.res, body, { headers: complianceHeadersOf(metadata) });
  // Nothing of it waits: the caller's answer goes first.
  await book.finish(
    tokenEnd({
      route,
      usage:
        answer.usage ?? estimateUsage(estimateInputTokens(request.bytes, request.value.media), answer.outputBytes()),
      isEstimated: answer.usage === undefined,
      isKnown: true,
      upstreamModel: metadata.model,
      upstreamRequestId: metadata.upstream_request_id,
      firstEventMs: null,
      finishedAtMs: deps.clock(),
    }),
  );
  return HANDLED;
};

const streamFrom = async (deps: InferenceDeps, forwarded: Forwarded, route: TokenRoute): Promise<Reply> => {
  const { book, mode, request, context } = forwarded;
  const answer = await send(deps, forwarded, route);
  const editor = createChunkStamper({
    mode,
    showsUsage: wantsUsage(request),
    namesModelLate: kindOf(route.provider).namesModelLate,
    attribute: (chunk) => prove(deps, { forwarded, route, upstream: answer }, chunk),
    covers: (model) => coversModel(route.upstreamModel, model),
  });
  const { tally } = editor;
  const stream = relayEvents({
    answer,
    res: context.res,
    editor,
    limits: deps.streamLimits,
    beforeEnd: ({ failure, firstEventAtMs }) =>
      book.finish(
        tokenEnd({
          route,
          usage:
            tally.usage ?? estimateUsage(estimateInputTokens(request.bytes, request.value.media), tally.outputBytes),
          isEstimated: tally.usage === undefined,
          // What the provider told of the whole counts, however the stream ended.
          isKnown: tally.isUsageFinal || failure === undefined,
          upstreamModel: editor.metadata()?.model ?? null,
          upstreamRequestId: editor.metadata()?.upstream_request_id ?? null,
          firstEventMs: Math.round(firstEventAtMs - book.identity.startedAtMs),
          finishedAtMs: deps.clock(),
        }),
      ),
    clock: deps.clock,
  });
  const counted = deps.streams.during('api_key', stream);
  const end = await counted.catch((error: unknown) => forgive(deps, { forwarded, route, upstream: answer }, error));
  if (end.failure !== undefined) {
    context.log.warn({ upstream_route: route.id, err: end.failure }, 'the stream broke off');
  }
  return HANDLED;
};

const send = (
  deps: InferenceDeps,
  { request, endpoint, context }: Forwarded,
  route: TokenRoute,
): Promise<UpstreamAnswer> =>
  sendToRoute(deps, {
    route,
    endpoint: endpoint.path,
    body: bodyForRoute(route, request, request.value.isStreamed),
    isStreamed: request.value.isStreamed,
    logging: context,
  });

/** An answer of a provider, and what it answers. */
interface Attempt {
  readonly forwarded: Forwarded;
  readonly route: TokenRoute;
  readonly upstream: UpstreamAnswer;
}

const prove = (
  deps: InferenceDeps,
  { forwarded, route, upstream }: Attempt,
  answer: { readonly id: unknown; readonly model: unknown },
): ComplianceMetadata =>
  attribute(
    { route, headers: upstream.headers, id: answer.id, model: answer.model },
    { requestId: forwarded.context.requestId, ingressRegion: deps.ingressRegion, nowMs: deps.clock() },
  );

const proveOrForgive = async (
  deps: InferenceDeps,
  attempt: Attempt,
  answer: { readonly id: unknown; readonly model: unknown },
): Promise<ComplianceMetadata> => {
  try {
    return prove(deps, attempt, answer);
  } catch (error) {
    return await forgive(deps, attempt, error);
  }
};

/** Settles an answer that may not be passed on at nothing, and throws what was thrown. */
const forgive = async (deps: InferenceDeps, { forwarded, route }: Attempt, error: unknown): Promise<never> => {
  if (error instanceof AppError && UNATTRIBUTED.has(error.code)) {
    const end = releasedEnd(error.status, deps.clock());
    await forwarded.book.finish({ ...end, servedBy: servedBy(route), outcome: 'settled' });
  }
  throw error;
};
