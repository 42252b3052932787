import type { ServerResponse } from 'node:http';
import type { ErrorCode } from '@svc/contracts';
import { AppError, freeBuffer, HANDLED, type Logger, type Reply } from '@svc/service-kit';
import type { InferenceDeps } from '../inference-deps.ts';
import { collectAnswer } from '../large-json/index.ts';
import { bodyForRoute, sendToRoute, tryInOrder } from '../providers/index.ts';
import type { TokenRoute } from '../routes/index.ts';
import { relayEvents } from '../streaming/index.ts';
import { UpstreamFailure } from '../upstream-failure.ts';
import {
  endUnsent,
  type RequestBook,
  type RequestEnd,
  releasedEnd,
  servedBy,
  tokenEnd,
} from '../usage-records/index.ts';
import { type ReportedUsage, sendJsonText } from '../wire/index.ts';
import type { AnswerShape, RoutedAnswer, UpstreamNames } from './answer-shape.ts';
import type { CompletionRequest } from './read-request.ts';
import { costSoFar, usageSoFar } from './request-cost.ts';

/** An admitted request, and the parts that vary between endpoints. */
export interface Completion {
  readonly request: CompletionRequest;
  readonly book: RequestBook;
  readonly candidates: readonly TokenRoute[];
  /** Path relative to the provider's base URL. */
  readonly path: string;
  readonly shape: AnswerShape;
  /** Returns the output limit on a route for a request without its own. */
  readonly outputLimitOf?: (route: TokenRoute) => number | undefined;
  /** Maps the failure of the last provider to the caller's answer. */
  readonly answerFailure: (failure: UpstreamFailure) => FailureAnswer;
  readonly exchange: { readonly res: ServerResponse; readonly log: Logger };
}

/** Answer to a request that no provider served. */
export interface FailureAnswer {
  readonly status: number;
  readonly send: () => Reply;
}

/** Errors that withhold a provider's answer because its source is unproven. The caller is charged nothing. */
const UNATTRIBUTED: ReadonlySet<ErrorCode> = new Set(['compliance_metadata_missing', 'provider_attribution_ambiguous']);

/** Forwards an admitted request to the first route that serves it, relays the answer and settles its usage. */
export const serveCompletion = async (deps: InferenceDeps, completion: Completion): Promise<Reply> => {
  const { request, book, candidates, exchange } = completion;
  if (exchange.res.destroyed) return await endUnsent(book);
  try {
    return await tryInOrder(candidates, (route) => attempt(deps, completion, route), book.noteAttempt);
  } catch (thrown) {
    return await endFailed(completion, thrown);
  } finally {
    request.release();
  }
};

const endFailed = async ({ book, answerFailure }: Completion, thrown: unknown): Promise<Reply> => {
  if (thrown instanceof UpstreamFailure) {
    const { status, send } = answerFailure(thrown);
    await book.finishFailed({ isUncertain: thrown.isUncertain, status });
    return send();
  }
  // The gateway itself failed, so the outcome is unknown.
  await book.finishFailed({ isUncertain: true, status: thrown instanceof AppError ? thrown.status : 500 });
  throw thrown;
};

const attempt = async (deps: InferenceDeps, completion: Completion, route: TokenRoute): Promise<Reply> => {
  const { request, path, exchange, book } = completion;
  book.measureBy(() => costSoFar(request, { route, reported: undefined, outputBytes: 0 }));
  const upstream = await sendToRoute(deps, {
    route,
    endpoint: path,
    body: bodyForRoute(route, request.lend(), {
      isStreamed: request.isStreamed,
      outputTokensMax: completion.outputLimitOf?.(route),
    }),
    onFlushed: request.giveBack,
    isStreamed: request.isStreamed,
    logging: exchange,
    keepSpan: book.keepSpan,
  });
  const pass = request.isStreamed ? passStream : passAnswer;
  try {
    return await pass(deps, completion, { route, upstream });
  } catch (error) {
    if (error instanceof AppError && UNATTRIBUTED.has(error.code)) {
      const end = releasedEnd(error.status, deps.clock());
      await book.finish({ ...end, servedBy: servedBy(route), outcome: 'settled' });
    }
    throw error;
  }
};

const passAnswer = async (deps: InferenceDeps, completion: Completion, answer: RoutedAnswer): Promise<Reply> => {
  const { book, shape, exchange } = completion;
  const text = await collectAnswer(answer.upstream, { memory: deps.answerMemory, account: book.identity.userId });
  try {
    const shaped = await shape.shapeAnswer(answer, text);
    await book.finish(
      endOf(deps, completion, {
        route: answer.route,
        reported: shaped.usage,
        outputBytes: shaped.outputBytes,
        names: shaped,
        isWhole: true,
        firstEventMs: null,
      }),
    );
    // A slow caller loses its connection if others wait for memory.
    text.room.startTransit(() => exchange.res.destroy());
    await sendJsonText(exchange.res, shaped.body, {
      headers: shaped.headers,
      idleTimeoutMs: deps.streamLimits.clientIdleTimeoutMs,
      onTaken: (bytes) => text.room.advance(bytes),
    });
    freeBuffer(shaped.memory);
    return HANDLED;
  } finally {
    text.room.release();
  }
};

const passStream = async (deps: InferenceDeps, completion: Completion, answer: RoutedAnswer): Promise<Reply> => {
  const { book, shape, exchange, request } = completion;
  const { route, upstream } = answer;
  const { editor, tally, names } = shape.shapeStream(answer);
  book.measureBy(() => costSoFar(request, { route, reported: tally.usage, outputBytes: tally.outputBytes }));
  const stream = relayEvents({
    answer: upstream,
    res: exchange.res,
    editor,
    limits: deps.streamLimits,
    owner: { memory: deps.answerMemory, account: book.identity.userId },
    // From here on no other route is tried.
    onOpen: request.release,
    beforeEnd: ({ failure, firstEventAtMs }) =>
      book.finish(
        endOf(deps, completion, {
          route,
          reported: tally.usage,
          outputBytes: tally.outputBytes,
          names: names(),
          // Final usage counts even if the stream broke off after it.
          isWhole: (tally.isUsageFinal && typeof tally.usage === 'object') || failure === undefined,
          firstEventMs: Math.round(firstEventAtMs - book.identity.startedAtMs),
        }),
      ),
    clock: deps.clock,
  });
  const end = await deps.streams.during(book.identity.kind, stream);
  if (end.failure !== undefined) {
    exchange.log.warn({ upstream_route: route.id, err: end.failure }, 'the stream broke off');
  }
  return HANDLED;
};

/** A complete or interrupted answer, with the usage that its provider reported. */
interface ServedAnswer {
  readonly route: TokenRoute;
  readonly reported: ReportedUsage;
  readonly outputBytes: number;
  readonly names: UpstreamNames;
  readonly isWhole: boolean;
  readonly firstEventMs: number | null;
}

/** Charges by bytes if the provider's usage is implausible, and counts that for an alert. */
const endOf = (deps: InferenceDeps, { request, exchange }: Completion, served: ServedAnswer): RequestEnd => {
  const { route, reported, outputBytes } = served;
  if (reported === 'implausible') {
    deps.meters.implausibleUsage.inc({ route: route.id });
    exchange.log.error({ upstream_route: route.id }, 'the provider reported an implausible usage');
  }
  return tokenEnd({
    route,
    usage: usageSoFar(request, { route, reported, outputBytes }),
    isEstimated: typeof reported !== 'object',
    isKnown: served.isWhole,
    upstreamModel: served.names.upstreamModel,
    upstreamRequestId: served.names.upstreamRequestId,
    firstEventMs: served.firstEventMs,
    finishedAtMs: deps.clock(),
  });
};
