import { type ChatRequest, chatRequestSchema, costOfTokens, type routes } from '@svc/contracts';
import { AppError, HANDLED, parseOrThrow, type Reply, type RequestContext } from '@svc/service-kit';
import { recordedRequestId } from '../compliance/index.ts';
import type { InferenceDeps } from '../inference-deps.ts';
import { collectBody, sendToRoute, tryInOrder, type UpstreamAnswer, UpstreamFailure } from '../providers/index.ts';
import type { TokenRoute } from '../routes/index.ts';
import { relayEvents } from '../streaming/index.ts';
import { endUnsent, type RequestBook, tokenEnd } from '../usage-records/index.ts';
import {
  bodyForRoute,
  estimateInputTokens,
  estimateUsage,
  type JsonRequest,
  largerLimit,
  mediaOf,
  readJsonRequest,
  sendJsonText,
  wantsUsage,
} from '../wire/index.ts';
import { admitDelegated } from './admit-delegated.ts';
import { createChunkRewriter } from './create-chunk-rewriter.ts';
import { type PublicIdentity, rewriteCompletion } from './rewrite-completion.ts';
import { toDelegatedError } from './upstream-errors.ts';

/** Bytes of a whole answer that the gateway is willing to hold. */
const ANSWER_BYTES_MAX = 64 * 1024 * 1024;

type Context = RequestContext<typeof routes.createDelegatedChatCompletion>;

/** One admitted chat request. */
interface Chat {
  readonly context: Context;
  readonly request: JsonRequest<ChatRequest>;
  readonly book: RequestBook;
  readonly inputTokens: number;
}

/** Chat on behalf of a user: admits, forwards to the first route that serves it, and settles what was used. */
export const createChatCompletion = async (deps: InferenceDeps, context: Context): Promise<Reply> => {
  const request = await readJsonRequest(context.req, (value) => parseOrThrow(chatRequestSchema, value, 'body'));
  const { stream, max_completion_tokens, max_tokens } = request.value;
  const candidates = deps.routes().delegatedChat(deps.clock());
  const [preferred] = candidates;
  if (preferred === undefined) throw new AppError('no_certified_route');
  const inputTokens = estimateInputTokens(request.bytes, mediaOf(request.value.messages));
  const limit = largerLimit(max_completion_tokens ?? undefined, max_tokens ?? undefined);
  const outputTokens = Math.min(limit ?? deps.defaultOutputTokens, deps.outputTokensMax);
  const book = await admitDelegated(deps, {
    requestId: context.requestId,
    caller: context.caller,
    service: 'chat',
    isStreamed: stream,
    estimateMicros: costOfTokens(preferred.price, { input: inputTokens, output: outputTokens }),
    idempotencyKey: context.headers['idempotency-key'],
  });
  if (context.res.destroyed) return await endUnsent(book);
  const chat: Chat = { context, request, book, inputTokens };
  const attempt = stream ? streamFrom : answerFrom;
  try {
    return await tryInOrder(candidates, (route) => attempt(deps, chat, route), book.noteAsked);
  } catch (thrown) {
    const error = thrown instanceof UpstreamFailure ? toDelegatedError(thrown) : thrown;
    // What is not a provider's failure is our own fault, and then nothing is known of the outcome.
    const isUncertain = !(thrown instanceof UpstreamFailure) || thrown.isUncertain;
    await book.finishFailed({ isUncertain, status: error instanceof AppError ? error.status : 500 });
    throw error;
  }
};

const answerFrom = async (deps: InferenceDeps, chat: Chat, route: TokenRoute): Promise<Reply> => {
  const answer = await forward(deps, chat, route);
  const completion = rewriteCompletion(await collectBody(answer, ANSWER_BYTES_MAX), publicIdentity(deps, chat));
  await chat.book.finish(
    tokenEnd({
      route,
      usage: completion.usage ?? estimateUsage(chat.inputTokens, completion.outputBytes),
      isEstimated: completion.usage === undefined,
      isKnown: true,
      upstreamModel: completion.upstreamModel,
      upstreamRequestId: recordedRequestId(
        { provider: route.provider, headers: answer.headers },
        completion.upstreamId,
      ),
      firstEventMs: null,
      finishedAtMs: deps.clock(),
    }),
  );
  sendJsonText(chat.context.res, completion.body);
  return HANDLED;
};

const streamFrom = async (deps: InferenceDeps, chat: Chat, route: TokenRoute): Promise<Reply> => {
  const answer = await forward(deps, chat, route);
  const editor = createChunkRewriter({ ...publicIdentity(deps, chat), showsUsage: wantsUsage(chat.request) });
  const { tally } = editor;
  const stream = relayEvents({
    answer,
    res: chat.context.res,
    editor,
    limits: deps.streamLimits,
    beforeEnd: ({ failure, firstEventAtMs }) =>
      chat.book.finish(
        tokenEnd({
          route,
          usage: tally.usage ?? estimateUsage(chat.inputTokens, tally.outputBytes),
          isEstimated: tally.usage === undefined,
          // What the provider told of the whole counts, however the stream ended.
          isKnown: tally.isUsageFinal || failure === undefined,
          upstreamModel: tally.upstreamModel,
          upstreamRequestId: recordedRequestId(
            { provider: route.provider, headers: answer.headers },
            editor.upstreamId(),
          ),
          firstEventMs: Math.round(firstEventAtMs - chat.book.identity.startedAtMs),
          finishedAtMs: deps.clock(),
        }),
      ),
    clock: deps.clock,
  });
  const end = await deps.streams.during('delegated', stream);
  if (end.failure !== undefined) {
    chat.context.log.warn({ upstream_route: route.id, err: end.failure }, 'the stream broke off');
  }
  return HANDLED;
};

const forward = (deps: InferenceDeps, { request, context }: Chat, route: TokenRoute): Promise<UpstreamAnswer> =>
  sendToRoute(deps, {
    route,
    endpoint: '/chat/completions',
    body: bodyForRoute(route, request, request.value.stream),
    isStreamed: request.value.stream,
    logging: context,
  });

const publicIdentity = (deps: InferenceDeps, { context }: Chat): PublicIdentity => ({
  id: `chatcmpl-${context.requestId.slice('req_'.length)}`,
  created: Math.floor(deps.clock() / 1000),
});
