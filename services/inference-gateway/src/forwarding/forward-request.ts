import type { ServerResponse } from 'node:http';
import type { ErrorCode } from '@svc/contracts';
import { AppError, freeBuffer, HANDLED, type Logger, type Reply } from '@svc/service-kit';
import { collectResponse } from '../large-json/index.ts';
import type { TokenRoute } from '../provider-routes/index.ts';
import { bodyForRoute, sendToRoute, tryInOrder } from '../providers/index.ts';
import { ClientWriter, relayEvents } from '../streaming/index.ts';
import { toDispatchedFailure, UpstreamFailure } from '../upstream-failure.ts';
import { endUnsent, type RequestBook, releasedEnd, servedBy } from '../usage-records/index.ts';
import { type FailureResponse, NO_RETRY } from './failure-response.ts';
import type { ForwardingDeps } from './forwarding-deps.ts';
import type { HeldRequest } from './read-request.ts';
import { costSoFar, servedEnd, withheldEnd } from './request-cost.ts';
import type { ResponseShape, RoutedResponse } from './response-shape.ts';
import { sendJsonText } from './send-json.ts';

/** An admitted request, and the parts that vary between endpoints. */
interface ForwardedRequest {
  readonly request: HeldRequest;
  readonly book: RequestBook;
  readonly candidates: readonly TokenRoute[];
  /** Path relative to the provider's base URL. */
  readonly path: string;
  readonly shape: ResponseShape;
  /** Returns the output limit on a route for a request without its own. */
  readonly outputLimitOf?: (route: TokenRoute) => number | undefined;
  /** Maps the failure of the last provider to the caller's response. */
  readonly failureResponse: (failure: UpstreamFailure) => FailureResponse;
  readonly context: { readonly res: ServerResponse; readonly log: Logger };
  /** Writer of a stream; undefined for a response in JSON. */
  readonly client: ClientWriter | undefined;
}

/** Errors that withhold a provider's response because its source is unproven. The caller is charged nothing. */
const UNATTRIBUTED: ReadonlySet<ErrorCode> = new Set(['compliance_metadata_missing', 'provider_attribution_ambiguous']);

/** Forwards an admitted request to the first route that serves it, relays the response and settles its usage. */
export const forwardRequest = async (deps: ForwardingDeps, given: Omit<ForwardedRequest, 'client'>): Promise<Reply> => {
  const { request, book, candidates, context } = given;
  if (context.res.destroyed) return await endUnsent(book);
  const forwarded: ForwardedRequest = { ...given, client: request.isStreamed ? openClient(deps, given) : undefined };
  try {
    return await tryInOrder(candidates, (route) => attempt(deps, forwarded, route), book.noteAttempt);
  } catch (thrown) {
    if (forwarded.client?.startedLateBy() === undefined) forwarded.client?.release();
    return await endFailed(forwarded, thrown).catch((error: unknown) => endLate(forwarded, error));
  } finally {
    request.release();
  }
};

/** Opens the writer of a stream, which starts the response itself if its first event is late. */
const openClient = (deps: ForwardingDeps, { context, shape, book }: Omit<ForwardedRequest, 'client'>): ClientWriter => {
  const { clientIdleTimeoutMs: idleTimeoutMs, keepAliveMs } = deps.streamLimits;
  const silentMs = Math.max(0, deps.clock() - book.identity.startedAtMs);
  const client = new ClientWriter(context.res, {
    idleTimeoutMs,
    keepAliveMs,
    silentMs,
    sendsComments: shape.sendsComments,
  });
  client.startLateBy(shape.late);
  return client;
};

/** Throws the error of a stream, or ends a stream with it that has started without an event. */
const endLate = ({ client, context }: ForwardedRequest, error: unknown): Reply => {
  const late = client?.startedLateBy();
  if (client === undefined || late === undefined) throw error;
  context.log.warn({ err: error }, 'the stream failed before its first event');
  client.end(late.fail(error instanceof AppError ? error : new AppError('internal_error')));
  return HANDLED;
};

const endFailed = async ({ book, failureResponse }: ForwardedRequest, thrown: unknown): Promise<Reply> => {
  if (thrown instanceof UpstreamFailure) {
    const { status, send } = failureResponse(thrown);
    await book.finishFailed({ isUncertain: thrown.isUncertain, status });
    return send();
  }
  // After dispatch, every error is an UpstreamFailure or has a finished book, so this one is from before.
  await book.finishFailed({ isUncertain: false, status: thrown instanceof AppError ? thrown.status : 500 });
  throw thrown;
};

const attempt = async (deps: ForwardingDeps, forwarded: ForwardedRequest, route: TokenRoute): Promise<Reply> => {
  const { request, path, context, book } = forwarded;
  book.measureBy(() => costSoFar(request, { route, reported: undefined, outputBytes: 0 }));
  const upstream = await request.lend((body, onFlushed) =>
    sendToRoute(deps, {
      route,
      endpoint: path,
      body: bodyForRoute(route, body, {
        isStreamed: request.isStreamed,
        outputTokensMax: forwarded.outputLimitOf?.(route),
      }),
      onFlushed,
      isStreamed: request.isStreamed,
      logging: context,
      keepSpan: book.keepSpan,
    }),
  );
  const { client } = forwarded;
  try {
    if (client === undefined) return await passResponse(deps, forwarded, { route, upstream });
    return await passStream(deps, forwarded, { route, upstream, client });
  } catch (error) {
    throw await endWithheld(deps, forwarded, { route, error });
  }
};

/** Settles a response that was received but not passed on, and returns the error for the caller. */
const endWithheld = async (
  deps: ForwardingDeps,
  { request, book }: ForwardedRequest,
  { route, error }: { readonly route: TokenRoute; readonly error: unknown },
): Promise<Error> => {
  if (error instanceof AppError && UNATTRIBUTED.has(error.code)) {
    const end = releasedEnd(error.status, deps.clock());
    await book.finish({ ...end, servedBy: servedBy(route), outcome: 'settled' });
    return new AppError(error.code, undefined, { cause: error, headers: NO_RETRY });
  }
  const failure = toDispatchedFailure(error);
  if (failure.reason === 'too_complex') await book.finish(withheldEnd(request, { route, failure, clock: deps.clock }));
  return failure;
};

const passResponse = async (
  deps: ForwardingDeps,
  forwarded: ForwardedRequest,
  response: RoutedResponse,
): Promise<Reply> => {
  const { book, shape, context } = forwarded;
  const reader = shape.openReader();
  const owner = { memory: deps.responseMemory, account: book.identity.userId };
  const text = await collectResponse(response.upstream, owner, reader.limits);
  try {
    const shaped = await reader.shape(response, text);
    await book.finish(
      servedEnd(deps, forwarded, {
        route: response.route,
        reported: shaped.usage,
        outputBytes: shaped.outputBytes,
        names: shaped,
        isWhole: true,
        isUsageFinal: true,
        firstEventMs: null,
      }),
    );
    // A slow caller loses its connection if others wait for memory.
    text.room.startTransit(() => context.res.destroy());
    await sendJsonText(context.res, shaped.body, {
      headers: shaped.headers,
      idleTimeoutMs: deps.streamLimits.clientIdleTimeoutMs,
      onTaken: (bytes) => text.room.advance(bytes),
    });
    for (const buffer of shaped.memory) freeBuffer(buffer);
    return HANDLED;
  } finally {
    text.room.release();
  }
};

const passStream = async (
  deps: ForwardingDeps,
  forwarded: ForwardedRequest,
  response: RoutedResponse & { readonly client: ClientWriter },
): Promise<Reply> => {
  const { book, shape, context, request } = forwarded;
  const { route, upstream, client } = response;
  const { editor, tally, names } = shape.shapeStream(response);
  book.measureBy(() => costSoFar(request, { route, reported: tally.usage, outputBytes: tally.outputBytes }));
  client.startLateBy(editor.late ?? shape.late);
  const stream = relayEvents({
    response: upstream,
    client,
    editor,
    limits: deps.streamLimits,
    owner: { memory: deps.responseMemory, account: book.identity.userId },
    // From here on no other route is tried.
    onOpen: request.release,
    beforeEnd: ({ failure, firstEventAtMs }) =>
      book.finish(
        servedEnd(deps, forwarded, {
          route,
          reported: tally.usage,
          outputBytes: tally.outputBytes,
          names: names(),
          isWhole: failure === undefined,
          isUsageFinal: tally.isUsageFinal,
          firstEventMs: Math.round(firstEventAtMs - book.identity.startedAtMs),
        }),
      ),
    clock: deps.clock,
  });
  const end = await deps.streams.during(book.identity.kind, stream).catch((error: unknown) => {
    // Headers that name this provider rule out another one.
    const started = client.startedLateBy();
    const isBound = started !== undefined && started !== shape.late;
    client.startLateBy(shape.late);
    throw isBound && error instanceof UpstreamFailure ? error.asFinal() : error;
  });
  if (end.failure !== undefined) {
    context.log.warn({ upstream_route: route.id, err: end.failure }, 'the stream broke off');
  }
  return HANDLED;
};
